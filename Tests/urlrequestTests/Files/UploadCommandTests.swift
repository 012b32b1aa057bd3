#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct UploadCommandTests {
        private let file: TemporaryPath

        init() throws {
            file = try TemporaryPath(content: "0123456789")
        }

        @Test func `A file is put, and the status and URL are printed`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .empty(201))
            let url = server.url("/x").absoluteString
            let ended = try await RunningTool.run("upload", file.path, url, "--header", "X-Key: 1")
            #expect(ended.status == 0 && ended.output == "201\t\(url)\n" && ended.errors == "")
            let request = try #require(server.requests.first)
            #expect(request.method == "PUT" && request.body == Data("0123456789".utf8))
            #expect(request.field("X-Key") == "1")
        }

        @Test func `A file is posted in a form`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .empty())
            let ended = try await RunningTool.run(
                "upload", file.path, server.url("/x").absoluteString, "--multipart", "photo")
            let request = try #require(server.requests.first)
            #expect(ended.status == 0 && request.method == "POST")
            #expect(String(decoding: request.body, as: UTF8.self).contains(#"name="photo""#))
        }

        @Test func `A file is uploaded by tus, and a later run goes on`() async throws {
            let isBroken = Locked(true)
            let server = try await LoopbackServer.start { request in
                switch request.method {
                case "POST": return .status(201, fields: ["Location": "/files/1"])
                case "HEAD": return .status(200, fields: ["Upload-Offset": "4", "Upload-Length": "10"])
                case "PATCH" where isBroken.withLock({ $0 }): return .closeWithoutAnswer
                case "PATCH": return .status(204, fields: ["Upload-Offset": "10"])
                default: return .empty(405)
                }
            }
            let arguments = ["upload", file.path, server.url("/files/").absoluteString, "--tus", "--retries", "0"]
            #expect(try await RunningTool.run(arguments).status == 1)
            isBroken.withLock { $0 = false }
            let ended = try await RunningTool.run(arguments)
            #expect(ended.status == 0 && ended.output == "204\t\(server.url("/files/1"))\n")
            #expect(server.requests.map(\.method) == ["OPTIONS", "POST", "PATCH", "OPTIONS", "HEAD", "PATCH"])
            #expect(server.requests.last?.body == Data("456789".utf8))
        }

        @Test func `Several Cookie fields are one, with semicolons`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .empty())
            _ = try await RunningTool.run(
                "upload", file.path, server.url("/x").absoluteString, "--header", "Cookie: a=1", "--header",
                "Cookie: b=2")
            #expect(server.requests.first?.field("Cookie") == "a=1; b=2")
        }

        @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
        func `A standard output that fails is named`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .empty(201))
            let tool = try RunningTool(
                ["upload", file.path, server.url("/x").absoluteString], after: "exec >/dev/full")
            let ended = try await tool.end()
            #expect(ended.status == 1)
            #expect(ended.errors == "urlrequest: standard output: No space left on device\n")
        }

        @Test(arguments: [["--timeout", "0.2", "--retries", "0"], ["--deadline", "0.2"]])
        func `A server that does not answer is left after the time that an option gives`(_ options: [String])
            async throws
        {
            let server = try await LoopbackServer.start { _ in .stall }
            let ended = try await RunningTool.run(["upload", file.path, server.url("/x").absoluteString] + options)
            #expect(ended.status == 1 && ended.errors.contains("timedOut"))
        }

        @Test func `A refused file is a failure`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .status(403))
            let ended = try await RunningTool.run("upload", file.path, server.url("/x").absoluteString)
            #expect(ended.status == 1 && ended.output == "" && ended.errors.contains("status 403"))
        }
    }
#endif
