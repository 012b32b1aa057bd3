#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct DownloadCommandTests {
        private let place: TemporaryPath
        private var path: String { place.path }
        private static let digest = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"

        init() throws {
            place = try TemporaryPath()
        }

        private func text(_ name: String) throws -> String {
            try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
        }

        @Test func `Files go to a folder, under names of their own, and each has a line`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/a.txt", .text("one"), .text("second"))
            let url = server.url("/a.txt").absoluteString
            let ended = try await RunningTool.run("download", url, url, "--directory", path)
            #expect(ended.status == 0 && ended.errors == "")
            #expect(ended.lines.map { $0.split(separator: "\t").last } == ["3", "6"])
            #expect(try text("a.txt") == "one" && text("a-2.txt") == "second")
        }

        @Test func `A path names the file, an older one is replaced, and its checksum is verified`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/a.txt", .text("content"), .text("other"))
            let arguments = [
                "download", server.url("/a.txt").absoluteString, "-o", "\(path)/x", "--checksum",
                "sha256:\(Self.digest)", "--retries", "0",
            ]
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Data("old".utf8).write(to: URL(fileURLWithPath: "\(path)/x"))
            #expect(try await RunningTool.run(arguments).status == 0)
            let second = try await RunningTool.run(arguments)
            #expect(second.status == 1 && second.output == "" && second.errors.contains("digestMismatch"))
            #expect(try text("x") == "content")
        }

        @Test func `A file comes in several parts`() async throws {
            let content = Data((0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 / 7) })
            let server = try await LoopbackServer.start()
            server.route("/file.bin", .file(content, etag: #""v1""#))
            let ended = try await RunningTool.run(
                "download", server.url("/file.bin").absoluteString, "--directory", path, "--segments", "3")
            #expect(ended.status == 0)
            #expect(server.requests.count > 1 && server.requests.allSatisfy { $0.field("Range") != nil })
            #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/file.bin")) == content)
        }

        @Test func `Several parts come over as many connections at once`() async throws {
            let content = Data(repeating: 7, count: 4 << 20)
            let file = LoopbackServer.Response.file(content, etag: #""v1""#)
            let gate = LoopbackServer.Gate()
            let server = try await LoopbackServer.start { request in
                request.field("Range")?.hasPrefix("bytes=0-") == true ? file : .held(by: gate, then: file)
            }
            let tool = try RunningTool(
                ["download", server.url("/a").absoluteString, "--directory", path, "--segments", "3"])
            try await server.requests(atLeast: 4)
            #expect(server.openConnectionCount == 3)
            gate.open()
            #expect(try await tool.end().status == 0)
        }

        @Test func `A server that gives a byte for each attempt is left at the deadline`() async throws {
            let content = Data(repeating: 7, count: 100_000)
            let file = LoopbackServer.Response.file(content, etag: #""v1""#)
            let server = try await LoopbackServer.start { request in
                .brokenOff(file, after: request.field("Range") == nil ? 300 : 350)
            }
            let ended = try await RunningTool.run(
                "download", server.url("/a").absoluteString, "--directory", path, "--deadline", "1", "--retries", "1000"
            )
            // It ends in the middle of an attempt, or before a wait that would be too long.
            #expect(ended.status == 1 && ["timedOut", "the deadline"].contains(where: ended.errors.contains))
        }

        @Test func `A time limit holds for one attempt`() async throws {
            let server = try await LoopbackServer.start { _ in .stall }
            let ended = try await RunningTool.run(
                "download", server.url("/a").absoluteString, "--directory", path, "--timeout", "0.2", "--retries", "1")
            #expect(ended.status == 1 && ended.errors.contains("timedOut") && server.requests.count == 2)
        }

        @Test func `A file that failed does not hold up the next`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/good", .text("good"))
            let ended = try await RunningTool.run(
                "download", server.url("/bad").absoluteString, server.url("/good").absoluteString, "--directory", path)
            #expect(ended.status == 1 && ended.lines.count == 1 && ended.errors.contains("status 404"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["good"])
        }

        @Test func `A file that broke off in an earlier run is completed by option`() async throws {
            let content = Data(repeating: 7, count: 300_000)
            let file = LoopbackServer.Response.file(content, etag: #""v1""#)
            let server = try await LoopbackServer.start()
            server.route("/file.bin", .brokenOff(file, after: 200_000), file)
            let arguments = [
                "download", server.url("/file.bin").absoluteString, "--directory", path, "--resume", "--retries", "0",
            ]
            #expect(try await RunningTool.run(arguments).status == 1)
            #expect(try await RunningTool.run(arguments).status == 0)
            #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/file.bin")) == content)
            #expect(server.requests.last?.field("Range") != nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["file.bin"])
        }

        @Test func `Header fields go with the request`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/a", .text(""))
            _ = try await RunningTool.run(
                "download", server.url("/a").absoluteString, "--directory", path, "--header", "X-Key: 1")
            #expect(server.requests.first?.field("X-Key") == "1")
        }

        @Test func `Several Cookie fields are one, with semicolons`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/a", .text(""))
            _ = try await RunningTool.run(
                "download", server.url("/a").absoluteString, "--directory", path, "--header", "Cookie: a=1", "--header",
                "cookie: b=2")
            #expect(server.requests.first?.field("Cookie") == "a=1; b=2")
        }

        @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
        func `A standard output that fails is named, and no further file is asked for`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/a", .text("a"))
            let tool = try RunningTool(
                ["download", server.url("/a").absoluteString, server.url("/b").absoluteString, "--directory", path],
                after: "exec >/dev/full")
            let ended = try await tool.end()
            #expect(ended.status == 1)
            #expect(ended.errors == "urlrequest: standard output: No space left on device\n")
            #expect(server.requests.map(\.path) == ["/a"])
        }

        @Test func `A terminal gets a bar that is gone at the end`() async throws {
            let gate = LoopbackServer.Gate()
            let server = try await LoopbackServer.start()
            server.route("/a.txt", .held(by: gate, then: .text("content")))
            let terminal = try Terminal()
            let tool = try RunningTool(
                ["download", server.url("/a.txt").absoluteString, "--directory", path], environment: ["TERM": "xterm"],
                errors: terminal.slave)
            #expect(await terminal.text(upTo: "a.txt  0 B").contains("\r"))
            gate.open()
            #expect(try await tool.end().status == 0)
        }

        @Test func `A signal ends the transfer, and those after it do not begin`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/a", .stallBody(after: 10, of: 100))
            let tool = try RunningTool(
                ["download", server.url("/a").absoluteString, server.url("/b").absoluteString, "--directory", path])
            try await server.requests(atLeast: 1)
            tool.send(SIGTERM)
            let ended = try await tool.end()
            #expect(ended.status == 143 && ended.output == "" && server.requests.count == 1)
            // The signal may come before the folder is made.
            let isThere = FileManager.default.fileExists(atPath: path)
            #expect(try !isThere || FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        }

        @Test(arguments: [
            ["download"], ["download", "nonsense"], ["download", "http://a.example/", "-o", "x", "--directory", "y"],
            ["download", "http://a.example/", "http://a.example/", "-o", "x"],
            ["download", "http://a.example/", "--checksum", "sha256:00"],
            ["download", "http://a.example/", "--checksum", "md5:00"],
            ["upload", "/dev/null"], ["upload", "/no/such/file", "http://a.example/"],
            ["upload", "/tmp", "http://a.example/"], ["upload", "/etc/hosts", "nonsense"],
            ["upload", "/etc/hosts", "http://a.example/", "--tus", "--multipart", "x"],
        ])
        func `Arguments that cannot be used end with 2 before any request, and say why`(_ arguments: [String])
            async throws
        {
            let ended = try await RunningTool.run(arguments)
            #expect(ended.status == 2 && ended.output == "" && !ended.errors.isEmpty)
        }
    }
#endif
