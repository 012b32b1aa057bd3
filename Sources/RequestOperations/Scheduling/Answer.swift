/// A result that somebody awaits: the first one given counts, later ones are dropped.
///
/// Awaited once; a second time is a programmer's error. It takes no notice of cancellation: whoever cancels gives the answer.
final class Answer<Value: Sendable>: Sendable {
    private enum State {
        case open
        // A checked continuation: ThreadSanitizer does not see that resuming an unsafe one comes before what its Task does
        // next, if it is resumed just before it is awaited.
        case awaited(CheckedContinuation<Value, any Error>)
        case given(Result<Value, any Error>)
        /// Nothing is kept: the value may hold on to who holds this.
        case delivered
    }

    private let state = Locked(State.open)

    /// Gives the answer; whether it was the first.
    @discardableResult
    func resume(with result: Result<Value, any Error>) -> Bool {
        let (isFirst, waiter): (Bool, CheckedContinuation<Value, any Error>?) = state.withLock { state in
            switch state {
            case .open:
                state = .given(result)
                return (true, nil)
            case .awaited(let continuation):
                state = .delivered
                return (true, continuation)
            case .given, .delivered:
                return (false, nil)
            }
        }
        waiter?.resume(with: result)
        return isFirst
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
                    case .awaited, .delivered:
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
