/// What is checked before an operation is ready: failed dependencies, then mutual exclusion, then conditions. A pure
/// value.
///
/// ```
/// collects ── begin ──▶ begun ── end ──▶ over
///    └────────────────── end ─────────────▲
/// ```
///
/// The check happens once. Meanwhile the dependencies include the check, and the operation is not ready. So it holds no place of
/// a queue.
struct Preconditions {
    /// What follows if a dependency fails. A dependency that is not here changes nothing.
    var rules: [ObjectIdentifier: FailedDependencyRule] = [:]
    /// The keys of the mutual exclusion.
    var keys: Set<String> = []
    var conditions: [OperationCondition] = []
    private var phase = Phase.collects

    private enum Phase {
        case collects
        /// The operation waits for its keys, or its conditions are evaluated, or it has passed.
        case begun(Remains)
        case over
    }

    /// What the caller checks outside the lock.
    struct Check: Sendable {
        fileprivate let rules: [(dependency: Operation, rule: FailedDependencyRule)]
        fileprivate let keys: Set<String>
        fileprivate let conditions: [OperationCondition]

        /// Why the operation must not run, if a dependency failed.
        fileprivate var failureOfDependency: RequestError? {
            for (dependency, rule) in rules {
                if let failure = dependency.failureOfFinished { return rule.error(after: failure) }
            }
            return nil
        }
    }

    /// What the caller ends outside the lock.
    struct Remains {
        fileprivate var keys: ExclusionTable.Ticket?
        fileprivate var evaluation: Task<Void, Never>?
        /// They hold code of the user.
        fileprivate var conditions: [OperationCondition] = []

        func end() {
            evaluation?.cancel()
            if let keys { ExclusionTable.release(keys) }
        }
    }

    /// Whether the check has not begun.
    var isCollecting: Bool {
        if case .collects = phase { true } else { false }
    }

    /// Forgets what the failure of a dependency means, unless the check has begun.
    mutating func forgetRule(of dependency: Operation) {
        if isCollecting { rules[ObjectIdentifier(dependency)] = nil }
    }

    /// Begins the check. Returns `nil` if it has begun before.
    ///
    /// - Parameter dependencies: The dependencies in the order of adding. All have finished.
    mutating func begin(after dependencies: [Operation]) -> Check? {
        guard isCollecting else { return nil }
        phase = .begun(Remains())
        let rules = dependencies.compactMap { dependency in
            self.rules[ObjectIdentifier(dependency)].map { (dependency, $0) }
        }
        return Check(rules: rules, keys: keys, conditions: conditions)
    }

    /// Keeps what must be ended. Returns `false` if the operation has ended, or will do so without running.
    fileprivate mutating func keep(_ change: (inout Remains) -> Void = { _ in }) -> Bool {
        guard case .begun(var remains) = phase else { return false }
        change(&remains)
        phase = .begun(remains)
        return true
    }

    /// Records that the operation has ended, or will do so without running.
    mutating func end() -> Remains? {
        defer { (phase, conditions) = (.over, []) }
        var remains = Remains()
        switch phase {
        case .collects: break
        case .begun(let begun): remains = begun
        case .over: return nil
        }
        remains.conditions = conditions
        return remains
    }
}

extension OperationLifecycle {
    /// Adds a dependency. Returns whether it is new, and the gate that keeps the operation from being ready.
    mutating func addDependency(
        _ dependency: Operation, ifFails rule: FailedDependencyRule, of operation: any StartableOperation
    ) -> (isNew: Bool, gate: Operation?) {
        guard isPending else { return (false, nil) }
        let isNew = dependencies.add(dependency)
        var gate: Operation?
        if rule == .run {
            preconditions?.forgetRule(of: dependency)
        } else {
            gate = add(of: operation) { $0.rules[ObjectIdentifier(dependency)] = rule }
        }
        return (isNew, gate ?? (isNew ? makeGateIfSeen(of: operation) : nil))
    }

    /// Adds something that is checked before the operation is ready, unless the check has begun.
    ///
    /// - Returns: The gate that keeps the operation from being ready.
    mutating func add(of operation: any StartableOperation, _ change: (inout Preconditions) -> Void) -> Operation? {
        var all = preconditions ?? Preconditions()
        guard isPending, all.isCollecting else { return nil }
        change(&all)
        preconditions = all
        dependencies.awaitCheck()
        return makeGateIfSeen(of: operation)
    }

    /// Begins the check of the preconditions if all dependencies have finished and something is about to start the
    /// operation: an owner, a queue of ours in which no barrier is before it, or a queue of Foundation's, which has
    /// asked whether it is ready.
    mutating func beginCheck() -> Preconditions.Check? {
        guard preconditions != nil, isPending, dependencies.awaitsOnlyCheck else { return nil }
        switch (owner, queued?.stage) {
        case (.waits, _), (_, .waits(behindBarrier: false)): break
        default: guard wasAskedForReadiness, !awaitsEntry else { return nil }
        }
        return preconditions?.begin(after: dependencies.operations)
    }
}

/// The check of the preconditions, step by step.
extension AsynchronousOperation {
    /// Begins the check if it is due.
    func checkPreconditions() {
        if let check = state.withLock({ $0.beginCheck() }) { run(check) }
    }

    /// Runs the check.
    ///
    /// - Parameter isAsked: Whether a queue asks for readiness now. The queue must not learn the result before it has
    ///   the answer. But the operation asks for its keys at once, so that the order of the queue counts
    ///   there.
    func run(_ check: Preconditions.Check, isAsked: Bool = false) {
        let go: @Sendable (@escaping @Sendable () -> Void) -> Void = { next in
            if isAsked { DispatchQueue.global().async(execute: next) } else { next() }
        }
        if let error = check.failureOfDependency { return go { self.refuse(with: error) } }
        guard !check.keys.isEmpty else { return go { self.evaluate(check.conditions) } }
        let keys = ExclusionTable.enter(check.keys) { [weak self] in
            if let self { go { self.evaluate(check.conditions) } }
        }
        // The operation may have been cancelled meanwhile, or even have finished.
        if state.withLock({ $0.preconditions?.keep { $0.keys = keys } }) != true { ExclusionTable.release(keys) }
    }

    /// Evaluates the conditions, on a Task of their own. Without conditions, the operation is ready.
    private func evaluate(_ conditions: [OperationCondition]) {
        guard !conditions.isEmpty else { return pass() }
        let evaluation = Task.detached(priority: qualityOfService.taskPriority) {
            do {
                for condition in conditions {
                    // The limit of the previous condition may have ended the operation.
                    try Task.checkCancellation()
                    try await condition.evaluate { self.refuse(with: $0) }
                }
                self.pass()
            } catch {
                self.refuse(with: error)
            }
        }
        if state.withLock({ $0.preconditions?.keep { $0.evaluation = evaluation } }) != true { evaluation.cancel() }
    }

    private func pass() {
        state.withLock { state in
            state.preconditions?.keep() == true ? state.open { $0.passCheck() } : nil
        }?.open()
    }

    /// Ends the operation with an error before its start, as `cancel()` ends it with a `CancellationError`.
    func refuse(with error: any Error) {
        if error is CancellationError { return cancel() }
        let error = refusal(error)
        let (action, remains, opening) = state.withLock { state in
            let action = state.refuse(with: error)
            return (action, state.endPreconditions(after: action), state.open { $0.passCheck() })
        }
        if case .resolve(waitsForStart: true) = action { limitWaitForStart() }
        remains?.end()
        opening?.open()
        // A dependency may have been added meanwhile, so that there is nothing to open.
        admitIfReady()
    }
}
