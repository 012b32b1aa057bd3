import RequestOperationsTesting
import Testing

@testable import RequestOperations

/// The extremes of the numbers that users can set: none of them traps.
@Suite(.timeLimit(.minutes(5))) struct ExtremeOptionsTests: BudgetTests {
    let clock = ManualClock()
    let url = URL(string: "https://a.example/x")!  // A literal that is a URL.

    static let numbers = [Int.min, -1, 0, 1, 2, .max - 1, .max]

    static let durations: [Duration] = [
        .seconds(Int64.min) * 18, .seconds(Int64.min), .seconds(-1), .zero, .nanoseconds(1), .seconds(10),
        .nanoseconds(Int64.max), .seconds(Int64.max), .seconds(Int64.max) * 18,
    ]

    static let fractions: [Double] = [
        -.infinity, -1, -0.0, 0, .leastNonzeroMagnitude, 2e-19, 1e-9, 0.2, 1, 1e9, 1e300, .infinity, .nan,
    ]

    // MARK: Budgets

    @Test(arguments: numbers) func `A budget of tokens takes every number`(capacity: Int) {
        for cost in Self.numbers {
            for refund in Self.numbers {
                let budget = KnownBudget.tokens(
                    capacity: capacity, cost: cost, timeoutCost: cost, throttlingCost: cost, refund: refund)
                for _ in 0..<3 {
                    budget.draw(to: url)?.draw.succeeded()
                    _ = budget.draw(to: url)
                    budget.countSuccess(of: url)
                    budget.hosts.draw(budget.budget.cost, from: budget.budget, of: Origin(url))?.draw.takeBack()
                }
                #expect((0...max(capacity, 0)).contains(budget.balance(of: url)))
            }
        }
    }

    @Test func `The largest budget of tokens is full after a success`() {
        let budget = KnownBudget.tokens(capacity: .max)
        let all = budget.balance(of: url)
        #expect(budget.draw(to: url) != nil && budget.balance(of: url) == all - 10)
        for _ in 0..<20 { budget.countSuccess(of: url) }
        #expect(budget.balance(of: url) == all)
    }

    @Test(arguments: durations) func `A budget over a window takes every number`(window: Duration) {
        for ratio in Self.fractions {
            for reserve in Self.fractions {
                for mode in [RetryBudget.Mode.delaying, .failing] {
                    let budget = KnownBudget(
                        ratio: ratio, minimumPerSecond: reserve, window: window, mode: mode, clock: clock)
                    var policy = policy(budget)
                    policy.elapsedLimit = nil
                    for _ in 0..<3 {
                        budget.countRequest(to: url)
                        _ = outcome(policy, failure())
                        _ = budget.draw(to: url, within: .seconds(Int64.max))
                        #expect(budget.balance(of: url) >= 0)
                        clock.advance(by: .seconds(1))
                    }
                }
            }
        }
    }

    // MARK: Policies

    @Test(arguments: durations) func `A policy takes every duration`(duration: Duration) {
        for other in Self.durations {
            var policy = RetryPolicy(maximumRetries: .max, backoff: .constant(duration, jitter: .equal))
            policy.elapsedLimit = other
            policy.maximumRetryAfter = duration
            let breaker = KnownBreaker(
                minimumThroughput: 1, samplingWindow: other, openTime: duration, clock: clock)
            policy.circuitBreaker = breaker.breaker
            try? breaker.admit(url).finish(.failed)
            for elapsed in [Duration.zero, .seconds(1_000_000)] {
                let decision = policy.planned(after: failure(elapsed: elapsed), in: clock.hosts)
                if case .retry(let delay, _, _, _, _) = decision { #expect(delay >= .zero) }
            }
        }
    }

    @Test(arguments: numbers) func `A policy takes every number of retries`(maximum: Int) {
        var policy = RetryPolicy(maximumRetries: maximum, backoff: .constant(.zero))
        policy.budget = nil
        for attempt in [1, 2, .max] {
            #expect((outcome(policy, failure(attempt: attempt)) != .stop) == (attempt <= maximum))
        }
    }

    @Test(arguments: durations) func `An operation waits for every backoff until it is cancelled`(delay: Duration)
        async throws
    {
        let transport = ScriptedTransport([.status(503), .status(503), .status(503), .status(503)])
        var configuration = RequestConfiguration.over(transport)
        configuration.clock = clock
        configuration.retryPolicy = RetryPolicy(backoff: .constant(delay))
        configuration.retryPolicy.budget = nil
        configuration.retryPolicy.elapsedLimit = nil
        configuration.deadline = .seconds(Int64.max)
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        if delay > .zero {
            await clock.sleepers(2)
            operation.cancel()
            await #expect(throws: CancellationError.self) { try await operation.value }
        } else {
            await #expect(throws: RequestError.self) { try await operation.value }
        }
    }

    // MARK: Limiters

    @Test(arguments: numbers) func `A limiter takes every number`(number: Int) {
        let limiter = RequestLimiter(
            total: max(number, 1), perHost: max(number, 1), maximumWaiting: number)
        let origin = Origin(url)
        let slots = (0..<3).compactMap { _ in limiter.slotAtOnce(for: origin) }
        #expect(slots.count == min(max(number, 1), 3))
        limiter.maximumWaiting = number
        #expect(limiter.maximumWaiting == (number == .max ? nil : max(number, 0)))
    }

    /// How many attempts of a dozen may begin at once.
    private func admitted(of rate: RequestLimiter.Rate) -> Int {
        let limiter = RequestLimiter(rate: rate, adaptsToTooManyRequests: true, clock: clock)
        let origin = Origin(url)
        let slots = (0..<12).compactMap { _ in limiter.slotAtOnce(for: origin) }
        for slot in slots { slot.release(isUnused: true) }
        limiter.heard(429, from: url)
        return slots.count
    }

    @Test(arguments: fractions.filter { $0 > 0 && $0 < 1 }) func `A low rate allows its burst`(perSecond: Double) {
        for burst in Self.numbers {
            #expect(admitted(of: .perSecond(perSecond, burst: burst)) == min(max(burst, 1), 12))
        }
    }

    @Test(arguments: [(1e-9, 10), (1e-10, 5)]) func `A rate of years allows its burst`(perSecond: Double, burst: Int) {
        #expect(admitted(of: .perSecond(perSecond, burst: burst)) == burst)
    }

    @Test(arguments: fractions.filter { $0 >= 1e9 }) func `A rate without end allows all`(perSecond: Double) {
        for burst in Self.numbers { #expect(admitted(of: .perSecond(perSecond, burst: burst)) == 12) }
    }
}
