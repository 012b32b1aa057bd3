#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// What the commands of a queue do when nobody reads their output, or when it cannot be written.
    @Suite(.timeLimit(.minutes(5))) struct QueueOutputTests {
        private static let hasFullDevice = FileManager.default.fileExists(atPath: "/dev/full")
        private static let noSpace = "urlrequest: standard output: No space left on device"

        private let place = QueuePlace()

        @Test func `A reader that leaves ends a list with 141 and without a word`() async throws {
            // More than a pipe holds.
            let padding = String(repeating: "x", count: 1000)
            let added = try await place.run(
                "add", "--input", "-", input: (1...400).map { "http://a.example/\($0)-\(padding)\n" }.joined())
            #expect(added.lines.count == 400)
            let ended = try await place.start(["list"], reads: .untilALine).end()
            #expect(ended.status == 141 && ended.errors == "")
        }

        @Test(.enabled(if: hasFullDevice), arguments: [["list"], ["stats"], ["show", "1"], ["show", "1", "--body"]])
        func `A standard output that fails is named in one line`(_ command: [String]) async throws {
            _ = try await place.run("add", "http://a.example/1", "--data", "x")
            let ended = try await place.start(command, after: "exec >/dev/full").end()
            #expect(ended.status == 1 && ended.errors == Self.noSpace + "\n")
        }

        @Test(.enabled(if: hasFullDevice))
        func `An id that cannot be printed does not look like a request that was refused`() async throws {
            let lines = (1...1000).map { "http://a.example/\($0)\n" }.joined()
            let tool = try place.start(["add", "http://a.example/0", "--input", "-"], after: "exec >/dev/full")
            // It may end before it has read this.
            try? tool.write(lines)
            let ended = try await tool.end()
            #expect(ended.status == 1)
            #expect(ended.errors == Self.noSpace + " (requests added: 1, ids printed: 0)\n")
            #expect(try await place.run("list").lines.count == 1)
        }

        @Test func `A reader of ids that leaves ends the reading of lines, and the count is told`() async throws {
            let tool = try place.start(["add", "--input", "-"], reads: .untilALine)
            try tool.write("http://a.example/1\n")
            await tool.output(lines: 1)
            try tool.write("http://a.example/2\n")
            let ended = try await tool.end(endingInput: false)
            #expect(ended.status == 141)
            #expect(ended.errors == "urlrequest: standard output: Broken pipe (requests added: 2, ids printed: 1)\n")
        }

        @Test(.enabled(if: hasFullDevice), arguments: [">/dev/full", ">&-"])
        func `Without a standard output a queue delivers all the same`(_ redirection: String) async throws {
            let server = try await LoopbackServer.start { _ in .empty(204) }
            for number in 1...2 { _ = try await place.run("add", server.url("/\(number)").absoluteString) }
            let ended = try await place.start(["run", "--drain"], after: "exec \(redirection)").end()
            #expect(ended.status == 0 && ended.errors == (redirection == ">&-" ? "" : Self.noSpace + "\n"))
            #expect(Set(server.requests.map(\.path)) == ["/1", "/2"])
            #expect(try await place.run("show", "1").lines == ["delivered 204"])
        }

        @Test(arguments: [["list"], ["stats"], ["add", "http://a.example/1"]])
        func `A standard output that is closed from the start ends the others with 141`(_ command: [String])
            async throws
        {
            let ended = try await place.start(command, after: "exec >&-").end()
            #expect(ended.status == 141 && ended.errors == "")
            #expect(try await place.run("list").lines.isEmpty)
        }

        @Test func `A directory that cannot be made is an error in one plain line`() async throws {
            try Data().write(to: URL(fileURLWithPath: place.directory))
            let ended = try await place.run("list")
            #expect(ended.status == 2)
            #expect(ended.errors.hasPrefix("urlrequest: the queue q cannot be opened: "))
            #expect(ended.errors.split(separator: "\n").count == 1)
            #expect(!ended.errors.contains("Domain"))
        }
    }
#endif
