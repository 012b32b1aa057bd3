/// What is checked before an operation is ready: failed dependencies, then mutual exclusion, then conditions. A pure
/// value.
///
/// ```
/// collects ── begin ──▶ checks ── pass ──▶ passed
///    │                    │                  │
///    └──── end ───────────┴──── end ─────────┴──▶ over
/// ```
///
/// The check happens once. Meanwhile the table of dependencies has a hold, and the operation is not ready. So it holds no
/// place of a queue.
struct Preconditions {
    /// What follows if a dependency fails. One that is not here changes nothing.
    var rules: [ObjectIdentifier: FailedDependencyRule] = [:]
    /// The keys of the mutual exclusion.
    var keys: Set<String> = []
    var conditions: [OperationCondition] = []
    private var phase = Phase.collects

    private enum Phase {
        case collects
        /// The operation waits for its keys, or its conditions are evaluated.
        case checks(Exclusion?, evaluation: Task<Void, Never>?)
        case passed(Exclusion?)
        case over
    }

    /// What the caller checks outside the lock.
    struct Check: Sendable {
        fileprivate let rules: [(dependency: Operation, rule: FailedDependencyRule)]
        let keys: Set<String>
        let conditions: [OperationCondition]

        /// Why the operation must not run, if a dependency failed.
        var failureOfDependency: RequestError? {
            for (dependency, rule) in rules {
                if let failure = dependency.failureOfFinished { return rule.error(after: failure) }
            }
            return nil
        }
    }

    /// Whether the check has not begun.
    var isCollecting: Bool {
        if case .collects = phase { true } else { false }
    }

    /// Begins the check. Returns `nil` if it has begun before.
    ///
    /// - Parameter dependencies: The dependencies in the order of adding. All have finished.
    mutating func begin(after dependencies: [Operation]) -> Check? {
        guard isCollecting else { return nil }
        phase = .checks(nil, evaluation: nil)
        let rules = dependencies.compactMap { dependency in
            self.rules[ObjectIdentifier(dependency)].map { (dependency, $0) }
        }
        return Check(rules: rules, keys: keys, conditions: conditions)
    }

    /// Keeps the operation's part of the mutual exclusion. Returns `false` if it is not needed any more.
    mutating func keep(_ exclusion: Exclusion) -> Bool {
        switch phase {
        case .checks(_, let evaluation): phase = .checks(exclusion, evaluation: evaluation)
        // The keys were free and there are no conditions, so this came after the end of the check.
        case .passed: phase = .passed(exclusion)
        case .collects, .over: return false
        }
        return true
    }

    /// Keeps the Task that evaluates the conditions. Returns `false` if it must be cancelled.
    mutating func keep(_ evaluation: Task<Void, Never>) -> Bool {
        switch phase {
        case .checks(let exclusion, _): phase = .checks(exclusion, evaluation: evaluation)
        case .passed: break
        case .collects, .over: return false
        }
        return true
    }

    /// Records that the operation may run. Returns `false` if it has ended meanwhile.
    mutating func pass() -> Bool {
        guard case .checks(let exclusion, _) = phase else { return false }
        phase = .passed(exclusion)
        return true
    }

    /// What the caller ends outside the lock.
    struct Remains {
        fileprivate var exclusion: Exclusion?
        fileprivate var evaluation: Task<Void, Never>?
        /// They hold code of the user.
        fileprivate let conditions: [OperationCondition]

        func end() {
            evaluation?.cancel()
            exclusion?.giveBack()
        }
    }

    /// Records that the operation has ended, or will do so without running.
    mutating func end() -> Remains? {
        defer { (phase, conditions) = (.over, []) }
        var remains = Remains(conditions: conditions)
        switch phase {
        case .over: return nil
        case .collects: break
        case .checks(let exclusion, let evaluation): (remains.exclusion, remains.evaluation) = (exclusion, evaluation)
        case .passed(let exclusion): remains.exclusion = exclusion
        }
        return remains
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
    /// - Parameter isAsked: Whether a queue asks for readiness now. It must not hear of the result before it has the
    ///   answer. But the operation enters the lines for its keys at once, so that the order of the queue counts there.
    func run(_ check: Preconditions.Check, isAsked: Bool = false) {
        let go: @Sendable (@escaping @Sendable () -> Void) -> Void = { next in
            if isAsked { DispatchQueue.global().async(execute: next) } else { next() }
        }
        if let error = check.failureOfDependency { return go { self.refuse(with: error) } }
        guard !check.keys.isEmpty else { return go { self.evaluate(check.conditions) } }
        let exclusion = ExclusionTable.shared.enter(check.keys) { [weak self] in
            if let self { go { self.evaluate(check.conditions) } }
        }
        // The operation may have been cancelled meanwhile, or even have finished.
        if state.withLock({ $0.preconditions?.keep(exclusion) }) != true { exclusion.giveBack() }
    }

    /// Evaluates the conditions, on a Task of their own. Without conditions, the operation is ready.
    private func evaluate(_ conditions: [OperationCondition]) {
        guard !conditions.isEmpty else { return pass() }
        let evaluation = Task.detached(priority: qualityOfService.taskPriority) {
            do {
                for condition in conditions { try await condition.evaluate() }
            } catch {
                return self.refuse(with: error)
            }
            self.pass()
        }
        if state.withLock({ $0.preconditions?.keep(evaluation) }) != true { evaluation.cancel() }
    }

    private func pass() {
        state.withLock { state in
            state.preconditions?.pass() == true ? state.openGate { $0.release() } : nil
        }?.open()
    }

    /// Ends an operation that no queue has with an error, without running it.
    func end(refusedWith error: any Error) {
        refuse(with: error)
        startWhenReady(by: MemberStarter(for: nil))
    }

    /// Ends the operation with an error before its start, as `cancel()` ends it with a `CancellationError`.
    private func refuse(with error: any Error) {
        if error is CancellationError { return cancel() }
        let error = refusal(error)
        let (action, remains, opening) = state.withLock { state in
            let action = state.lifecycle.refuse(with: error)
            let remains = state.endPreconditions(after: action)
            return (action, remains, state.openGate { $0.release() })
        }
        if case .settle(waitsForStart: true) = action { limitWaitForStart() }
        remains?.end()
        opening?.open()
        // A dependency may have been added meanwhile, so that there is nothing to open.
        startIfReady()
        enterQueueIfReady()
    }
}
