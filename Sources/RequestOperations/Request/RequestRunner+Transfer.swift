/// How an admitted attempt is sent.
extension RequestRunner {
    /// Sends a task, follows redirects, and reads the response. Gives the attempt's rights back.
    func transfer(_ admitted: AdmittedTask, stages: any RequestStages) async throws -> TransportResponse {
        let sent = try beginSending(admitted)
        if let hedging = configuration.hedging, Hedging.allows(sent.task) {
            return try await transfer(sent, hedging: hedging, stages: stages)
        }
        return try await AttemptTransfer(sent, of: self) { head in try stages.validate(head) }.run()
    }

    /// Called when the attempt is about to be sent. Asks the circuit, and counts the request for the budget.
    ///
    /// - Throws: ``RequestError/Code/circuitOpen``. The attempt's rights are then given back.
    func beginSending(_ admitted: AdmittedTask) throws -> AdmittedTask {
        let (attempt, rights, origin) = (admitted.attempt, admitted.rights, Origin(admitted.task.request.url))
        do {
            if let permit = try circuitPermit(for: origin) { rights.hold(permit: permit) }
        } catch {
            requestState.withLock { $0.noteRefusal(in: attempt) }
            rights.giveBackUnused()
            throw error
        }
        let moment = now
        let (isFirst, wantsNewConnection) = requestState.withLock {
            ($0.beginSending(at: moment), $0.failures.lostReusedConnection)
        }
        if isFirst, let budget = configuration.retryBudget {
            configuration.hosts.budgets.countRequest(to: origin, under: budget)
        }
        var sent = admitted
        if wantsNewConnection { sent.task.wantsNewConnection = true }
        return sent
    }

    /// Runs an attempt that is not a request. It holds its rights meanwhile, and then gives them back.
    func perform<Value: Sendable>(
        _ admitted: AdmittedTask, _ attempt: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let sent = try beginSending(admitted)
        do {
            try advance { $0.enter(.transfer, in: sent.attempt) }
            let value = try await stageRunner.run(.transfer, limit: configuration.attemptTimeLimit, attempt)
            sent.rights.giveBack(.succeeded)
            return value
        } catch {
            sent.rights.giveBack(outcome(of: error))
            throw error
        }
    }
}
