/// A state of an operation to which one can subscribe.
public enum ObservedState: Sendable, Hashable {
    /// An attempt has failed, and the operation waits before the next one. Only a ``RetryingOperation`` reaches this
    /// state, as often as it waits.
    case retrying
    /// The operation has ended, with a value or an error.
    case finished
    /// The operation has ended as cancelled.
    case cancelled
}

extension AsynchronousOperation {
    /// Calls a closure when the operation reaches a state, or at once if it is in that state.
    ///
    /// The closure runs where `whenFinished` closures run. It is called once, for ``ObservedState/retrying`` once for each
    /// wait. An operation ends either as finished or as cancelled. Closures of an operation that a client made come in the
    /// order of its steps.
    ///
    /// ```swift
    /// operation.subscribe(to: .finished) { print("done") }
    /// ```
    public final func subscribe(to state: ObservedState, _ body: @escaping @Sendable () -> Void) {
        switch state {
        case .retrying: (self as? any EventSource)?.subscribeToRetries { [weak self] in self?.callBack(body) }
        case .finished: whenFinished { if !$0.isCancellation { body() } }
        case .cancelled: whenFinished { if $0.isCancellation { body() } }
        }
    }
}

extension Result {
    /// Whether this is the result of a cancelled operation.
    var isCancellation: Bool {
        if case .failure(let error) = self { error is CancellationError } else { false }
    }
}
