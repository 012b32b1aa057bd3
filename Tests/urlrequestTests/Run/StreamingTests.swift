#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct StreamingTests {
        @Test func `The results of a hundred lines come before the next line is written`() async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            let tool = try RunningTool(["run", "--input", "-"])
            try tool.write((1...100).map { "\(server.url("/\($0)"))\n" }.joined())
            #expect(await tool.output(lines: 100).split(separator: "\n").count == 100)
            try tool.write("\(server.url("/101"))\n")
            #expect(await tool.output(lines: 101).contains("/101 "))
            #expect(try await tool.end().status == 0)
        }

        @Test func `Requests that wait for their next attempt do not keep the input waiting`() async throws {
            let busy = try await LoopbackServer.start { _ in .status(503, fields: ["Retry-After": "60"]) }
            let ready = try await LoopbackServer.start { _ in .text("") }
            let tool = try RunningTool(["run", "--input", "-", "--concurrency", "2"])
            try tool.write((1...500).map { "\(busy.url("/\($0)"))\n" }.joined() + "\(ready.url("/ready"))\n")
            #expect(await tool.output(lines: 1).contains("/ready "))
            tool.send(SIGINT)
            #expect(try await tool.end().status == 130)
        }

        @Test func `A host that has all its attempts does not keep another one waiting`() async throws {
            let gate = LoopbackServer.Gate()
            let slow = try await LoopbackServer.start { _ in .held(by: gate, then: .text("")) }
            let fast = try await LoopbackServer.start { _ in .text("") }
            let tool = try RunningTool(["run", "--input", "-", "--concurrency", "8", "--per-host", "1"])
            try tool.write((1...300).map { "\(slow.url("/\($0)"))\n" }.joined() + "\(fast.url("/x"))\n")
            #expect(await tool.output(lines: 1).contains("\(fast.url("/x")) "))
            gate.open()
            let ended = try await tool.end()
            #expect(ended.lines.count == 301)
            #expect(slow.maximumConcurrentRequests == 1)
        }

        @Test func `Two thousand lines make two thousand results`() async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            let input = try TemporaryPath(content: (1...2000).map { "\(server.url("/\($0)"))\n" }.joined())
            let ended = try await RunningTool.run("run", "--input", input.path, "--json", "--no-progress")
            #expect(Set(try ended.objects.compactMap { $0["id"] as? Int }).count == 2000)
            #expect(ended.status == 0)
        }
    }
#endif
