#if CommandLineTool
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct QueueCommandTests {
        /// Runs a command on a queue in a directory of its own.
        private func queue(_ command: String..., in directory: String) async throws -> RunningTool.Ended {
            try await RunningTool.run(["queue"] + command + ["--queue", "q", "--directory", directory])
        }

        private func directory() -> String {
            FileManager.default.temporaryDirectory.appendingPathComponent("queue-\(UUID().uuidString)").path
        }

        @Test func `What is added is delivered by another process`() async throws {
            let server = try await LoopbackServer.start { _ in .empty(204) }
            let directory = directory()
            let added = try await queue("add", server.url("/a").absoluteString, "--data", "x", in: directory)
            #expect(added.lines == ["1"] && added.status == 0)
            #expect(server.requests.isEmpty)
            let delivered = try await queue("run", "--drain", in: directory)
            #expect(delivered.lines == ["1 delivered 204"] && delivered.status == 0)
            #expect(server.requests.map(\.path) == ["/a"])
            try FileManager.default.removeItem(atPath: directory)
        }

        @Test func `A dead letter makes the status 1 and can be retried and removed`() async throws {
            let server = try await LoopbackServer.start { _ in .empty(404) }
            let directory = directory()
            _ = try await queue("add", server.url("/a").absoluteString, in: directory)
            #expect(try await queue("run", "--drain", in: directory).status == 1)
            #expect(try await queue("stats", in: directory).lines.first?.contains(#""dead":1"#) == true)
            #expect(try await queue("retry", "1", in: directory).status == 0)
            #expect(try await queue("retry", "1", in: directory).status == 1)
            #expect(try await queue("list", "--state", "pending", in: directory).lines.count == 1)
            #expect(try await queue("remove", "--all", in: directory).lines == ["1"])
            #expect(try await queue("show", "1", in: directory).lines == ["removed"])
            try FileManager.default.removeItem(atPath: directory)
        }

        @Test func `A paused lane is sent after its resumption`() async throws {
            let server = try await LoopbackServer.start { _ in .empty(204) }
            let directory = directory()
            _ = try await queue("add", server.url("/a").absoluteString, "--lane", "l", in: directory)
            #expect(try await queue("pause", "--lane", "l", in: directory).status == 0)
            #expect(try await queue("pause", "--lane", "l", in: directory).status == 1)
            #expect(try await queue("list", in: directory).lines.first?.hasPrefix("1 paused 0 l GET ") == true)
            #expect(try await queue("resume", "--lane", "l", in: directory).status == 0)
            #expect(try await queue("resume", "--lane", "l", in: directory).status == 1)
            #expect(try await queue("run", "--drain", in: directory).lines == ["1 delivered 204"])
            try FileManager.default.removeItem(atPath: directory)
        }

        @Test func `Lines say lane, key and times, and their ids come in the order of the input`() async throws {
            let directory = directory()
            let tool = try RunningTool(["queue", "add", "--input", "-", "--queue", "q", "--directory", directory])
            try tool.write(
                """
                {"url": "http://a.example/1", "lane": "l", "key": "k"}
                {"url": "http://a.example/2", "notBefore": "2099-05-01T08:00:00Z"}
                {"url": "http://a.example/3", "expires": "2099-05-01T08:00:00Z", "method": "PUT", "body": "x"}
                {"url": "http://a.example/4", "lane": "l", "key": "k"}

                """)
            // Each id is printed when its request is on disk, before the input ends.
            #expect(await tool.output(lines: 4).split(separator: "\n") == ["1", "2", "3", "4"])
            #expect(try await tool.end().status == 0)
            let lines = try await queue("list", in: directory).lines
            #expect(
                lines == [
                    "2 waiting until 2099-05-01T08:00:00Z 0 - GET http://a.example/2",
                    "3 pending 0 - PUT http://a.example/3", "4 pending 0 l GET http://a.example/4",
                ])
            #expect(try await queue("show", "3", in: directory).lines.contains("expires: 2099-05-01T08:00:00Z"))
            #expect(try await queue("list", "--lane", "l", in: directory).lines.count == 1)
            try FileManager.default.removeItem(atPath: directory)
        }

        @Test func `Many lines have ids in their order, and a line that cannot be used is left out`() async throws {
            let directory = directory()
            var lines = (1...600).map { "http://a.example/\($0)" }
            lines[300] = "no URL"
            let tool = try RunningTool(["queue", "add", "--input", "-", "--queue", "q", "--directory", directory])
            try tool.write(lines.joined(separator: "\n"))
            let ended = try await tool.end()
            #expect(ended.status == 2 && ended.errors.contains("line 301"))
            #expect(ended.lines == (1...599).map(String.init))
            let last = try await queue("show", "599", in: directory)
            #expect(last.lines.contains { $0.hasSuffix("http://a.example/600") })
            try FileManager.default.removeItem(atPath: directory)
        }

        @Test func `A running queue delivers what another process adds, until SIGTERM`() async throws {
            let server = try await LoopbackServer.start { _ in .empty(204) }
            let directory = directory()
            let tool = try RunningTool(["queue", "run", "--queue", "q", "--directory", directory])
            for number in 1...2 {
                _ = try await queue("add", server.url("/\(number)").absoluteString, in: directory)
                let output = await tool.output(lines: number)
                #expect(output.hasSuffix("\(number) delivered 204\n"))
            }
            tool.send(SIGTERM)
            let ended = try await tool.end(endingInput: false)
            #expect(ended.status == 143, "\(ended.errors)")
            try FileManager.default.removeItem(atPath: directory)
        }

        #if os(Linux)
            @Test func `Without room on the disk, a running queue ends at the second signal`() async throws {
                let server = try await LoopbackServer.start { _ in .empty() }
                let place = QueuePlace()
                let lines = String(repeating: server.url("/a").absoluteString + "\n", count: 100)
                _ = try await place.run("add", "--input", "-", input: lines)
                // No file may grow beyond 50 KiB, which the files of the queue need.
                let tool = try place.start(["run"], after: "trap '' XFSZ; ulimit -f 100")
                #expect(await tool.errors(lines: 1).contains("SQLite error"))
                tool.send(SIGTERM)
                tool.send(SIGINT)
                let status = try await tool.end().status
                #expect(status == 130 || status == 143)
                withExtendedLifetime(place) {}
            }

            @Test(arguments: [32, 24]) func `With too few file descriptors, a running queue says so and loses nothing`(
                limit: Int
            ) async throws {
                let server = try await LoopbackServer.start { _ in .empty(204) }
                let place = QueuePlace()
                _ = try await place.run("add", server.url("/a").absoluteString)
                let tool = try place.start(["run"], after: "ulimit -n \(limit)")
                // With 32, the connection waits for a descriptor until its limit of 15 s.
                let said = await tool.errors(lines: 1)
                #expect(said.contains("no file descriptor") || said.contains("Too many open files"), "\(said)")
                tool.send(SIGTERM)
                tool.send(SIGINT)
                let status = try await tool.end().status
                #expect(status == 130 || status == 143)
                #expect(try await place.run("run", "--drain").lines == ["1 delivered 204"])
            }
        #endif

        @Test func `A command that finds damage says what was done`() async throws {
            let directory = directory()
            _ = try await queue("add", "http://a.example/1", in: directory)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: directory + "/q.sqlite"))
            try handle.write(contentsOf: Data(count: 100))
            try handle.close()
            let list = try await queue("list", in: directory)
            #expect(list.lines == ["1 pending 0 - GET http://a.example/1"] && list.status == 0)
            #expect(list.errors.contains("the queue was damaged") && list.errors.contains("1 records recovered"))
            #expect(try await queue("list", in: directory).errors.isEmpty)
            try FileManager.default.removeItem(atPath: directory)
        }
    }
#endif
