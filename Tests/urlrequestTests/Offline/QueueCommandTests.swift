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
    }
#endif
