import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(5))) struct LimitAlarmTests {
    private let clock = ManualClock()
    private let time = Locked<Int64>(0)
    private let rings = Locked(0)
    private let wait: AttemptTrace

    init() {
        wait = AttemptTrace { [time] in time.withLock { $0 } }
    }

    private func alarm(besides wait: AttemptTrace?) -> LimitAlarm {
        LimitAlarm(after: .seconds(10), besides: wait, on: RequestClock(clock)) { [rings] in rings.withLock { $0 += 1 }
        }
    }

    /// Both clocks go on, once the alarm sleeps.
    private func pass(_ seconds: Int) async {
        await clock.sleepers(1)
        time.withLock { $0 += Int64(seconds) * 1_000_000_000 }
        clock.advance(by: .seconds(seconds))
    }

    @Test func `Without a wait it rings after its limit`() async {
        let alarm = alarm(besides: nil)
        await pass(10)
        await eventually { rings.withLock { $0 } == 1 }
        #expect(rings.withLock { $0 } == 1)
        alarm.cancel()
    }

    @Test func `What was waited is added to the limit`() async {
        wait.begin()
        let alarm = alarm(besides: wait)
        await pass(4)
        wait.end()
        await pass(6)
        // It rings at 14 s, not at 10.
        await pass(3)
        #expect(rings.withLock { $0 } == 0)
        await pass(1)
        await eventually { rings.withLock { $0 } == 1 }
        #expect(rings.withLock { $0 } == 1)
        alarm.cancel()
    }

    @Test func `It does not ring after it was cancelled`() async {
        wait.begin()
        let alarm = alarm(besides: wait)
        await pass(10)
        alarm.cancel()
        wait.end()
        await eventually { clock.sleeperCount == 0 }
        clock.advance(by: .seconds(100))
        #expect(rings.withLock { $0 } == 0)
    }

    @Test func `It does not ring while a wait goes on`() async {
        wait.begin()
        let alarm = alarm(besides: wait)
        for _ in 1...5 { await pass(10) }
        await clock.sleepers(1)
        #expect(rings.withLock { $0 } == 0)
        alarm.cancel()
    }
}
