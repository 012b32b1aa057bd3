#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct DownloadPlacesTests {
        private let place: TemporaryPath
        private var path: String { place.path }
        private static let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        private static let file = LoopbackServer.Response.file(content, etag: #""v1""#)

        init() throws {
            place = try TemporaryPath()
        }

        private var names: [String] {
            get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
        }

        private func text(_ name: String) -> String? {
            FileManager.default.contents(atPath: "\(path)/\(name)").map { String(decoding: $0, as: UTF8.self) }
        }

        private func write(_ text: String, to name: String) throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        }

        private func download(_ arguments: String...) async throws -> RunningTool.Ended {
            try await RunningTool.run(["download"] + arguments + ["--directory", path])
        }

        // MARK: --resume

        @Test func `With resume, a repeated run fetches no content and leaves no second copy`() async throws {
            let server = try await LoopbackServer.start { _ in Self.file }
            let urls = [server.url("/1/a.bin").absoluteString, server.url("/2/a.bin").absoluteString]
            let first = try await download(urls[0], urls[1], "--resume")
            let second = try await download(urls[0], urls[1], "--resume")
            #expect(first.status == 0 && second.status == 0 && second.output == first.output)
            #expect(second.errors.contains("it is there already: \(path)/a-2.bin"))
            #expect(server.requests.map(\.method) == ["GET", "GET", "HEAD", "HEAD"])
            #expect(try names == ["a-2.bin", "a.bin"])
        }

        @Test(arguments: [[], ["--segments", "2"]])
        func `Without HEAD, a repeated run with resume leaves no second copy either`(_ more: [String]) async throws {
            let server = try await LoopbackServer.start { $0.method == "HEAD" ? .empty(405) : Self.file }
            let arguments = ["download", server.url("/a.bin").absoluteString, "--resume", "--directory", path] + more
            for _ in 1...2 { #expect(try await RunningTool.run(arguments).status == 0) }
            #expect(try names == ["a.bin"])
        }

        @Test func `With resume, a path whose file is whole is not downloaded again, and an older one is replaced`()
            async throws
        {
            let server = try await LoopbackServer.start()
            server.route("/a", .text("new"))
            try write("old one", to: "x")
            let arguments = ["download", server.url("/a").absoluteString, "--resume", "-o", "\(path)/x"]
            for _ in 1...2 { #expect(try await RunningTool.run(arguments).status == 0) }
            #expect(server.requests.map(\.method) == ["HEAD", "GET", "HEAD"])
            #expect(try text("x") == "new" && names == ["x"])
        }

        @Test func `With resume, a file that changed at the server is another one`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/a", .file(Data("new".utf8), lastModified: .now + 3600))
            try write("old", to: "a")
            #expect(try await download(server.url("/a").absoluteString, "--resume").status == 0)
            #expect(text("a") == "old" && text("a-2") == "new")
        }

        @Test func `With resume, a file is another one if the server does not name its length`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/a", .chunked([Data("new".utf8)]))
            try write("old", to: "a")
            #expect(try await download(server.url("/a").absoluteString, "--resume").status == 0)
            #expect(text("a") == "old" && text("a-2") == "new")
        }

        @Test func `A key stands for a URL whose signature changes`() async throws {
            let isBroken = Locked(true)
            let server = try await LoopbackServer.start { _ in
                isBroken.withLock { $0 } ? .brokenOff(Self.file, after: 200_000) : Self.file
            }
            let broken = try await download(
                server.url("/a?sign=1").absoluteString, "--resume-key", "k", "--retries", "0")
            isBroken.withLock { $0 = false }
            let ended = try await download(server.url("/a?sign=2").absoluteString, "--resume-key", "k")
            #expect(broken.status == 1 && ended.status == 0)
            #expect(server.requests.last?.field("Range") != nil)
            #expect(try names == ["a"])
            #expect(FileManager.default.contents(atPath: "\(path)/a") == Self.content)
        }

        // MARK: --if-exists

        @Test func `Skip keeps a file, and sends nothing if its path is given`() async throws {
            let server = try await LoopbackServer.start { _ in .text("new") }
            try write("old", to: "a")
            let url = server.url("/a").absoluteString
            let path = path
            let named = try await RunningTool.run("download", url, "-o", "\(path)/a", "--if-exists", "skip")
            #expect(named.status == 0 && named.output == "\(path)/a\t3\n" && server.requests.isEmpty)
            let ended = try await download(url, "--if-exists", "skip")
            #expect(ended.status == 0 && ended.output == "\(path)/a\t3\n" && server.requests.map(\.method) == ["HEAD"])
            #expect(try text("a") == "old" && names == ["a"])
        }

        @Test func `Files of one run do not replace each other, nor does one make the other be skipped`() async throws {
            let server = try await LoopbackServer.start { .text($0.path) }
            let urls = ["/1/a", "/2/a"].map { server.url($0).absoluteString }
            for way in ["overwrite", "skip", "overwrite"] {
                #expect(try await download(urls[0], urls[1], "--if-exists", way).status == 0)
                #expect(text("a") == "/1/a" && text("a-2") == "/2/a")
            }
            #expect(try names == ["a", "a-2"])
        }

        @Test func `A number keeps the file of a given path`() async throws {
            let server = try await LoopbackServer.start { _ in .text("new") }
            try write("old", to: "a.tar.gz")
            let ended = try await RunningTool.run(
                "download", server.url("/x").absoluteString, "-o", "\(path)/a.tar.gz", "--if-exists", "number")
            #expect(ended.status == 0 && text("a.tar.gz") == "old" && text("a-2.tar.gz") == "new")
        }

        @Test func `A file that is kept must have the checksum`() async throws {
            let server = try await LoopbackServer.start { _ in .text("content") }
            try write("other", to: "a")
            let digest = "sha256:ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
            let url = server.url("/a").absoluteString
            let skipped = try await download(url, "--if-exists", "skip", "--checksum", digest)
            #expect(skipped.status == 1 && skipped.errors.contains("--checksum"))
            #expect(try await download(url, "--resume", "--checksum", digest).status == 0)
            #expect(text("a") == "other" && text("a-2") == "content")
        }

        // MARK: Several runs

        @Test func `Of two runs at once with resume, one waits for the file of the other`() async throws {
            let gate = LoopbackServer.Gate()
            let server = try await LoopbackServer.start()
            server.route("/a", .held(by: gate, then: Self.file))
            let arguments = ["download", server.url("/a").absoluteString, "--directory", path, "--resume"]
            let tools = [try RunningTool(arguments), try RunningTool(arguments)]
            try await server.requests(atLeast: 2)
            gate.open()
            for tool in tools { #expect(try await tool.end().status == 0) }
            #expect(try names == ["a"])
        }

        @Test func `What a killed run left is removed by the next run over the folder`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/a", .stallBody(after: 1 << 20, of: 4 << 20))
            server.route("/b", .text("b"))
            let tool = try RunningTool(["download", server.url("/a").absoluteString, "--directory", path])
            while try !FileManager.default.fileExists(atPath: path) || names.isEmpty { await Task.yield() }
            tool.send(SIGKILL)
            _ = try await tool.end()
            #expect(try names.count == 1)
            #expect(try await download(server.url("/b").absoluteString).status == 0)
            #expect(try names == ["b"])
        }

        @Test func `What another run with resume can go on from is kept`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/a", .brokenOff(Self.file, after: 200_000))
            server.route("/b", .text("b"))
            _ = try await download(server.url("/a").absoluteString, "--resume", "--retries", "0")
            #expect(try await download(server.url("/b").absoluteString).status == 0)
            #expect(try names.count == 3)
        }
    }
#endif
