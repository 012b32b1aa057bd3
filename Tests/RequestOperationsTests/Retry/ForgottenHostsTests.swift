import RequestOperations
import RequestOperationsTesting
import Testing

/// Webhooks in virtual time: each day other hosts. All fail, and some ask for a pause or answer 429. The suite sees four days
/// of 60 hosts; `REQUEST_OPERATIONS_STRESS=full` sees a month of 200.
@Suite(.timeLimit(.minutes(15))) struct ForgottenHostsTests {
    private static let (days, hostsADay) = isFullRun ? (30, 200) : (4, 60)

    private let clock = ManualClock()
    private let finished = Collector<Void>()

    private func url(_ host: String) -> URL {
        URL(string: "https://\(host).webhook.invalid/")!  // Names of hosts make a URL.
    }

    private func operation(_ host: String, _ configuration: RequestConfiguration) -> URLRequestOperation<Data> {
        let operation = URLRequestOperation(url(host), configuration: configuration)
        operation.whenFinished { [finished] _ in finished.append(()) }
        return operation
    }

    /// Sends each webhook twice, with a retry in between, and lets the rest of the day pass.
    private func manyDays(_ configuration: RequestConfiguration) async {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = Self.hostsADay
        for day in 0..<Self.days {
            for number in 0..<Self.hostsADay { queue.addOperation(operation("h\(day)-\(number)", configuration)) }
            // The clock moves on until all have ended, since not every sleeper is a request that waits.
            while finished.count < (day + 1) * Self.hostsADay {
                clock.advance(by: .seconds(10))
                await Task.yield()
            }
            clock.advance(by: .seconds(86_400))
        }
    }

    private func configuration(_ budget: RetryBudget? = nil) -> RequestConfiguration {
        var configuration = RequestConfiguration.over(
            ScriptedTransport([
                .dynamic { request in
                    let host = request.url?.host ?? ""
                    let fields = host.hasSuffix("0.webhook.invalid") ? [("Retry-After", "30")] : []
                    return .status(host.hasSuffix("1.webhook.invalid") ? 429 : 503, fields: fields)
                }
            ]))
        configuration.clock = clock
        configuration.hosts = clock.hosts
        configuration.retryPolicy = RetryPolicy(maximumRetries: 1, backoff: .constant(.seconds(60)))
        configuration.retryPolicy.budget = budget
        return configuration
    }

    @Test(arguments: [
        RetryBudget(), .tokens(),
    ])
    func `Nothing is left of a host after a day`(budget: RetryBudget) async throws {
        var configuration = configuration(budget)
        // One failure opens a circuit.
        let breaker = KnownBreaker(minimumThroughput: 1, openTime: .seconds(30), clock: clock)
        configuration.use(breaker)
        let (table, limiter) = (KnownSilences(clock: clock), RequestLimiter(perHost: 2))
        configuration.use(table)
        configuration.limiter = limiter
        await manyDays(configuration)
        // The next host is the only one of which anything is known.
        let queue = OperationQueue()
        queue.addOperation(operation("h0", configuration))
        await clock.sleepers(1)
        #expect(KnownSilences(clock: clock).hostCount == 1 && limiter.known == (0, 0, 0))
        queue.cancelAllOperations()
    }

    @Test func `Nothing is left of a rate or a line after a day`() async throws {
        var configuration = configuration()
        let limiter = RequestLimiter(rate: .perSecond(1), adaptsToTooManyRequests: true, clock: clock)
        configuration.limiter = limiter
        configuration.retryPolicy.earlyRetryObservers = [HostRecoveryObserver()]
        await manyDays(configuration)
        let queue = OperationQueue()
        queue.addOperation(operation("h0", configuration))
        await clock.sleepers(1)
        #expect(limiter.known == (0, 0, 1))
        let isLeft = (0..<Self.days * Self.hostsADay).contains { number in
            let host = "h\(number / Self.hostsADay)-\(number % Self.hostsADay)"
            return clock.hosts.waitingCount(for: url(host)) != 0
        }
        #expect(!isLeft)
        queue.cancelAllOperations()
    }
}
