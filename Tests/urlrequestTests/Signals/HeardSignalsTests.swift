import RequestOperations
import Testing

@testable import urlrequest

@Suite struct HeardSignalsTests {
    private let start = ContinuousClock.now

    @Test func `The same signal within half a second is the same one`() {
        var heard = HeardSignals()
        #expect(heard.note(SIGTERM, at: start) == .isFirst)
        #expect(heard.note(SIGTERM, at: start + .milliseconds(499)) == .isRepeated)
    }

    @Test func `The same signal later is a second one`() {
        var heard = HeardSignals()
        _ = heard.note(SIGTERM, at: start)
        #expect(heard.note(SIGTERM, at: start + .milliseconds(500)) == .isLater)
    }

    @Test func `Another signal is a second one at once`() {
        var heard = HeardSignals()
        _ = heard.note(SIGINT, at: start)
        #expect(heard.note(SIGTERM, at: start) == .isLater)
    }
}
