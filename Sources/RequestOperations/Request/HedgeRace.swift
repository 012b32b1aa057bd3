/// The two attempts for one response, each in its own Task: the first, 0, and its hedge, 1.
///
/// We never await user code in a task group, because a group cannot return before its slowest child. We cancel the
/// loser, and nothing waits for its Task.
final class HedgeRace: Sendable {
    private struct Runner {
        var task: Task<Void, Never>?
        /// `nil` when the Task has returned.
        var stage: RequestError.Stage?
        /// What the attempt showed about its host, for the case that it loses.
        var outcome = CircuitState.Outcome.cancelled
        /// Whether the attempt lost before it was sent.
        var isUnsent = false
    }

    private struct State {
        var contest = HedgeContest()
        var runners = [Runner(), Runner()]
        /// What the losing attempt holds until its Task returns.
        var loser: (id: Int, rights: AttemptRights)?
    }

    private let runner: RequestRunner
    private let stages: any RequestStages
    private let state = Locked(State())
    private let answer = Answer<TransportResponse>()
    /// Whether it is time for a hedge. `false` if there will be none.
    private let turn = Answer<Bool>()

    init(of runner: RequestRunner, _ stages: any RequestStages) {
        self.runner = runner
        self.stages = stages
    }

    /// Sends the first attempt and reads its response. Sends a hedge if there is no answer in time.
    func run(_ first: AdmittedTask, hedgedAfter delay: Duration) async throws -> TransportResponse {
        try await withTaskCancellationHandler {
            start(0, in: .transfer) { [self] in await send(0, first) }
            let alarm = runner.configuration.requestClock.alarm(after: max(delay, .zero)) { [turn] in
                turn.resume(with: .success(true))
            }
            let isDue = try await turn.value
            alarm.cancel()
            if isDue, runner.requestState.withLock({ $0.awaitsAnswer(first.attempt) }) {
                start(1, in: .process) { [self] in await hedge(beside: first) }
            }
            return try await answer.value
        } onCancel: {
            cancel()
        }
    }

    /// Prepares a hedge, and sends it if that is allowed now.
    private func hedge(beside first: AdmittedTask) async {
        do {
            let task = try await task(of: PreparedAttempt(first.attempt + 1, isHedge: true))
            let (rights, draw) = try takeAtOnce(for: task, in: first.queue)
            let (moment, date) = (runner.now, Date())
            let number: Int? = state.withLock { state in
                guard state.contest.isOpen else { return nil }
                let number = runner.requestState.withLock {
                    $0.beginHedge(task, holding: rights, drawing: draw, beside: first.attempt, at: moment, on: date)
                }
                if number != nil { state.contest.join() }
                return number
            }
            guard let number else {
                // An answer has come.
                draw?.takeBack()
                return rights.release(.cancelled, isUnused: true)
            }
            runner.emit(.hedgeBegan(number))
            await send(1, AdmittedTask(attempt: number, task: task, isAwaited: false, queue: first.queue))
        } catch  where state.withLock({ $0.contest.isDecided }) {
            // The hedge is no longer needed.
        } catch {
            runner.emit(.notHedged("\(error as? Hedging.Refusal ?? .failed(error))"))
        }
    }

    private func task(of hedge: PreparedAttempt) async throws -> TransportTask {
        let (runner, stages) = (runner, stages)
        let request = try await runner.run(.process) { try await stages.process(runner.original) }
        try Task.checkCancellation()
        var task = try await runner.run(.makeTask) { try await stages.makeTask(for: request) }
        try Task.checkCancellation()
        runner.complete(&task, of: hedge, isProcessedByAdapters: stages.isProcessedByAdapters)
        return task
    }

    /// Takes all that a hedge needs, if all of it is available now: places, a permit and the draw on the budget.
    /// Otherwise it takes nothing.
    private func takeAtOnce(
        for task: TransportTask, in queue: RequestLimiter?
    ) throws(Hedging.Refusal) -> (AttemptRights, RetryDraw?) {
        let (configuration, origin) = (runner.configuration, Origin(task.request.url))
        guard Hedging.allows(task) else { throw .notRepeatable }
        guard runner.timeLeft > .zero else { throw .tooLate }
        let silenceEnd = configuration.hosts.visit(origin) { $0.silenceEnd(at: $1) }
        if configuration.sharesRetryAfter, silenceEnd > 0 { throw .hostLeftAlone }
        func slot(of limiter: RequestLimiter) throws(Hedging.Refusal) -> RequestLimiter.Slot {
            guard let slot = limiter.slotAtOnce(for: origin) else { throw .noSlot }
            return slot
        }
        var rights = AttemptRights()
        do {
            rights.place = try queue.map { try slot(of: $0) }
            rights.slot = try runner.ownLimiter.map { try slot(of: $0) }
            rights.permit = try configuration.hosts.admit(to: origin, asking: configuration.circuitBreaker)?.permit
            guard let budget = configuration.retryBudget else { return (rights, nil) }
            let drawn = configuration.hosts.draw(budget.cost, from: budget, of: origin)
            guard let drawn else { throw Hedging.Refusal.budgetExhausted }
            return (rights, drawn.draw)
        } catch {
            rights.release(.cancelled, isUnused: true)
            throw error as? Hedging.Refusal ?? .circuitOpen
        }
    }

