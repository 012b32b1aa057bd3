import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct AttemptTraceTests {
    private let time = Locked<Int64>(100)
    private let wait: AttemptTrace

    init() {
        wait = AttemptTrace { [time] in time.withLock { $0 } }
    }

    private func pass(_ nanoseconds: Int64) {
        time.withLock { $0 += nanoseconds }
    }

    @Test func `Nothing counts before a wait begins and after it ends`() {
        pass(5)
        wait.end()
        #expect(wait.total == .zero)
        wait.begin()
        pass(7)
        wait.end()
        pass(11)
        #expect(wait.total == .nanoseconds(7))
    }

    @Test func `A wait that goes on counts up to now, and one that begins twice counts once`() {
        wait.begin()
        pass(3)
        wait.begin()
        pass(4)
        #expect(wait.total == .nanoseconds(7))
    }

    @Test func `Waits add up`() {
        for length: Int64 in [2, 3, 4] {
            wait.begin()
            pass(length)
            wait.end()
            pass(100)
        }
        #expect(wait.total == .nanoseconds(9))
    }
}
