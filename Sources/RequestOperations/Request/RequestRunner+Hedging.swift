/// An attempt with hedges.
extension RequestRunner {
    /// Sends a task and reads its response. Sends hedges if there is no answer in time.
    func transfer(
        _ sent: AdmittedTask, hedging: Hedging, stages: any RequestStages
    ) async throws -> TransportResponse {
        let (race, attempt) = (HedgeRace(by: self), sent.attempt)
        var first = sent
        first.task = race.entered(sent.task, as: 0)
        let transfer = AttemptTransfer(first, of: self, validate: race.decisive(stages.validate, for: 0))
        return try await withTaskCancellationHandler {
            race.start(0, in: .transfer) { await race.send(0, transfer, in: attempt) }
            var last = 0
            while last < min(hedging.maximumHedges, Attempt.mostHedges), try await race.isOpen(after: hedging.delay),
                requestState.withLock({ $0.awaitsAnswer(attempt) })
            {
                last += 1
                let id = last
                race.start(id, in: .process) { [self] in await hedge(id, beside: attempt, in: race, stages) }
            }
            return try await race.response
        } onCancel: {
            race.cancel()
        }
    }

    /// Prepares a hedge, and sends it if that is allowed now.
    private func hedge(_ id: Int, beside attempt: Int, in race: HedgeRace, _ stages: any RequestStages) async {
        do {
            let request = try await run(.process) { [self] in try await stages.process(original) }
            try Task.checkCancellation()
            var task = try await run(.makeTask) { try await stages.makeTask(for: request) }
            try Task.checkCancellation()
            complete(&task, isProcessedByAdapters: stages.isProcessedByAdapters)
            let entered = race.entered(task, as: id)
            let rights = try takeRights(for: entered)
            guard let hedge = try begin(entered, as: id, holding: rights, beside: attempt, in: race) else { return }
            let transfer = AttemptTransfer(hedge, of: self, validate: race.decisive(stages.validate, for: id))
            await race.send(id, transfer, in: hedge.attempt)
        } catch  where race.isDecided {
            // The hedge is no longer needed.
        } catch {
            emit(.notHedged(error as? Hedging.Refusal ?? .failed(error)))
        }
    }

    /// Takes what a hedge holds while it is in flight.
    private func takeRights(for task: TransportTask) throws(Hedging.Refusal) -> AttemptRights {
        guard Hedging.allows(task) else { throw .notRepeatable }
        guard timeLeft(by: configuration.retryPolicy) > .zero else { throw .tooLate }
        let origin = Origin(task.request.url)
        let isSilent = configuration.hosts.visit(origin) { $0.silenceEnd(at: $1) } > 0
        if configuration.sharesRetryAfter, isSilent { throw .hostLeftAlone }
        let rights = AttemptRights()
        do {
            try takeSlotsAtOnce(for: origin, rights)
            if let permit = try circuitPermit(for: origin) { rights.hold(permit: permit) }
            return rights
        } catch {
            rights.giveBackUnused()
            throw error as? Hedging.Refusal ?? .circuitOpen
        }
    }

    /// Takes a slot of each limiter, if each has one now.
    private func takeSlotsAtOnce(for origin: Origin, _ rights: AttemptRights) throws {
        if let turn = requestState.withLock({ $0.turn }) {
            guard let place = turn.limiter.slotAtOnce(for: origin) else { throw Hedging.Refusal.noSlot }
            try rights.hold(place: place)
        }
        if let limiter = ownLimiter {
            guard let slot = limiter.slotAtOnce(for: origin) else { throw Hedging.Refusal.noSlot }
            try rights.hold(slot: slot)
        }
    }

    /// Begins a hedge and draws on the budget. If the hedge is not sent, everything is given back.
    ///
    /// - Returns: `nil` if an answer has come, so that the hedge is not needed.
    private func begin(
        _ task: TransportTask, as id: Int, holding rights: AttemptRights, beside attempt: Int, in race: HedgeRace
    ) throws(Hedging.Refusal) -> AdmittedTask? {
        let draw = configuration.retryBudget.flatMap {
            configuration.hosts.draw($0.cost, from: $0, of: Origin(task.request.url))?.draw
        }
        guard draw != nil || configuration.retryBudget == nil else {
            rights.giveBackUnused()
            throw .budgetExhausted
        }
        let (moment, date) = (now, Date())
        guard race.joins(id),
            let number = requestState.withLock({
                $0.beginHedge(task, holding: rights, drawing: draw, beside: attempt, at: moment, on: date)
            })
        else {
            draw?.takeBack()
            rights.giveBackUnused()
            race.leaves(id)
            return nil
        }
        emit(.hedgeBegan(number))
        return AdmittedTask(attempt: number, task: task, rights: rights, isAwaited: false)
    }

    /// Makes the request go on with one of its parallel attempts. Returns what the others hold.
    func lead(_ attempt: Int) -> [AttemptRights] {
        let moment = now
        guard let rights = requestState.withLock({ $0.lead(attempt, at: moment) }) else { return [] }
        emit(.hedgeDecided(attempt))
        return rights
    }

    /// The failure of one of several parallel attempts, as it would be if the attempt ended with this error.
    func judge(_ error: any Error, of attempt: Int) -> AttemptFailure? {
        let context = failureContext
        var copy = requestState.withLock { $0 }
        return copy.failBeside(attempt, error, in: context)
    }

    /// Ends an attempt as failed, while others run in parallel or have been decided for.
    func failBeside(_ error: any Error, of attempt: Int) {
        let context = failureContext
        let failure = requestState.withLock { $0.failBeside(attempt, error, in: context) }
        if let failure { report(failure, of: error) }
    }
}

/// Attempts that run in parallel.
extension RequestState {
    /// Whether the request goes on with an attempt, and neither it nor a hedge has failed or received a head.
    func awaitsAnswer(_ attempt: Int) -> Bool {
        guard case .attempting = phase, attempts.first?.number == attempt else { return false }
        return attempts.allSatisfy { log.runs($0.number) && $0.awaitsHead }
    }

    /// Begins a hedge that is about to be sent beside an attempt. Returns its number, or `nil` if that attempt no
    /// longer awaits its answer.
    mutating func beginHedge(
        _ task: TransportTask, holding rights: AttemptRights, drawing draw: RetryDraw? = nil, beside attempt: Int,
        at moment: Duration, on date: Date
    ) -> Int? {
        guard awaitsAnswer(attempt) else { return nil }
        let number = log.begin(on: date, at: elapsed(at: moment), isHedge: true)
        attempts.append(AttemptState(hedge: number, sending: task, rights: rights, draw: draw))
        return number
    }

    /// Makes the request go on with one of the attempts. The others have lost.
    ///
    /// - Returns: What the others hold. `nil` if there are no others.
    mutating func lead(_ attempt: Int, at moment: Duration) -> [AttemptRights]? {
        guard attempts.count > 1, let leader = attempts.first(where: { $0.number == attempt }) else { return nil }
        let lost = attempts.filter { $0.number != attempt }
        for loser in lost { log.end(loser.number, CancellationError(), at: elapsed(at: moment)) }
        attempts = [leader]
        return lost.map(\.rights)
    }
}
