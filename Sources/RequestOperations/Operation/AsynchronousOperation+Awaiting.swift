/// How Tasks, closures and other operations wait for the result.
extension AsynchronousOperation {
    /// The value. It can be awaited any number of times.
    ///
    /// A cancelled Task stops waiting at once, with a `CancellationError`. If it was the last waiting Task, the
    /// operation is cancelled too. The operation goes on if something else needs its result: a ``whenFinished(_:)``
    /// closure, a dependent ``AsynchronousOperation``, or the chain, group or batch that runs it.
    ///
    /// An operation that is cancelled before its start finishes when it is started. If nothing starts it, a Task that
    /// awaits it waits at most 50 ms. If the operation is in no queue yet, use the queue's `value(of:)`.
    public final var value: Success {
        get async throws {
            if let result { return try result.get() }
            let answer = Answer<Success>()
            let id = ObjectIdentifier(answer)
            addAwaiter(id) { answer.resume(with: $0) }
            return try await withTaskCancellationHandler {
                try await answer.value
            } onCancel: {
                leave(id)
                answer.resume(with: .failure(CancellationError()))
            }
        }
    }

    /// Calls a closure once with the result, as soon as a Task that awaits the value would have it. Until then the operation
    /// goes on for the caller when nothing else awaits it any more.
    final func addAwaiter(_ id: ObjectIdentifier, _ body: @escaping @Sendable (Result<Success, any Error>) -> Void) {
        // If there is no result yet, the operation was cancelled or refused before its start.
        let awaiter: OperationLifecycle.Call = { [unowned self] in
            body(result ?? .failure(resolvedError ?? CancellationError()))
        }
        switch state.withLock({ $0.addAwaiter(id, awaiter) }) {
        case .wait: break
        case .waitForStart: limitWaitForStart()
        case .goOn: awaiter()
        }
    }

    private var resolvedError: (any Error)? { state.withLock { $0.resolvedError } }

    /// A Task that awaited the result was cancelled.
    private func leave(_ awaiter: ObjectIdentifier) {
        guard state.withLock({ $0.removeAwaiter(awaiter) }) else { return }
        // Some dependents may have been freed, or may not wait any more.
        if state.withLock({ $0.hasDependents }) { siftDependents() }
        cancel { !$0.isAwaited && !$0.hasDependents }
    }

    /// Calls a closure once with the result, on the ``completionQueue``. If there is a result, the call is made at
    /// once.
    public final func whenFinished(_ completion: @escaping @Sendable (Result<Success, any Error>) -> Void) {
        // The operation itself calls its subscribers, after it has ended.
        subscribeToFinish { [unowned self] in
            let finished: AsynchronousOperation = self
            callBackAfterEnd { completion(finished.outcome(of: finished.state.withLock { $0.ending! })) }
        }
    }

    /// Calls a subscriber when the operation has finished, on the thread that finishes it, or else at once.
    ///
    /// - Parameters:
    ///   - wantsResult: Whether the operation must go on for the subscriber when nothing awaits it any more.
    ///   - subscriber: Called once.
    func subscribeToFinish(wantsResult: Bool = true, _ subscriber: @escaping @Sendable () -> Void) {
        if state.withLock({ $0.subscribe(wantsResult: wantsResult, subscriber) }) { subscriber() }
    }

    /// Notifies a dependent operation when this one finishes, or at once if it has finished.
    func add(_ dependent: Locked<OperationLifecycle>) {
        switch state.withLock({ $0.dependents?.add(dependent) }) {
        case nil: dependent.noteFinished(ObjectIdentifier(self))
        case true?: siftDependents()
        case false?: break
        }
    }

    private func siftDependents() {
        let id = ObjectIdentifier(self)
        let sifted = state.withLock { $0.dependents?.takeAll() }?.sifted(of: id)
        if let sifted, state.withLock({ $0.dependents?.putBack(sifted) }) == nil { sifted.notify(of: id) }
    }
}

/// The Tasks and closures that get the end.
struct Listeners {
    enum Listener {
        case subscriber(OperationLifecycle.Call, wantsResult: Bool)
        /// A Task that awaits the outcome.
        case awaiter(OperationLifecycle.Call, ObjectIdentifier)
    }

    private var all: [Listener] = []

    mutating func append(_ listener: Listener) {
        all.append(listener)
    }

    var hasAwaiter: Bool {
        all.contains { if case .awaiter = $0 { true } else { false } }
    }

    var wantResult: Bool {
        all.contains { if case .subscriber(_, wantsResult: false) = $0 { false } else { true } }
    }

    mutating func removeAwaiter(_ id: ObjectIdentifier) -> Bool {
        let index = all.firstIndex { if case .awaiter(_, id) = $0 { true } else { false } }
        if let index { all.remove(at: index) }
        return index != nil
    }

    mutating func removeAwaiters() -> [OperationLifecycle.Call] {
        defer { all.removeAll { if case .awaiter = $0 { true } else { false } } }
        return all.compactMap { if case .awaiter(let call, _) = $0 { call } else { nil } }
    }

    /// Calls the Tasks that wait, and then the subscribers, each in the order in which they came.
    func callAll() {
        for case .awaiter(let call, _) in all { call() }
        for case .subscriber(let call, _) in all { call() }
    }
}

/// A state of an operation that you can subscribe to.
public enum ObservedState: Sendable, Hashable {
    /// An attempt has failed, and the operation waits before the next one. Only a ``RetryingOperation`` reaches this
    /// state, once for each wait.
    case retrying
    /// The operation has ended, with a value or an error.
    case finished
    /// The operation has ended as cancelled.
    case cancelled
}

extension AsynchronousOperation {
    /// Calls a closure when the operation reaches a state, or at once if it is in that state.
    ///
    /// The closure runs where `whenFinished` closures run. It is called once; for ``ObservedState/retrying``, once for
    /// each wait. An operation ends either as finished or as cancelled. If a client made the operation, the closures are
    /// called in the order of its steps.
    ///
    /// ```swift
    /// operation.subscribe(to: .finished) { print("done") }
    /// ```
    public final func subscribe(to state: ObservedState, _ body: @escaping @Sendable () -> Void) {
        switch state {
        case .retrying: subscribeToRetries { [weak self] in self?.callBack(body) }
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

/// An operation of this package, whatever the type of its value.
protocol FinishAnnouncing: Operation {
    /// The error of an operation that has finished with one.
    var failure: (any Error)? { get }

    /// Calls an observer once when the operation has finished, or at once if it has.
    func subscribeToFinish(wantsResult: Bool, _ observer: @escaping @Sendable () -> Void)

    /// Takes out the dependencies of an operation that nothing else refers to.
    func takeDependencies() -> [Operation]
}

extension AsynchronousOperation: StartableOperation {
    var failure: (any Error)? {
        guard case .failed(let error)? = state.withLock({ $0.ending }) else { return nil }
        return error
    }
}
