/// A result that somebody awaits: the first one given counts, later ones are dropped.
///
/// Awaited once; a second time is a programmer's error. Whoever cannot keep a Task waiting hears of it first, by
/// ``whenGiven(_:)``. It takes no notice of cancellation: whoever cancels gives the answer.
final class Answer<Value: Sendable>: Sendable {
    private enum State {
        case open
        // A checked continuation: ThreadSanitizer does not see that resuming an unsafe one comes before what its Task does
        // next, if it is resumed just before it is awaited.
        case awaited(CheckedContinuation<Value, any Error>)
        case listenedFor(@Sendable () -> Void)
        case given(Result<Value, any Error>)
        /// Nothing is kept: the value may hold on to who holds this.
        case delivered
    }

    private let state = Locked(State.open)

    /// Gives the answer; whether it was the first.
    @discardableResult
    func resume(with result: Result<Value, any Error>) -> Bool {
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

    /// Calls a listener once, when the answer is given; at once if it is. It is there to be awaited then. Called once, before
    /// the answer is awaited.
    func whenGiven(_ listener: @escaping @Sendable () -> Void) {
        let isGiven = state.withLock { state in
            guard case .open = state else { return true }
            state = .listenedFor(listener)
            return false
        }
        if isGiven { listener() }
    }

    var value: Value {
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
                        // One of the two would wait for ever.
                        preconditionFailure("An answer is awaited once.")
                    }
                }
                if let result { continuation.resume(with: result) }
            }
        }
    }
}

extension Result where Failure == any Error, Success: Sendable {
    /// The outcome of an asynchronous function.
    init(catching body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
