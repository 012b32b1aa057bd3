import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct SignalHistoryTests {
    private let start = ContinuousClock.now
    private var history = SignalHistory()

    private mutating func meanings(of signals: [(Int32, Int)]) -> [SignalHistory.Meaning] {
        signals.map { number, milliseconds in history.meaning(of: number, at: start + .milliseconds(milliseconds)) }
    }

    @Test mutating func `The same signal within half a second is a repetition, however often it comes`() {
        #expect(meanings(of: [(SIGTERM, 0), (SIGTERM, 0), (SIGTERM, 499)]) == [.first, .repetition, .repetition])
    }

    @Test mutating func `The same signal after half a second is a second one`() {
        #expect(meanings(of: [(SIGINT, 0), (SIGINT, 400), (SIGINT, 500)]) == [.first, .repetition, .second])
    }

    @Test mutating func `Another signal is a second one at once`() {
        #expect(meanings(of: [(SIGINT, 0), (SIGTERM, 0)]) == [.first, .second])
    }
}
