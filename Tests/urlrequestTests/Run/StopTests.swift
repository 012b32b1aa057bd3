#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct StopTests {
        @Test(arguments: [SIGINT, SIGTERM])
        func `A signal cancels what is in flight, and the summary is printed`(_ number: Int32) async throws {
            let server = try await LoopbackServer.start { _ in .stall }
            let tool = try RunningTool(["run"] + (1...3).map { server.url("/\($0)").absoluteString })
            try await server.requests(atLeast: 3)
            tool.send(number)
            let ended = try await tool.end()
            #expect(ended.status == 128 + number)
            #expect(ended.errors.contains("0 succeeded, 0 failed, 3 cancelled"))
            #expect(try await server.connectionsClosed(atLeast: 3).allSatisfy { $0.end != .closedByServer })
        }

        @Test func `Requests that were cancelled are printed as such`() async throws {
            let server = try await LoopbackServer.start { _ in .stall }
            let tool = try RunningTool(["run", "--json", server.url("/x").absoluteString])
            try await server.requests(atLeast: 1)
            tool.send(SIGINT)
            let error = try #require(try await tool.end().objects.first?["error"] as? [String: String])
            #expect(error["code"] == "cancelled")
        }

        @Test func `A signal ends a run whose input is open`() async throws {
            let tool = try RunningTool(["run", "--input", "-", "nonsense"])
            _ = await tool.errors(lines: 1)
            tool.send(SIGINT)
            #expect(try await tool.end(endingInput: false).status == 130)
        }

        @Test func `A signal that was ignored when the program was started stays so`() async throws {
            let server = try await LoopbackServer.start { _ in .stall }
            let tool = try RunningTool(["run", server.url("/x").absoluteString], after: "trap '' INT")
            try await server.requests(atLeast: 1)
            tool.send(SIGINT)
            tool.send(SIGTERM)
            let ended = try await tool.end()
            #expect(ended.status == 143)
            #expect(ended.errors.contains("terminated: "))
        }

        @Test func `A second signal ends at once`() async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            let input = try TemporaryPath(content: moreThanAPipeHolds(server))
            // With nobody who reads, the program is still at its end a second after a signal.
            let tool = try RunningTool(["run", "--input", input.path, "--no-progress"], reads: .never)
            try await server.requests(atLeast: 100)
            tool.send(SIGINT)
            tool.send(SIGTERM)
            let ended = try await tool.end()
            #expect(ended.status == 143 || ended.status == 130)
            // It is not the end that a single signal leads to: that prints a summary.
            #expect(!ended.errors.contains("succeeded"))
        }

        @Test func `A reader that stopped reading does not keep a signal from ending the run`() async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            let input = try TemporaryPath(content: moreThanAPipeHolds(server))
            let tool = try RunningTool(["run", "--input", input.path, "--no-progress"], reads: .never)
            try await server.requests(atLeast: 100)
            tool.send(SIGINT)
            let ended = try await tool.end()
            #expect(ended.status == 130)
            #expect(ended.errors.contains("interrupted: "))
        }

        @Test func `Messages that nobody reads do not keep a signal from ending the run`() async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            let unread = Pipe()
            let unusable = String(repeating: "nonsense\n", count: 20_000)
            let input = try TemporaryPath(content: "\(server.url("/first"))\n" + unusable)
            let tool = try RunningTool(["run", "--input", input.path], errors: unread.fileHandleForWriting)
            // Its result may never be printed: messages about later lines can be in its way.
            try await server.requests(atLeast: 1)
            tool.send(SIGINT)
            #expect(try await tool.end().status == 130)
            withExtendedLifetime(unread) {}
        }

        @Test func `A closed standard output ends the run with 141 and without a word`() async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            let tool = try RunningTool(["run", "--input", "-", "--no-progress"], reads: .untilALine)
            try tool.write("\(server.url("/1"))\n")
            await tool.output(lines: 1)
            try tool.write("\(server.url("/2"))\n")
            let ended = try await tool.end()
            #expect(ended.status == 141)
            #expect(ended.errors == "")
        }

        /// Lines whose results are longer than 64 KiB when 100 of them have been answered.
        private func moreThanAPipeHolds(_ server: LoopbackServer) -> String {
            let padding = String(repeating: "x", count: 1000)
            return (1...1000).map { "\(server.url("/\($0)-\(padding)"))\n" }.joined()
        }
    }
#endif
