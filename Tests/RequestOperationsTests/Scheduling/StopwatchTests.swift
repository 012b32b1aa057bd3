import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct StopwatchTests {
    @Test func itMeasuresOnTheClockThatItIsGiven() {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        let stopwatch = Stopwatch(clock)
        #expect(stopwatch.elapsed == .zero)
        clock.advance(by: .milliseconds(300))
        #expect(stopwatch.elapsed == .milliseconds(300))
    }

    @Test func itMeasuresRealTimeOnTheContinuousClock() {
        let before = ContinuousClock.now
        let stopwatch = Stopwatch(ContinuousClock())
        let elapsed = stopwatch.elapsed
        #expect(elapsed >= .zero && elapsed <= before.duration(to: .now))
    }

    @Test func anAlarmRingsWhenItsClockWasMoved() async throws {
        let clock = ManualClock()
        let rang = Answer<Void>()
        let alarm = Alarm(after: .seconds(60), on: clock) { rang.resume(with: .success(())) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(60))
        try await rang.value
        alarm.cancel()
    }

    @Test func anAlarmRingsInRealTimeOnTheContinuousClock() async throws {
        let rang = Answer<Void>()
        let alarm = Alarm(after: .milliseconds(1), on: ContinuousClock()) { rang.resume(with: .success(())) }
        try await rang.value
        alarm.cancel()
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64(Int32.max) + 1)])
    func anAlarmInTheFarFutureCanBeSetAndCancelled(delay: Duration) {
        Alarm(after: delay, on: ContinuousClock()) { Issue.record("the far future came") }.cancel()
    }

    @Test func anAlarmOnAnotherClockSleepsNoLongerThanTheClockCanTell() async {
        let slept = Collector<Duration>()
        Alarm(after: .seconds(Int64.max), on: NarrowClock(slept: slept)) {}.cancel()
        await slept.count(1)
        #expect(slept.elements.allSatisfy { $0 <= .seconds(Int32.max) })
    }

    @Test func anAlarmOnAClockThatCannotSleepRings() async throws {
        let rang = Answer<Void>()
        let alarm = Alarm(after: .seconds(60), on: SleeplessClock()) { rang.resume(with: .success(())) }
        try await rang.value
        alarm.cancel()
    }

    @Test func aCancelledAlarmDoesNotRing() async throws {
        let clock = ManualClock()
        let alarm = Alarm(after: .seconds(60), on: clock) { Issue.record("a cancelled alarm rang") }
        await clock.sleepers(1)
        alarm.cancel()
        clock.advance(by: .seconds(60))
        guard case .sleeper(let task) = alarm else {
            Issue.record("not a sleeping Task")
            return
        }
        await task.value
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
