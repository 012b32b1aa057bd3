import Foundation
import Synchronization

/// The least that an asynchronous operation is: what a request in an operation costs without this package's part.
class BareOperation: Operation, @unchecked Sendable {
    // Unchecked as Foundation's own Operation is: all state of this class is in `state`.
    private enum State {
        case ready
        case executing
        case finished
    }

    private let state = Mutex(State.ready)

    final override var isAsynchronous: Bool { true }
    final override var isExecuting: Bool { state.withLock { $0 == .executing } }
    final override var isFinished: Bool { state.withLock { $0 == .finished } }

    final override func start() {
        state.withLock { $0 = .executing }
        begin()
    }

    /// Begins the work, at the end of which `finish()` is called once, on any thread.
    func begin() {
        finish()
    }

    /// Ends the operation.
    final func finish() {
        willChangeValue(forKey: "isFinished")
        state.withLock { $0 = .finished }
        didChangeValue(forKey: "isFinished")
    }
}
