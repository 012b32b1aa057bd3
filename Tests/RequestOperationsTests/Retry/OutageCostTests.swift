import RequestOperations
import RequestOperationsTesting
import Testing

/// What an outage costs a run of many more requests than their retry budget has tokens, in virtual time.
@Suite(.timeLimit(.minutes(15))) struct OutageCostTests {
    @Test(arguments: [
        Outage("connections are refused", for: 2, .error(.cannotConnect)),
        Outage("503", for: 2, .status(503)),
        Outage("503 for long", for: 20, .status(503)),
        Outage("one connection of HTTP/2 breaks under all requests", for: 2, .error(.cannotConnect), breaksAll: true),
        Outage("the link is down", for: 8, .error(.notConnected), isOfLink: true),
        Outage("from the beginning", from: .zero, for: 2, .error(.cannotConnect)),
    ])
    private func `An outage costs little more than its length`(_ outage: Outage) async throws {
        let run = OutageRun(outage)
        try await run.run()
        #expect(run.failures == 0)
        #expect(run.end <= OutageRun.undisturbed * 1.3 + outage.length)
    }

    @Test func `With three retries, at most one request of a hundred fails in an outage of two seconds`() async throws {
        let run = OutageRun(Outage("connections are refused", for: 2, .error(.cannotConnect)), retries: 3)
        try await run.run()
        #expect(run.failures <= OutageRun.count / 100)
    }
}

/// A time in which the server of a run cannot be reached.
private struct Outage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let time: Range<Duration>
    let answer: ScriptedTransport.Answer
    /// Whether it breaks the connection of the requests that are at the server.
    let breaksAll: Bool
    /// Whether this machine knows of it.
    let isOfLink: Bool

    var length: Duration { time.upperBound - time.lowerBound }

    init(
        _ name: String, from start: Duration = .milliseconds(500), for seconds: Int, _ answer: ScriptedTransport.Answer,
        breaksAll: Bool = false, isOfLink: Bool = false
    ) {
        testDescription = name
        time = start..<start + .seconds(seconds)
        self.answer = answer
        self.breaksAll = breaksAll
        self.isOfLink = isOfLink
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
    private let path = NetworkPath(.reachable(.wifi))
    private let outage: Outage

    /// When the last request ended.
    var end: Duration { clock.now.offset }

    /// How many requests failed.
    var failures: Int { finished.elements.count { !$0 } }

    init(_ outage: Outage, retries: Int = 8) {
        let (clock, atServer) = (clock, atServer)
        let isDown: @Sendable () -> Bool = { outage.time.contains(clock.now.offset) }
        var configuration = RequestConfiguration()
        configuration.transport = ScriptedTransport([
            .dynamic { _ in
                if isDown() { return outage.answer }
                atServer.withLock { $0 += 1 }
                try? await clock.sleep(for: Self.latency)
                atServer.withLock { $0 -= 1 }
                return outage.breaksAll && isDown() ? .error(.connectionLost) : .body(Data())
            }
        ])
        configuration.clock = clock
        configuration.randomSource = RandomSource(seed: 1)
        configuration.hosts = HostRegistry(clock: clock)
        configuration.retryPolicy.earlyRetryObservers = [
            // A spread would be a second sleeper for each request.
            ReachabilityObserver(path: path, spread: .zero), HostRecoveryObserver(),
        ]
        configuration.retryPolicy.maximumRetries = retries
        self.configuration = configuration
        self.outage = outage
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
            // While nothing succeeds, the moments matter less.
            let step = Self.step * (outage.length > .seconds(2) && outage.time.contains(end + Self.step) ? 5 : 1)
            clock.advance(by: step)
            if outage.isOfLink { path.update(outage.time.contains(end) ? .unreachable : .reachable(.wifi)) }
            await rest()
        }
        #expect(finished.count == Self.count)
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
