#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @testable import urlrequest

    @Suite(.timeLimit(.minutes(15))) struct ResultTests {
        @Test func `Each request has one line with status, URL, bytes, attempts, seconds and ending`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/a", .text("four"))
            let ended = try await RunningTool.run("run", server.url("/a").absoluteString)
            let fields = try #require(ended.lines.first).split(separator: " ")
            #expect(ended.lines.count == 1)
            #expect(fields.prefix(4) == ["200", "\(server.url("/a"))", "4", "1"])
            #expect(fields.count == 6 && fields.last == "ok")
            #expect(try #require(Double(fields[4])) > 0)
            #expect(ended.status == 0)
        }

        @Test func `JSON lines have the same and the number, null for what is missing, and the error`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/bad", .status(404, body: Data("no".utf8)))
            server.route("/ok", .text("four"))
            let ended = try await RunningTool.run(
                "run", server.url("/ok").absoluteString, server.url("/bad").absoluteString, "http://127.0.0.1:1/",
                "--json", "--retries", "0")
            let objects = try ended.objects.sorted { $0["id"] as? Int ?? 0 < $1["id"] as? Int ?? 0 }
            #expect(objects.map { $0["id"] as? Int } == [1, 2, 3])
            #expect(objects.map { $0["status"] as? Int } == [200, 404, nil])
            #expect(objects[2]["status"] is NSNull)
            #expect(objects.map { $0["bytes"] as? Int } == [4, 2, 0])
            #expect(objects.map { $0["attempts"] as? Int } == [1, 1, 1])
            #expect(objects[0]["error"] is NSNull)
            let codes = objects.dropFirst().map { ($0["error"] as? [String: String])?["code"] }
            #expect(codes == ["unacceptableStatus", "cannotConnect"])
            let keys: Set = ["id", "url", "status", "bytes", "attempts", "seconds", "file", "error", "timeline"]
            #expect(objects.allSatisfy { Set($0.keys) == keys })
        }

        @Test(arguments: TransportChoice.allCases)
        func `All bytes that were read of a refused body count`(_ transport: TransportChoice) async throws {
            let server = try await LoopbackServer.start { _ in .status(404, body: Data(count: 20_000)) }
            let ended = try await RunningTool.run(
                "run", server.url("/x").absoluteString, "--transport", transport.rawValue)
            #expect(ended.output.hasPrefix("404 \(server.url("/x")) 20000 1 "))
        }

        @Test(arguments: [[], ["--json"]])
        func `No result shows the password of a URL`(_ options: [String]) async throws {
            let server = try await LoopbackServer.start()
            server.route("/ok", .text("four"))
            let urls = ["/ok", "/missing"].map { path in
                server.url(path).absoluteString.replacingOccurrences(of: "http://", with: "http://u:secret@")
            }
            let ended = try await RunningTool.run(["run"] + urls + options)
            #expect(ended.lines.count == 2 && ended.output.contains("\(server.url("/ok"))"))
            #expect(!ended.output.contains("secret") && !ended.errors.contains("secret"))
        }

        @Test func `Results come in the order of their completion`() async throws {
            let server = try await LoopbackServer.start()
            let gate = LoopbackServer.Gate()
            server.route("/late", .held(by: gate, then: .text("")))
            server.route("/early", .text(""))
            let tool = try RunningTool(["run", server.url("/late").absoluteString, server.url("/early").absoluteString])
            #expect(await tool.output(lines: 1).contains("/early"))
            gate.open()
            #expect(try await tool.end().lines.last?.contains("/late") == true)
        }

        @Test func `A failed request makes the status 1`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/ok", .text(""))
            let ended = try await RunningTool.run(
                "run", server.url("/ok").absoluteString, server.url("/missing").absoluteString)
            #expect(ended.status == 1)
        }

        @Test func `Lines are numbered after the arguments, unusable and empty ones too`() async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            let ended = try await RunningTool.run(
                "run", server.url("/1").absoluteString, "nonsense", "--input", "-", "--json",
                input: "\(server.url("/3"))\n\nftp://a.example/\n{\"url\": 1}\n\(server.url("/7"))")
            #expect(Set(try ended.objects.compactMap { $0["id"] as? Int }) == [1, 3, 7])
            #expect(ended.status == 2)
            #expect(ended.errors.contains("line 4: url is not a string (column 9)"))
            for place in ["argument 2", "line 3", "line 4"] { #expect(ended.errors.contains("urlrequest: \(place): ")) }
            #expect(!ended.errors.contains("line 2:"))
        }

        @Test func `An unusable line beats a failed request in the status`() async throws {
            let server = try await LoopbackServer.start()
            let ended = try await RunningTool.run("run", server.url("/missing").absoluteString, "nonsense")
            #expect(ended.status == 2)
        }

        @Test func `A JSON line is sent with its method, fields and body`() async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            let line = #"{"url":"\#(server.url("/x"))","method":"PUT","headers":{"X-A":"b"},"body":{"n": 1.0}}"#
            _ = try await RunningTool.run("run", "--input", "-", input: line + "\r\n")
            let request = try #require(server.requests.first)
            #expect(request.method == "PUT")
            #expect(request.field("X-A") == "b")
            #expect(request.field("Content-Type") == "application/json")
            #expect(String(decoding: request.body, as: UTF8.self) == #"{"n": 1.0}"#)
        }

        @Test func `Options give method, fields and body of every request`() async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            _ = try await RunningTool.run(
                "run", server.url("/x").absoluteString, "--header", "X-A: b", "--header", "X-C: d", "--data", "-text")
            let request = try #require(server.requests.first)
            #expect(request.method == "POST")
            #expect([request.field("X-A"), request.field("X-C")] == ["b", "d"])
            #expect(String(decoding: request.body, as: UTF8.self) == "-text")
        }

        @Test func `A body can be a file`() async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            let file = try TemporaryPath(content: String(repeating: "x", count: 3_000_000))
            let ended = try await RunningTool.run(
                "run", server.url("/x").absoluteString, "--data", "@\(file.path)", "--method", "PUT")
            #expect(ended.status == 0)
            #expect(server.requests.map(\.bodyByteCount) == [3_000_000])
            #expect(server.requests.first?.method == "PUT")
        }

        @Test func `A body that breaks off is a failure that keeps its status`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .truncated(declared: 100, sending: 10))
            let ended = try await RunningTool.run("run", server.url("/x").absoluteString, "--json", "--retries", "0")
            let object = try #require(try ended.objects.first)
            #expect(object["status"] as? Int == 200)
            #expect(object["bytes"] as? Int == 10)
            #expect(object["error"] is [String: String])
            #expect(ended.status == 1)
        }

        @Test func `Every line shows success, or failure and the code of the error`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/ok", .text(""))
            server.route("/broken", .truncated(declared: 100, sending: 10))
            let urls = ["/ok", "/broken", "/missing"].map { server.url($0).absoluteString }
            let ended = try await RunningTool.run(["run", "--retries", "0", "--concurrency", "1"] + urls)
            let endings = ended.lines.map { $0.split(separator: " ").last }
            #expect(endings == ["ok", "failed:truncatedBody", "failed:unacceptableStatus"])
        }

        @Test func `A redirect is followed, and is no attempt of its own`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/from", .redirect(to: "/to"))
            server.route("/to", .text("there"))
            let ended = try await RunningTool.run("run", server.url("/from").absoluteString)
            #expect(ended.output.hasPrefix("200 \(server.url("/from")) 5 1 "))
        }

        @Test func `The summary tells counts, retries, throughput and latency`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/a", .status(503, fields: ["Retry-After": "0"]), .text(""))
            let ended = try await RunningTool.run(
                "run", server.url("/a").absoluteString, server.url("/missing").absoluteString)
            #expect(ended.errors.contains("urlrequest: 2 requests in "))
            #expect(ended.errors.contains(": 1 succeeded, 1 failed; 1 retry; "))
            #expect(ended.errors.contains(" requests/s; "))
            #expect(ended.errors.contains("urlrequest: latency: p50 "))
        }
    }
#endif
