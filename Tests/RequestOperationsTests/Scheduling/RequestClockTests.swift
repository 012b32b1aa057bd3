import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct RequestClockTests {
    @Test func `It measures on the clock that it is given`() {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        let requestClock = RequestClock(clock)
        #expect(requestClock.now == .zero && !requestClock.isContinuous)
        clock.advance(by: .milliseconds(300))
        #expect(requestClock.now == .milliseconds(300))
    }

    @Test func `It measures real time on the continuous clock`() {
        let clock = RequestClock(ContinuousClock())
        let (start, before) = (clock.now, ContinuousClock.now)
        let elapsed = clock.now - start
        #expect(clock.isContinuous && elapsed >= .zero && elapsed <= before.duration(to: .now))
    }

    @Test func `An alarm rings when its clock was moved`() async throws {
        let clock = ManualClock()
        let rang = Answer<Void>()
        let alarm = RequestClock(clock).alarm(after: .seconds(60)) { rang.resume(with: .success(())) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(60))
        try await rang.value
        alarm.cancel()
    }

    @Test func `An alarm rings in real time on the continuous clock`() async throws {
        let rang = Answer<Void>()
        let alarm = RequestClock(ContinuousClock()).alarm(after: .milliseconds(1)) { rang.resume(with: .success(())) }
        try await rang.value
        alarm.cancel()
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64(Int32.max) + 1)])
    func `An alarm in the far future can be set and cancelled`(delay: Duration) {
        RequestClock(ContinuousClock()).alarm(after: delay) { Issue.record("the far future came") }.cancel()
    }

    @Test func `An alarm on another clock sleeps no longer than the clock can tell`() async {
        let slept = Collector<Duration>()
        RequestClock(NarrowClock(slept: slept)).alarm(after: .seconds(Int64.max)) {}.cancel()
        await slept.count(1)
        #expect(slept.elements.allSatisfy { $0 <= .seconds(Int32.max) })
    }

    @Test func `An alarm on a clock that cannot sleep rings`() async throws {
        let rang = Answer<Void>()
        let alarm = RequestClock(SleeplessClock()).alarm(after: .seconds(60)) { rang.resume(with: .success(())) }
        try await rang.value
        alarm.cancel()
    }

    @Test func `A cancelled alarm does not ring`() async throws {
        let clock = ManualClock()
        let alarm = RequestClock(clock).alarm(after: .seconds(60)) { Issue.record("a cancelled alarm rang") }
        await clock.sleepers(1)
        alarm.cancel()
        clock.advance(by: .seconds(60))
        guard case .sleeper(let task) = alarm else {
            Issue.record("not a sleeping Task")
            return
        }
        await task.value
    }

    @Test func `A clock is never asked under a lock of the operation`() async throws {
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

/// Notes how long it was to sleep.
private struct NarrowClock: Clock {
    let slept: Collector<Duration>

    var now: ContinuousClock.Instant { origin }
    var minimumResolution: Duration { .zero }
    private let origin = ContinuousClock.now

    init(slept: Collector<Duration>) {
        self.slept = slept
    }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        slept.append(origin.duration(to: deadline))
    }
}

/// Cannot sleep.
private struct SleeplessClock: Clock {
    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        throw Problem()
    }
}
