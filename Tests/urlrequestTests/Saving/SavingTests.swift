#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct SavingTests {
        private let place: TemporaryPath
        private var path: String { place.path }

        init() throws {
            place = try TemporaryPath()
        }

        @Test func `Accepted bodies are saved, each under a name of its own, and no others`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/a.txt", .text("one"), .text("two"))
            server.route("/large", .large(byteCount: 3_000_000))
            server.route("/bad", .status(404, body: Data("no".utf8)))
            server.route("/broken", .truncated(declared: 100, sending: 10))
            let targets = ["/a.txt", "/a.txt", "/large", "/bad", "/broken"].map { server.url($0).absoluteString }
            let ended = try await RunningTool.run(
                ["run", "--output-directory", path, "--retries", "0", "--concurrency", "1"] + targets)
            #expect(ended.status == 1)
            let host = "127.0.0.1-\(server.port)"
            #expect(
                Set(try FileManager.default.contentsOfDirectory(atPath: path)) == [
                    "\(host)_a.txt", "\(host)_a-2.txt", "\(host)_large",
                ])
            #expect(try String(contentsOfFile: "\(path)/\(host)_a-2.txt", encoding: .utf8) == "two")
            #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(host)_large")).count == 3_000_000)
        }

        @Test func `Of a request that was attempted twice only the accepted body is saved`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .truncated(declared: 100, sending: 10), .text("whole"))
            _ = try await RunningTool.run(["run", "--output-directory", path, server.url("/x").absoluteString])
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
            #expect(try names.map { try String(contentsOfFile: "\(path)/\($0)", encoding: .utf8) } == ["whole"])
        }

        @Test func `Nothing is left of bodies that a signal cut off`() async throws {
            let server = try await LoopbackServer.start { _ in .stallBody(after: 1000, of: 2000) }
            let tool = try RunningTool(["run", "--output-directory", path, server.url("/x").absoluteString])
            try await server.requests(atLeast: 1)
            tool.send(SIGTERM)
            #expect(try await tool.end().status == 143)
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
        }
    }
#endif
