import RequestOperations
import RequestOperationsTesting
import Testing

/// What a server that fails for a minute has to bear of a process, in virtual time.
@Suite(.timeLimit(.minutes(15))) struct RetryStormTests {
    @Test(arguments: [false, true])
    func `A failing server bears at most three tenths more than its new requests`(awaitsRecovery: Bool) async {
        let storm = Storm(.failing, awaitsRecovery: awaitsRecovery)
        await storm.run()
        let received = storm.received(0..<storm.outage)
        #expect(received <= Storm.rate * storm.outage * 13 / 10)
        // The budget was asked for more than it had, and gave what it had.
        #expect(received >= Storm.rate * storm.outage * 12 / 10)
    }

    @Test(arguments: [58, 65], [false, true])
    func `A server that recovers bears at most half more than the steady rate`(outage: Int, awaitsRecovery: Bool) async
    {
        let storm = Storm(.failing, outage: outage, awaitsRecovery: awaitsRecovery)
        await storm.run()
        for second in outage..<outage + Storm.rest {
            #expect(storm.received(second..<second + 1) <= Storm.rate * 3 / 2, "second \(second)")
        }
    }

    @Test func `Without a budget each request is sent four times`() async {
        let storm = Storm(nil)
        await storm.run()
        // All but the last few, whose retries the recovered server gets.
        #expect(storm.received(0..<storm.outage) >= Storm.rate * storm.outage * 37 / 10)
    }
}

/// A process with a steady rate of real operations, and its server. All operations rest whenever the clock is moved.
private final class Storm: Sendable {
    /// New requests a second.
    static let rate = 10
    /// The seconds before the outage, as long as the budget looks back, and those after it.
    static let lead = 10
    static let rest = 10
    /// The seconds of the outage.
    let outage: Int

    private let clock = ManualClock()
    /// The seconds, from the beginning of the outage, in which requests arrived.
    private let arrivals = Collector<Int>()
    private let finished = Collector<Void>()
    private let configuration: RequestConfiguration
    /// Of a host of its own: those that wait for a recovery are one table for the process.
    private let url = URL(string: "http://storm-\(UUID()).invalid/")!  // Names of hosts make a URL.
    private let awaitsRecovery: Bool

    init(_ mode: RetryBudget.Mode?, outage: Int = 60, awaitsRecovery: Bool = false) {
        self.awaitsRecovery = awaitsRecovery
        self.outage = outage
        let (clock, arrivals) = (clock, arrivals)
        var configuration = RequestConfiguration.scripted([
            .dynamic { _ in
                let second = Int(clock.now.offset.components.seconds) - Self.lead
                arrivals.append(second)
                return (0..<outage).contains(second) ? .status(503) : .body(Data())
            }
        ])
        configuration.clock = clock
        configuration.hosts = clock.hosts
        configuration.randomSource = RandomSource(seed: 1)
        configuration.retryPolicy = .default
        // The reserve is a twentieth of the rate, as the default one is for a process that makes 200 requests a second.
        configuration.retryPolicy.budget = mode.map { RetryBudget(minimumPerSecond: 0.5, mode: $0) }
        configuration.retryPolicy.sharesRetryAfter = false
        if !awaitsRecovery { configuration.retryPolicy.earlyRetryObservers = [] }
        self.configuration = configuration
    }

    func run() async {
        let queue = OperationQueue()
        let count = (Self.lead + outage + Self.rest) * Self.rate
        queue.maxConcurrentOperationCount = count
        for number in 1...count {
            let operation = URLRequestOperation(url, configuration: configuration)
            operation.whenFinished { [finished] _ in finished.append(()) }
            queue.addOperation(operation)
            await rest(of: number)
            clock.advance(by: .seconds(1) / Self.rate)
            await rest(of: number)
        }
    }

    /// Returns when each of the operations so far has finished or waits.
    private func rest(of count: Int) async {
        await eventually {
            finished.count + clock.sleeperCount == count
                && (!awaitsRecovery || finished.count + clock.hosts.waitingCount(for: url) == count)
        }
    }

    /// How many requests arrived in some seconds.
    func received(_ seconds: Range<Int>) -> Int {
        arrivals.elements.count { seconds.contains($0) }
    }
}
