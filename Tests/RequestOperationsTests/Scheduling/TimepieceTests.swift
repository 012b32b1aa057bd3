import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct TimepieceTests {
    @Test func aMomentOfAnInjectedClockIsTheOneInWhichItWasTaken() {
        let clock = ManualClock()
        let timepiece = Timepiece(clock)
        clock.advance(by: .seconds(2))
        let moment = timepiece.moment
        clock.advance(by: .seconds(3))
        #expect(moment.time == .seconds(2) && timepiece.moment.time == .seconds(5))
    }

    @Test func theRealClockGoesOn() {
        let timepiece = Timepiece(ContinuousClock())
        let first = timepiece.moment.time
        #expect(first <= timepiece.moment.time)
    }

    @Test func aClockIsNeverAskedUnderALockOfTheOperation() async throws {
        let clock = InquiringClock()
        var configuration = RequestConfiguration.scripted([.status(503), .body(Data("x".utf8))])
        configuration.clock = clock
        configuration.deadline = .seconds(60)
        configuration.retryPolicy.backoff = .constant(.zero)
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        clock.inquire { _ = operation.attempts }
        defer { clock.inquire(nil) }
        _ = try await run(operation)
        #expect(clock.wasAnswered)
    }
}

/// A clock that looks something up, on another thread, whenever it is asked for the time.
private final class InquiringClock: Clock {
    private struct State {
        var inquiry: (@Sendable () -> Void)?
        var wasAnswered = true
    }

    private let manual = ManualClock()
    private let state = Locked(State())

    /// Whether each inquiry was answered.
    var wasAnswered: Bool { state.withLock { $0.wasAnswered } }

    func inquire(_ inquiry: (@Sendable () -> Void)?) {
        state.withLock { $0.inquiry = inquiry }
    }

    var now: ManualClock.Instant {
        if let inquiry = state.withLock({ $0.wasAnswered ? $0.inquiry : nil }) {
            let answered = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                inquiry()
                answered.signal()
            }
            // Who holds a lock that the inquiry needs waits here for as long as this does.
            if answered.wait(timeout: .now() + 120) == .timedOut { state.withLock { $0.wasAnswered = false } }
        }
        return manual.now
    }

    var minimumResolution: Duration { manual.minimumResolution }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        try await manual.sleep(until: deadline, tolerance: tolerance)
    }
}
