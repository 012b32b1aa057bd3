import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite struct TimelineTests {
    @Test func onlyTheRealTimeIsReal() {
        #expect(Timeline.real.isReal && !Timeline.none.isReal && !Timeline.clock(ManualClock()).isReal)
    }

    @Test func aClockThatIsAnObjectIsToldFromAllOthers() {
        let (clock, other) = (ManualClock(), ManualClock())
        #expect(Timeline.clock(clock).identity != nil)
        #expect(Timeline.clock(clock).identity == Timeline.clock(clock).identity)
        #expect(Timeline.clock(clock).identity != Timeline.clock(other).identity)
    }

    @Test func aClockThatIsAValueIsNot() {
        #expect(Timeline.clock(SuspendingClock()).identity == nil)
        #expect(Timeline.real.identity == nil && Timeline.none.identity == nil)
    }
}
