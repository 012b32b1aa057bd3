#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct OutputDownloadTests {
        private static let content = Data(String(repeating: "0123456789", count: 30_000).utf8)
        private static let text = String(decoding: content, as: UTF8.self)
        private static let file = LoopbackServer.Response.file(content, etag: #""v1""#)

        private func download(_ server: LoopbackServer, _ more: String...) async throws -> RunningTool.Ended {
            try await RunningTool.run(["download", server.url("/a").absoluteString, "-o", "-"] + more)
        }

        @Test func `A hyphen writes the content to standard output, and nothing else`() async throws {
            let server = try await LoopbackServer.start { _ in Self.file }
            let ended = try await download(server)
            #expect(ended.status == 0 && ended.output == Self.text && ended.errors == "")
        }

        @Test func `A retry goes on after the last byte that was written`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/a", .brokenOff(Self.file, after: 100_000), Self.file)
            let ended = try await download(server)
            #expect(ended.status == 0 && ended.output == Self.text)
            #expect(server.requests.last?.field("Range")?.hasPrefix("bytes=") == true)
        }

        @Test(arguments: [
            LoopbackServer.Response.file(content, etag: #""v2""#), .text("other"), .status(404),
        ])
        func `Bytes of another file never follow`(_ other: LoopbackServer.Response) async throws {
            let server = try await LoopbackServer.start()
            server.route("/a", .brokenOff(Self.file, after: 100_000), other)
            let ended = try await download(server)
            #expect(ended.status == 1 && Self.text.hasPrefix(ended.output) && server.requests.count == 2)
        }

        @Test func `Without a validator the download fails once bytes were written`() async throws {
            let server = try await LoopbackServer.start { _ in .brokenOff(.file(Self.content), after: 100_000) }
            let ended = try await download(server)
            #expect(ended.status == 1 && !ended.output.isEmpty && server.requests.count == 1)
        }

        @Test func `An error page is not written`() async throws {
            let server = try await LoopbackServer.start { _ in .status(404, fields: [:]) }
            let ended = try await download(server)
            #expect(ended.status == 1 && ended.output == "" && ended.errors.contains("status 404"))
        }

        @Test func `A wrong checksum is a failure`() async throws {
            let server = try await LoopbackServer.start { _ in .text("content") }
            let right = "sha256:ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
            #expect(try await download(server, "--checksum", right).status == 0)
            let ended = try await download(server, "--checksum", "sha256:\(String(repeating: "0", count: 64))")
            #expect(ended.status == 1 && ended.errors.contains("digestMismatch"))
        }

        @Test func `A reader that goes away ends it with 141`() async throws {
            let server = try await LoopbackServer.start { _ in .endless(chunk: Data("line\n".utf8)) }
            let tool = try RunningTool(
                ["download", server.url("/a").absoluteString, "-o", "-"], reads: .untilALine)
            let ended = try await tool.end()
            #expect(ended.status == 141 && ended.errors == "")
        }

        @Test(arguments: [
            ["--resume"], ["--resume-key", "k"], ["--if-exists", "skip"], ["--segments", "2"], ["--directory", "x"],
        ])
        func `Options for files do not go with it`(_ options: [String]) async throws {
            let ended = try await RunningTool.run(["download", "http://a.example/", "-o", "-"] + options)
            #expect(ended.status == 2)
        }
    }
#endif
