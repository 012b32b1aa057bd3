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