    /// Runs an attempt, or the preparation of the hedge, in a Task. It inherits the task-local values of the caller.
    private func start(_ id: Int, in stage: RequestError.Stage, _ body: @escaping @Sendable () async -> Void) {
        state.withLock { $0.runners[id].stage = stage }
        let task = Task {
            await body()
            state.withLock { $0.runners[id].stage = nil }
            releaseRights(of: id)
        }
        let isLate = state.withLock { state in
            state.runners[id].task = task
            return state.contest.isDecided && !state.contest.isWon(by: id)
        }
        if isLate { task.cancel() }
    }

    /// Sends an attempt and reads its response. It wins when its head is accepted, and reports its progress from then on.
    private func send(_ id: Int, _ sent: AdmittedTask) async {
        state.withLock { $0.runners[id].stage = .transfer }
        var sent = sent
        if let onProgress = sent.task.onProgress {
            sent.task.onProgress = { [self] progress in
                if state.withLock({ $0.contest.isWon(by: id) }) { onProgress(progress) }
            }
        }
        do {
            // It may have lost before it is sent.
            guard runner.requestState.withLock({ $0.enter(.transfer, in: sent.attempt) }) else {
                state.withLock { $0.runners[id].isUnsent = true }
                runner.release(.cancelled, isUnused: true, in: sent.attempt)
                throw CancellationError()
            }
            let response = try await runner.transfer(sent) { [self, attempt = sent.attempt] head in
                try stages.validate(head)
                guard state.withLock({ $0.contest.win(id) }) else { throw CancellationError() }
                decide(for: id, attempt)
            }
            resolve(state.withLock { $0.contest.end(id) }, .success(response))
        } catch {
            fail(id, error, in: sent.attempt)
        }
    }

    /// Cancels both attempts. The last of them ends the race.
    private func cancel() {
        state.withLock { $0.contest.cancel() }
        stop([0, 1])
    }

    private func fail(_ id: Int, _ error: any Error, in attempt: Int) {
        let outcome = runner.outcome(of: error)
        state.withLock { $0.runners[id].outcome = outcome }
        let early = state.withLock { $0.contest.isDecided ? $0.contest.end(id) : nil }
        if let early { return resolve(early, .failure(error)) }
        // Without a hedge, its failure is judged with the decision.
        if let alone = state.withLock({ $0.contest.failAlone(id, error, in: attempt) }) {
            return resolve(alone, .failure(error))
        }
        // Judging runs the user's code, so it uses a copy of the state. A cancelled attempt has no failure to judge.
        let context = runner.failureContext
        var copy = runner.requestState.withLock { $0 }
        let failure = error.meansCancellation ? nil : copy.failBeside(attempt, error, in: context)
        let isFinal = failure.map { !runner.configuration.retryPolicy.isTransient($0) } ?? true
        let weight = failure?.retryAfter != nil ? 2 : failure?.head != nil ? 1 : 0
        let failed = HedgeContest.Failed(id: id, attempt: attempt, error: error, weight: weight)
        let verdict = state.withLock { $0.contest.fail(failed, isFinal: isFinal) }
        // The failure that is decided upon is reported with the decision. The other is reported here.
        let isDecisive = if case .fails(let decisive) = verdict { decisive.id == id } else { false }
        let other =
            isFinal || isDecisive
            ? nil : runner.requestState.withLock { $0.failBeside(attempt, error, in: context) }
        if let other { runner.report(other, of: error) }
        resolve(verdict, .failure(error))
    }

    private func resolve(_ verdict: HedgeContest.Verdict, _ result: Result<TransportResponse, any Error>) {
        switch verdict {
        case .goesOn: break
        case .answers: answer.resume(with: result)
        case .fails(let failed):
            decide(for: failed.id, failed.attempt)
            answer.resume(with: .failure(failed.error))
        }
    }

    /// Continues the request with one attempt and stops the other.
    private func decide(for id: Int, _ attempt: Int) {
        let moment = runner.now
        if let rights = runner.requestState.withLock({ $0.lead(attempt, at: moment) }) {
            let isOver = state.withLock { state in
                state.loser = (1 - id, rights)
                return state.runners[1 - id].stage == nil
            }
            if isOver { releaseRights(of: 1 - id) }
            runner.emit(.hedgeDecided(attempt))
        }
        stop([1 - id])
    }

    private func stop(_ ids: [Int]) {
        turn.resume(with: .success(false))
        let running = state.withLock { state in ids.map { state.runners[$0] }.filter { $0.stage != nil } }
        guard !running.isEmpty else { return }
        // The grace is longer than that of a stage with a time limit.
        _ = DeadlineHeap.shared.schedule(at: .now + .milliseconds(100)) { [self] in
            DispatchQueue.global().async { [self] in leaveBehind(ids) }
        }
        // Cancelling runs handlers in user code. The winner must not wait for them before it reads its body.
        DispatchQueue.global().async { for one in running { one.task?.cancel() } }
    }

