#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// The tool's memory for a million lines; for two thousand unless `REQUEST_OPERATIONS_STRESS` is `full`.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct MemoryTests {
        private let lineCount =
            ProcessInfo.processInfo.environment["REQUEST_OPERATIONS_STRESS"] == "full" ? 1_000_000 : 2000

        @Test(arguments: [[], ["--per-host", "8"], ["--json", "--concurrency", "256"]])
        func `A long input runs within 100 MB`(_ options: [String]) async throws {
            try await expectLittleMemory(options) { _ in .text("ok") }
        }

        @Test func `A long input runs within 100 MB when many requests wait for their next attempt`() async throws {
            let refused = Locked<Set<String>>([])
            try await expectLittleMemory([]) { request in
                let isBusy = request.target.hasSuffix("7") && refused.withLock { $0.insert(request.target).inserted }
                return isBusy ? .status(503) : .text("ok")
            }
        }

        private func expectLittleMemory(
            _ options: [String], _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
        ) async throws {
            let gate = LoopbackServer.Gate()
            let server = try await LoopbackServer.start(logLimit: 0) { request in
                request.path == "/last" ? .held(by: gate, then: .text("")) : answer(request)
            }
            let tool = try RunningTool(["run", "--input", "-", "--no-progress"] + options)
            let feeder = Task.detached { [lineCount] in
                for first in stride(from: 1, through: lineCount, by: 1000) {
                    let lines = (first..<(first + 1000)).map { "\(server.url("/\($0)"))\n" }
                    try tool.write(lines.joined())
                }
                try tool.write("\(server.url("/last"))\n")
            }
            // The last request keeps the tool alive until its memory was read.
            await tool.output(lines: lineCount)
            let peak = tool.peakMemory
            gate.open()
            try await feeder.value
            #expect(try await tool.end().status == 0)
            #expect(try #require(peak) < 100_000_000)
        }
    }
#endif
