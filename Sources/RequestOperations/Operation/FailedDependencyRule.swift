/// What the failure of a dependency means for the operation that depends on it.
///
/// A dependency has failed if it was cancelled, or if it is an ``AsynchronousOperation`` whose result is a failure. This
/// is decided when all dependencies have finished, before the operation is ready.
public enum FailedDependencyRule: Sendable, Hashable {
    /// The operation runs, as Foundation's operations do.
    case run

    /// The operation fails without running, with ``RequestError/Code/dependencyFailed``.
    case cancel

    /// The operation is left out. It ends without running, with ``RequestError/Code/skipped``.
    ///
    /// A ``RequestGroup`` does not count it as failed. There is no value, so for an operation that depends on it the
    /// dependency has failed all the same. One with the rule ``run`` goes on.
    case skip
}

extension AsynchronousOperation {
    /// Makes this operation wait until another has finished, and says what follows if that one fails.
    ///
    /// ```swift
    /// upload.addDependency(login, ifFails: .cancel)
    /// ```
    ///
    /// The error of the dependency is ``RequestError/underlying`` of this operation's error. Of several that have failed,
    /// it is that of the one that was added first. `isCancelled` stays `false`, because it means a `CancellationError`.
    ///
    /// Add the dependency before you add this operation to a queue. Later it counts as ``FailedDependencyRule/run`` if
    /// the others have been checked already.
    ///
    /// - Parameters:
    ///   - operation: The dependency, an operation of any class in any queue. For one that was added before, this sets
    ///     the rule.
    ///   - rule: What its failure means.
    public final func addDependency(_ operation: Operation, ifFails rule: FailedDependencyRule) {
        depend(on: operation, ifFails: rule)
    }
}

extension FailedDependencyRule {
    /// The error of an operation with this rule, after a dependency failed. `nil` if it runs.
    func error(after failure: any Error) -> RequestError? {
        switch self {
        case .run: nil
        case .cancel: RequestError(.dependencyFailed, stage: .start, underlying: failure)
        case .skip: RequestError(.skipped, stage: .start, underlying: failure)
        }
    }
}
