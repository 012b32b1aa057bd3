import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct WaitReasonTests {
    private let clock = ManualClock()
    private let url = URL(string: "http://waits-why.invalid/")!  // A literal that is a URL.

    private struct Wait: Equatable {
        let delay: Duration
        let reason: WaitReason?
    }

    /// A wait of a request, which then ends.
    private func wait(
        _ answers: [ScriptedTransport.Answer] = [.status(503)], number: Int = 1,
        _ change: (inout RequestConfiguration) throws -> Void
    ) async throws -> Wait? {
        var configuration = RequestConfiguration.scripted(answers)
        configuration.clock = clock
        configuration.randomSource = RandomSource(seed: 1)
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(1)))
        configuration.retryPolicy.budget = nil
        configuration.retryPolicy.sharesRetryAfter = false
        try change(&configuration)
        let waits = Collector<Wait>()
        let others = Collector<WaitReason?>()
        configuration.onEvent = { event in
            if case .waits(let delay) = event.step {
                waits.append(Wait(delay: delay, reason: event.waitReason))
            } else {
                others.append(event.waitReason)
            }
        }
        let operation = URLRequestOperation(url, configuration: configuration)
        OperationQueue().addOperation(operation)
        await waits.count(number)
        operation.cancel()
        await end(of: operation)
        await configuration.deliverEvents()
        #expect(others.elements.allSatisfy { $0 == nil })
        return waits.elements.dropFirst(number - 1).first
    }

    @Test func `A backoff`() async throws {
        let wait = try await wait { _ in }
        #expect(wait == Wait(delay: .seconds(1), reason: .backoff))
    }

    @Test func `A budget without room`() async throws {
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 0.1, clock: clock)
        #expect(budget.draw(to: url) != nil)
        let wait = try await wait(number: 2) {
            $0.use(budget)
            $0.retryPolicy.backoff = .constant(.zero)
        }
        #expect(wait == Wait(delay: .seconds(10), reason: .budget))
    }

    @Test func `A budget is asked when the backoff is over`() async throws {
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 0.1, clock: clock)
        #expect(budget.draw(to: url) != nil)
        let wait = try await wait {
            $0.use(budget)
            $0.retryPolicy.backoff = .constant(.seconds(60))
        }
        #expect(wait == Wait(delay: .seconds(60), reason: .backoff))
    }

    @Test func `A retry after of the response`() async throws {
        let wait = try await wait([.status(503, fields: [("Retry-After", "9")])]) { _ in }
        #expect(wait == Wait(delay: .seconds(9), reason: .retryAfter))
    }

    @Test func `A retry after that another request was told`() async throws {
        let table = KnownSilences(clock: clock)
        let wait = try await wait([
            .dynamic { [url] _ in
                table.note(.seconds(9), for: url)
                return .status(503)
            }
        ]) { $0.use(table) }
        #expect(wait?.reason == .retryAfter && wait?.delay ?? .zero >= .seconds(9))
    }

    @Test func `A retry after before a first attempt`() async throws {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(9), for: url)
        let wait = try await wait { $0.use(table) }
        #expect(wait?.reason == .retryAfter && wait?.delay ?? .zero >= .seconds(9))
    }

    @Test func `An open circuit`() async throws {
        let breaker = KnownBreaker(minimumThroughput: 1, clock: clock)
        try breaker.fail(url)
        let wait = try await wait { $0.use(breaker) }
        #expect(wait == Wait(delay: .seconds(6), reason: .circuit))
    }

    @Test func `A decision of ones own counts as a backoff`() async throws {
        let wait = try await wait([.status(503, fields: [("Retry-After", "9")])]) {
            $0.retryDeciders = [RetryDecider { _, _ in .retry(after: .seconds(7)) }]
        }
        #expect(wait == Wait(delay: .seconds(7), reason: .backoff))
    }
}
