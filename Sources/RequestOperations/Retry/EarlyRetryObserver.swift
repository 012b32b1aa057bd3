/// Watches for a sign that another attempt makes sense before the backoff is over.
public protocol EarlyRetryObserver: Sendable {
    /// Returns when another attempt makes sense.
    ///
    /// It is called once for each wait, in a Task of its own. That Task is cancelled when the wait ends for another
    /// reason. An observer that throws, or returns after the cancellation, has no effect and causes no failure.
    ///
    /// - Parameter failure: The attempt that failed.
    func wait(after failure: AttemptFailure) async throws
}

extension EarlyRetryObserver {
    /// The name under which the observer is reported when it ends a wait.
    var name: String {
        switch self {
        case let heldBack as HeldBackObserver: heldBack.observer.name
        default: String(describing: type(of: self))
        }
    }
}
