import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct WaitReasonTests {
    private let clock = ManualClock()
    private let url = URL(string: "http://waits-why.invalid/")!  // A literal that is a URL.

    private struct Wait: Equatable {
        let delay: Duration
        let reason: WaitReason?
    }

    /// The first wait of a request, which then ends.
    private func wait(
        _ answers: [ScriptedTransport.Answer] = [.status(503)], _ change: (inout RequestConfiguration) throws -> Void
    ) async throws -> Wait? {
        var configuration = RequestConfiguration.scripted(answers)
        configuration.clock = clock
        configuration.randomSource = RandomSource(seed: 1)
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(1)))
        configuration.retryPolicy.budget = nil
        configuration.retryPolicy.retryAfterTable = nil
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
        await waits.count(1)
        operation.cancel()
        await end(of: operation)
        #expect(others.elements.allSatisfy { $0 == nil })
        return waits.elements.first
    }

    @Test func aBackoff() async throws {
        let wait = try await wait { _ in }
        #expect(wait == Wait(delay: .seconds(1), reason: .backoff))
    }

    @Test func aBudgetWithoutRoom() async throws {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 0.1, clock: clock)
        _ = budget.withdrawHedge(to: url, on: .none)
        let wait = try await wait { $0.retryPolicy.budget = budget }
        #expect(wait == Wait(delay: .milliseconds(10_500), reason: .budget))
    }

    @Test func aBudgetThatHasRoomBeforeTheBackoffIsOverIsNoReason() async throws {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 0.1, clock: clock)
        _ = budget.withdrawHedge(to: url, on: .none)
        let wait = try await wait {
            $0.retryPolicy.budget = budget
            $0.retryPolicy.backoff = .constant(.seconds(60))
        }
        #expect(wait == Wait(delay: .seconds(60), reason: .backoff))
    }

    @Test func aRetryAfterOfTheResponse() async throws {
        let wait = try await wait([.status(503, fields: [("Retry-After", "9")])]) { _ in }
        #expect(wait == Wait(delay: .seconds(9), reason: .retryAfter))
    }

    @Test func aRetryAfterThatAnotherRequestWasTold() async throws {
        let table = RetryAfterTable(clock: clock)
        let wait = try await wait([
            .dynamic { [clock, url] _ in
                table.note(.seconds(9), for: url, on: .clock(clock))
                return .status(503)
            }
        ]) { $0.retryPolicy.retryAfterTable = table }
        #expect(wait?.reason == .retryAfter && wait?.delay ?? .zero >= .seconds(9))
    }

    @Test func aRetryAfterBeforeAFirstAttempt() async throws {
        let table = RetryAfterTable(clock: clock)
        table.note(.seconds(9), for: url, on: .clock(clock))
        let wait = try await wait { $0.retryPolicy.retryAfterTable = table }
        #expect(wait?.reason == .retryAfter && wait?.delay ?? .zero >= .seconds(9))
    }

    @Test func anOpenCircuit() async throws {
        let breaker = CircuitBreaker(minimumThroughput: 1, clock: clock)
        try breaker.admit(url).settle(.failed)
        let wait = try await wait { $0.retryPolicy.circuitBreaker = breaker }
        #expect(wait == Wait(delay: .seconds(6), reason: .circuit))
    }

    @Test func theTextOfTheEventSaysIt() {
        var event = RequestEvent(id: RequestID(), step: .waits(.seconds(9)))
        event.waitReason = .retryAfter
        #expect(event.description == "request \(event.id): waits 9.0 seconds (Retry-After)")
    }

    @Test func aDecisionOfOnesOwnCountsAsABackoff() async throws {
        let wait = try await wait([.status(503, fields: [("Retry-After", "9")])]) {
            $0.retryDeciders = [RetryDecider { _, _ in .retry(after: .seconds(7)) }]
        }
        #expect(wait == Wait(delay: .seconds(7), reason: .backoff))
    }
}
