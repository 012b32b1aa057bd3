/// The override points that a hedge goes through.
struct HedgeStages: Sendable {
    let isProcessedByAdapters: Bool
    let process: @Sendable (URLRequest) async throws -> URLRequest
    let makeTask: @Sendable (URLRequest) async throws -> TransportTask
    let validate: @Sendable (ResponseHead) throws -> Void
}

/// What an attempt does that may be helped by another beside it.
extension RequestRunner {
    /// Sends the request as ``transfer(_:validate:)`` does, and hedges if there is no answer in time.
    @inline(never)
    func transfer(
        _ ticket: Admission.Ticket, hedging: Hedging, stages: HedgeStages
    ) async throws -> TransportResponse {
        guard Hedging.allows(ticket.task) else { return try await transfer(ticket, validate: stages.validate) }
        let (race, attempt) = (HedgeRace(by: self), ticket.attempt)
        let task = race.entered(ticket.task, as: 0)
        let first = try AttemptTransfer(
            of: self, Admission.Ticket(attempt: attempt, task: task, held: ticket.held),
            validate: race.decisive(stages.validate, for: 0))
        return try await withTaskCancellationHandler {
            race.start(0, in: .transfer) { await race.send(0, first, in: attempt) }
            var last = 0
            while last < min(hedging.maximumHedges, Attempt.mostHedges), try await race.isOpen(after: hedging.delay),
                progress.withLock({ $0.awaitsAnswer(attempt) })
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

    /// Prepares a hedge and sends it, if that is allowed at this moment.
    private func hedge(_ id: Int, beside attempt: Int, in race: HedgeRace, _ stages: HedgeStages) async {
        do {
            let request = try await apart(.process) { [self] in try await stages.process(original) }
            try Task.checkCancellation()
            var task = try await apart(.makeTask) { try await stages.makeTask(request) }
            try Task.checkCancellation()
            task.complete(from: configuration, isProcessedByAdapters: stages.isProcessedByAdapters)
            let entered = race.entered(task, as: id)
            let held = try take(for: entered)
            guard let number = try begin(entered, as: id, holding: held, beside: attempt, in: race) else { return }
            let transfer = AttemptTransfer(
                ofHedge: number, by: self, entered, holding: held,
                validate: race.decisive(stages.validate, for: id))
            await race.send(id, transfer, in: number)
        } catch  where race.isDecided {
            // Nobody needs it any more.
        } catch {
            emit(.notHedged(error as? Hedging.Refusal ?? .failed(error)))
        }
    }

    /// Takes what a hedge holds while it is in flight.
    private func take(
        for task: TransportTask
    ) throws(Hedging.Refusal) -> HeldByAttempt {
        let url = task.request.url
        guard Hedging.allows(task) else { throw .notRepeatable }
        guard timeLeft(by: configuration.retryPolicy) > .zero else { throw .tooLate }
        let origin = Origin(url)
        if let silences = configuration.silences, silences.timeLeft(for: origin) > .zero { throw .hostLeftAlone }
        guard var held = slotsAtOnce(for: origin) else { throw .noSlot }
        do {
            held.permit = try permit(for: origin)
            return held
        } catch {
            held.giveBackUnused()
            throw .circuitOpen
        }
    }

    /// A slot of each limiter, if there is one of each now; otherwise none is held.
    private func slotsAtOnce(for origin: Origin) -> HeldByAttempt? {
        let (turn, priority) = progress.withLock { ($0.turn, $0.priority) }
        var held = HeldByAttempt()
        if let turn {
            held.queueSlot = turn.limiter.slotAtOnce(for: origin, at: turn.limiter.newPlace(priority))
            guard held.queueSlot != nil else { return nil }
        }
        if let limiter = ownLimiter {
            held.slot = limiter.slotAtOnce(for: origin, at: limiter.newPlace(priority))
            guard held.slot != nil else {
                held.giveBackUnused()
                return nil
            }
        }
        return held
    }

    /// Begins a hedge, which draws on the budget; returns its number. One that is not sent gives back what it holds.
    ///
    /// - Returns: `nil` if an answer has come, so that it is not needed.
    private func begin(
        _ task: TransportTask, as id: Int, holding held: HeldByAttempt, beside attempt: Int, in race: HedgeRace
    ) throws(Hedging.Refusal) -> Int? {
        let draw: RetryDraw?
        switch configuration.retryBudget.map({
            configuration.hosts.budgets.withdrawHedge(to: Origin(task.request.url), under: $0)
        }) {
        case .granted(_, let drawn)?: draw = drawn
        case nil: draw = nil
        case .refused?:
            held.giveBackUnused()
            throw .budgetExhausted
        }
        let (moment, date) = (now, Date())
        guard race.joins(id),
            let number = progress.withLock({
                $0.beginHedge(task, holding: held, drawing: draw, beside: attempt, at: moment, on: date)
            })
        else {
            draw?.takeBack()
            held.giveBackUnused()
            race.leaves(id)
            return nil
        }
        emit(.hedgeBegan(number))
        return number
    }

    /// Has the request go on with one of the attempts that run beside each other. Returns what the others hold.
    func lead(_ attempt: Int) -> [HeldByAttempt] {
        let moment = now
        guard let held = progress.withLock({ $0.lead(attempt, at: moment) }) else { return [] }
        emit(.hedgeDecided(attempt))
        return held
    }

    /// The failure of an attempt beside others, as it would be if it ended with an error.
    func judge(_ error: any Error, of attempt: Int) -> AttemptFailure? {
        let moment = now
        var copy = progress.withLock { $0 }
        return copy.failBeside(
            attempt, error, of: id, deadline: configuration.deadline, at: moment, in: configuration.hosts)
    }

    /// Ends an attempt as failed while others run beside it, or were decided for.
    func failBeside(_ error: any Error, of attempt: Int) {
        let moment = now
        let failure = progress.withLock {
            $0.failBeside(attempt, error, of: id, deadline: configuration.deadline, at: moment, in: configuration.hosts)
        }
        if let failure { tell(failure) }
    }
}
