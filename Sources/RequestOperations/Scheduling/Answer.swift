/// A result that a Task waits for. The first result given counts, and later ones are ignored.
///
/// It can be awaited only once; a second time is a programming error. A caller that must not keep a Task waiting can be
/// informed first, by ``whenGiven(_:)``. The wait ignores cancellation of the Task. Code that cancels must give the
/// answer itself.
package final class Answer<Value: Sendable>: Sendable {
    private enum State {
        case open
        // This is a checked continuation because of ThreadSanitizer. An unsafe one may be resumed just before it is
        // awaited. ThreadSanitizer then does not see that the resume comes before the next step of its Task.
        case awaited(CheckedContinuation<Value, any Error>)
        case listenedFor(@Sendable () -> Void)
        case given(Result<Value, any Error>)
        /// We keep no value here, because the value may hold the owner of this object.
        case delivered
    }

    private let state = Locked(State.open)

    package init() {}

    /// Gives the answer. Returns whether it was the first.
    @discardableResult
    package func resume(with result: Result<Value, any Error>) -> Bool {
        let before = state.withLock { state in
            let before = state
            switch before {
            case .open, .listenedFor: state = .given(result)
            case .awaited: state = .delivered
            case .given, .delivered: break
            }
            return before
        }
        switch before {
        case .open: break
        case .awaited(let continuation): continuation.resume(with: result)
        case .listenedFor(let listener): listener()
        case .given, .delivered: return false
        }
        return true
    }

    /// Calls a listener once, when the answer is given, or at once if it has been given. The answer can then be
    /// awaited. This is called once, before the answer is awaited.
    func whenGiven(_ listener: @escaping @Sendable () -> Void) {
        let isGiven = state.withLock { state in
            guard case .open = state else { return true }
            state = .listenedFor(listener)
            return false
        }
        if isGiven { listener() }
    }

    package var value: Value {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Value, any Error>? = state.withLock { state in
                    switch state {
                    case .open:
                        state = .awaited(continuation)
                        return nil
                    case .given(let result):
                        state = .delivered
                        return result
                    case .awaited, .listenedFor, .delivered:
                        // One of the two callers would wait forever.
                        preconditionFailure("An answer is awaited once.")
                    }
                }
                if let result { continuation.resume(with: result) }
            }
        }
    }
}

extension Answer {
    /// Awaits the answer. If the Task is cancelled meanwhile, the answer is a `CancellationError`.
    ///
    /// - Parameter mayLeave: Called at the cancel. It returns `false` if another answer is about to come. By default, the
    ///   wait ends at once.
    func cancellableValue(ifLeaving mayLeave: @Sendable () -> Bool = { true }) async throws -> Value {
        try await withTaskCancellationHandler {
            try await value
        } onCancel: {
            if mayLeave() { resume(with: .failure(CancellationError())) }
        }
    }
}

extension Result where Failure == any Error, Success: Sendable {
    /// Runs an asynchronous function and keeps its outcome.
    init(catching body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
