import RequestOperationsTesting
import Testing

@testable import RequestOperations

/// What an outage costs a run of many more requests than their retry budget has tokens, in virtual time.
@Suite(.timeLimit(.minutes(15))) struct OutageCostTests {
    @Test(arguments: [
        ScriptedTransport.Answer.error(.cannotConnect), .status(503),
    ])
    func `An outage costs little more than its length`(answer: ScriptedTransport.Answer) async throws {
        let run = OutageRun(down: .milliseconds(500)..<Duration.milliseconds(2500), answering: answer)
        try await run.run()
        #expect(run.end <= OutageRun.undisturbed * 1.3 + .seconds(2))
    }

    @Test func `An outage at the beginning costs little more than its length`() async throws {
        let run = OutageRun(down: .zero..<Duration.seconds(2), answering: .error(.cannotConnect))
        try await run.run()
        #expect(run.end <= OutageRun.undisturbed * 1.3 + .seconds(2))
    }
}

/// A run of 600 requests in a queue of width 16. Their server answers after 50 ms.
private final class OutageRun: Sendable {
    static let (count, width, latency) = (600, 16, Duration.milliseconds(50))
    static let undisturbed = latency * count / width
    private static let step = Duration.milliseconds(10)

    private let url = URL(string: "http://outage.invalid/")!  // The literal is a URL.
    private let clock = ManualClock()
    private let atServer = Locked(0)
    private let finished = Collector<Bool>()
    private let configuration: RequestConfiguration
    private let queue = RequestQueue()

    /// When the last request ended.
    var end: Duration { clock.now.offset }

    init(down: Range<Duration>, answering failure: ScriptedTransport.Answer) {
        let (clock, atServer) = (clock, atServer)
        var configuration = RequestConfiguration()
        configuration.transport = ScriptedTransport([
            .dynamic { _ in
                if down.contains(clock.now.offset) { return failure }
                atServer.withLock { $0 += 1 }
                try? await clock.sleep(for: Self.latency)
                atServer.withLock { $0 -= 1 }
                return .body(Data())
            }
        ])
        configuration.clock = clock
        configuration.randomSource = RandomSource(seed: 1)
        configuration.retryPolicy.maximumRetries = 8
        self.configuration = configuration
        queue.maxConcurrentOperationCount = Self.width
    }

    /// Runs to the end, at most for two minutes.
    func run() async throws {
        for _ in 0..<Self.count {
            let operation = URLRequestOperation(url, configuration: configuration)
            operation.whenFinished { [finished] result in finished.append((try? result.get()) != nil) }
            queue.addOperation(operation)
        }
        await rest()
        while finished.count < Self.count, end < .seconds(120) {
            clock.advance(by: Self.step)
            await rest()
        }
        #expect(finished.count == Self.count && finished.elements.allSatisfy { $0 })
    }

    /// Returns when each request has ended, waits for its next attempt or its place, or is at the server.
    private func rest() async {
        await eventually {
            let (ended, atServer) = (finished.count, atServer.withLock { $0 })
            let inLine = queue.limiter.waitingCount
            return ended + inLine + clock.sleeperCount == Self.count && (inLine == 0 || atServer == Self.width)
        }
    }
}
