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

        @Test func `A JSON line names the file, and names follow the order of the input`() async throws {
            let gate = LoopbackServer.Gate()
            let server = try await LoopbackServer.start()
            server.route("/x", .held(by: gate, then: .text("first")), .text("second"))
            let tool = try RunningTool(["run", "--input", "-", "--output-directory", path, "--json"])
            try tool.write("\(server.url("/x"))\n")
            try await server.requests(atLeast: 1)
            try tool.write("\(server.url("/x"))\n")
            await tool.output(lines: 1)
            gate.open()
            let objects = try await tool.end().objects.sorted { $0["id"] as? Int ?? 0 < $1["id"] as? Int ?? 0 }
            let host = "127.0.0.1-\(server.port)"
            #expect(objects.map { $0["file"] as? String } == ["\(host)_x", "\(host)_x-2"])
            #expect(try String(contentsOfFile: "\(path)/\(host)_x", encoding: .utf8) == "first")
        }

        @Test func `What is not saved has no file in its JSON line`() async throws {
            let server = try await LoopbackServer.start()
            let ended = try await RunningTool.run(
                "run", "--output-directory", path, "--json", server.url("/missing").absoluteString)
            #expect(try ended.objects.map { $0["file"] is NSNull } == [true])
        }

        @Test func `With skip a request whose file stands there is not sent`() async throws {
            let server = try await LoopbackServer.start { _ in .text("body") }
            let arguments = ["run", "--output-directory", path, "--if-exists", "skip", server.url("/x").absoluteString]
            _ = try await RunningTool.run(arguments)
            let ended = try await RunningTool.run(arguments)
            #expect(ended.output == "- \(server.url("/x")) 0 0 0.000000 skipped\n")
            #expect(ended.status == 0 && server.requests.count == 1)
        }

        @Test func `With overwrite a second run replaces the files of the first`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .text("one"), .text("two"))
            for _ in 1...2 {
                _ = try await RunningTool.run(
                    "run", "--output-directory", path, "--if-exists", "overwrite", server.url("/x").absoluteString)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
            #expect(try names.map { try String(contentsOfFile: "\(path)/\($0)", encoding: .utf8) } == ["two"])
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