    /// Stops waiting for Tasks that have not returned.
    private func leaveBehind(_ ids: [Int]) {
        for id in ids { releaseRights(of: id) }
        for stage in state.withLock({ state in ids.compactMap { state.runners[$0].stage } }) {
            runner.leaveBehind(stage)
        }
    }

    /// Releases what an attempt holds, if it has lost.
    private func releaseRights(of id: Int) {
        let (rights, ended) = state.withLock { state in
            (state.loser?.id == id ? state.loser.take()?.rights : nil, state.runners[id])
        }
        rights?.release(ended.outcome, isUnused: ended.isUnsent)
    }
}

/// Decides which of the two attempts gives the answer. A pure value.
struct HedgeContest {
    struct Failed {
        let id: Int
        let attempt: Int
        let error: any Error
        /// How informative the failure is: 2 for a `Retry-After`, 1 for another response, 0 for none.
        let weight: Int
    }

    private enum Phase {
        /// No attempt has answered yet. One may have failed.
        case open(Failed?)
        case won(by: Int)
        /// Both attempts failed, or one failed in a way that is final.
        case lost
        /// The last attempt that ends gives the answer.
        case cancelled
    }

    /// What follows when an attempt has ended.
    enum Verdict {
        case goesOn
        /// Its result is the answer, unless there is one.
        case answers
        /// The request fails with this failure. It may be that of the other attempt.
        case fails(Failed)
    }

    private var phase = Phase.open(nil)
    private var running: Set = [0]

    /// Whether the hedge can still join: no attempt has failed or won.
    var isOpen: Bool { if case .open(nil) = phase { true } else { false } }
    var isDecided: Bool { if case .open = phase { false } else { true } }
    func isWon(by id: Int) -> Bool { if case .won(id) = phase { true } else { false } }

    mutating func join() { running.insert(1) }

    mutating func cancel() { phase = .cancelled }

    /// Records that the head of a response was accepted. Returns whether that attempt goes on with its body.
    mutating func win(_ id: Int) -> Bool {
        guard !isDecided, running.contains(id) else { return false }
        phase = .won(by: id)
        return true
    }

    /// Records that an attempt ended after the contest was decided.
    mutating func end(_ id: Int) -> Verdict {
        running.remove(id)
        if case .cancelled = phase, running.isEmpty { return .answers }
        return isWon(by: id) ? .answers : .goesOn
    }

    /// Records that an attempt without a hedge failed, which ends the contest. Returns `nil` if there was a hedge.
    mutating func failAlone(_ id: Int, _ error: any Error, in attempt: Int) -> Verdict? {
        guard case .open(nil) = phase, running == [id] else { return nil }
        return fail(Failed(id: id, attempt: attempt, error: error, weight: 0), isFinal: true)
    }

    /// Records that an attempt failed. A final failure ends the contest.
    mutating func fail(_ failed: Failed, isFinal: Bool) -> Verdict {
        guard case .open(let former) = phase, running.remove(failed.id) != nil else { return end(failed.id) }
        guard isFinal || running.isEmpty else {
            phase = .open(failed)
            return .goesOn
        }
        phase = .lost
        guard let former, !isFinal else { return .fails(failed) }
        return .fails((former.weight, -former.id) > (failed.weight, -failed.id) ? former : failed)
    }
}

/// An attempt and its hedge.
extension RequestState {
    /// Whether the request goes on with an attempt that has no hedge, and no response to it has come.
    func awaitsAnswer(_ attempt: Int) -> Bool {
        guard case .attempting = phase, attempts.count == 1 else { return false }
        return attempts[0].number == attempt && log.runs(attempt) && attempts[0].head == nil
            && log[attempt].redirects.isEmpty
    }

    /// Begins a hedge that is about to be sent beside an attempt. Returns its number, or `nil` if that attempt no
    /// longer awaits its answer.
    mutating func beginHedge(
        _ task: TransportTask, holding rights: AttemptRights, drawing draw: RetryDraw? = nil, beside attempt: Int,
        at moment: Duration, on date: Date
    ) -> Int? {
        guard awaitsAnswer(attempt) else { return nil }
        let number = log.begin(on: date, at: elapsed(at: moment), isHedge: true)
        attempts.append(AttemptState(hedge: number, sending: task, holding: rights, draw: draw))
        return number
    }

    /// Makes the request go on with one of two attempts. The other has lost.
    ///
    /// - Returns: What the other one holds. `nil` if there is no other.
    mutating func lead(_ attempt: Int, at moment: Duration) -> AttemptRights? {
        guard attempts.count == 2, let index = attempts.firstIndex(where: { $0.number == attempt }) else { return nil }
        var loser = attempts.remove(at: 1 - index)
        log.end(loser.number, CancellationError(), at: elapsed(at: moment))
        return loser.takeRights() ?? AttemptRights()
    }
}
