#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct LimitTests {
        @Test func `As many attempts are in flight as the concurrency says`() async throws {
            let gate = LoopbackServer.Gate()
            let server = try await LoopbackServer.start { _ in .held(by: gate, then: .text("")) }
            let tool = try RunningTool(
                ["run", "--concurrency", "5", "--timeout", "600"]
                    + (1...20).map { server.url("/\($0)").absoluteString })
            try await server.requests(atLeast: 5)
            gate.open()
            #expect(try await tool.end().lines.count == 20)
            #expect(server.maximumConcurrentRequests <= 5)
        }

        @Test(arguments: [(1024, 878), (64, 22), (40, 2)])
        func `No more attempts are in flight than the limit of open files allows, which is said, and all succeed`(
            limit: Int, most: Int
        ) async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            let tool = try RunningTool(
                ["run", "--concurrency", "2000", "--no-progress"]
                    + (1...300).map { server.url("/\($0)").absoluteString },
                after: "ulimit -n \(limit)")
            let ended = try await tool.end()
            #expect(ended.lines.count == 300 && ended.lines.allSatisfy { $0.hasPrefix("200 ") })
            #expect(ended.errors.contains("--concurrency 2000 is lowered to \(most)"))
            #expect(server.maximumConcurrentRequests <= most)
        }

        @Test func `No request is submitted before there is a place for it`() async throws {
            let server = try await LoopbackServer.start { _ in .stall }
            let tool = try RunningTool(
                ["run", "--concurrency", "5", "--timeout", "600"]
                    + (1...20).map { server.url("/\($0)").absoluteString })
            try await server.requests(atLeast: 5)
            tool.send(SIGINT)
            // What waited for a place was never submitted, so its time did not run.
            let ended = try await tool.end()
            #expect(ended.lines.count == 5, "\(ended)")
        }

        @Test func `Retries are as many as allowed, and attempts one more`() async throws {
            let server = try await LoopbackServer.start { _ in .status(503, fields: ["Retry-After": "0"]) }
            let ended = try await RunningTool.run("run", server.url("/x").absoluteString, "--retries", "6")
            #expect(ended.output.hasPrefix("503 \(server.url("/x")) 0 7 "))
            #expect(server.requests.count == 7)
        }

        @Test func `A request that succeeds in the end is a success`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .closing(.status(503, fields: ["Retry-After": "0"])), .closeWithoutAnswer, .text("done"))
            let ended = try await RunningTool.run("run", server.url("/x").absoluteString)
            #expect(ended.output.hasPrefix("200 \(server.url("/x")) 4 3 "))
            #expect(ended.status == 0)
        }

        @Test func `The timeout is that of one attempt`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .stall, .text("done"))
            let ended = try await RunningTool.run("run", server.url("/x").absoluteString, "--timeout", "6")
            #expect(ended.output.hasPrefix("200 \(server.url("/x")) 4 2 "))
        }

        @Test func `The timeout ends a body that drips`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .drip(Data(count: 10_000), chunk: 1, every: .milliseconds(20)))
            let ended = try await RunningTool.run(
                "run", server.url("/x").absoluteString, "--timeout", "0.3", "--retries", "0", "--json")
            let error = try #require(try ended.objects.first?["error"] as? [String: String])
            #expect(error["code"] == "timedOut")
        }

        @Test func `The deadline ends the request whatever its attempts may do`() async throws {
            let server = try await LoopbackServer.start { _ in .stall }
            let ended = try await RunningTool.run(
                "run", server.url("/x").absoluteString, "--deadline", "0.5", "--json")
            let object = try #require(try ended.objects.first)
            #expect((object["error"] as? [String: String])?["code"] == "timedOut")
            let seconds = try #require(object["seconds"] as? Double)
            // The deadline runs from the moment in which the request lines up, a little before its start.
            #expect(seconds >= 0.4 && seconds < 10)
        }

        @Test func `A server that asks to wait for years does not keep the run`() async throws {
            let server = try await LoopbackServer.start { request in
                request.path == "/x" ? .status(503, fields: ["Retry-After": "100000000"]) : .text("done")
            }
            let ended = try await RunningTool.run(
                "run", server.url("/x").absoluteString, server.url("/y").absoluteString, "--json")
            let codes = try ended.objects.map { ($0["error"] as? [String: String])?["code"] }
            #expect(codes.count == 2 && codes.contains("retryAfterTooLong") && codes.contains(nil))
            #expect(ended.status == 1)
        }

        @Test func `A request that may have been acted on is not sent twice`() async throws {
            let server = try await LoopbackServer.start { _ in .status(503) }
            let ended = try await RunningTool.run("run", server.url("/x").absoluteString, "--data", "x")
            #expect(server.requests.count == 1)
            #expect(ended.status == 1)
        }
    }
#endif
