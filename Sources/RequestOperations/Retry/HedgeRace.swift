/// The parallel attempts for one response, each in its own Task.
///
/// We never await user code in a task group, because a group cannot return before its slowest child. We cancel the
/// losing attempts, and nothing waits for their Tasks.
final class HedgeRace: Sendable {
    /// A Task of this race that has not returned.
    private struct Runner {
        var stage: RequestError.Stage
        /// `nil` until the Task has been created.
        var task: Task<Void, Never>?
    }

    private struct State {
        var contest = HedgeContest()
        /// The numbers of the attempts that were sent.
        var attempts: [Int: Int] = [:]
        var runners: [Int: Runner] = [:]
        /// The slots and permits that the losing attempts still hold.
        var rightsOfLost: [AttemptRights] = []
        /// Resumed when it is time for a hedge, or when there will be none.
        var turn: Answer<Bool>?

        func others(than id: Int?) -> [Runner] {
            runners.filter { $0.key != id }.map(\.value)
        }
    }

    private let runner: RequestRunner
    private let state = Locked(State())
    private let answer = Answer<TransportResponse>()

    init(by runner: RequestRunner) {
        self.runner = runner
    }

    var response: TransportResponse {
        get async throws { try await answer.value }
    }

    var isDecided: Bool { state.withLock { $0.contest.isDecided } }

    /// Waits until it is time for a hedge. Returns `false` if no hedge may be sent any more.
    func isOpen(after delay: Duration) async throws -> Bool {
        let turn = Answer<Bool>()
        let isOpen = state.withLock { state in
            state.turn = turn
            return state.contest.isOpen
        }
        guard isOpen else { return false }
        let alarm = runner.configuration.requestClock.alarm(after: max(delay, .zero)) {
            turn.resume(with: .success(true))
        }
        defer { alarm.cancel() }
        return try await turn.value
    }

    /// Registers a hedge that is about to be sent. Returns `false` if it must not be sent. If it is then not sent after
    /// all, ``leaves(_:)`` must be called.
    func joins(_ id: Int) -> Bool {
        state.withLock { $0.contest.join(id) }
    }

    func leaves(_ id: Int) {
        settle(state.withLock { $0.contest.end(id) })
    }

    /// Runs the preparation of a hedge, or an attempt, in its own Task. The Task inherits the task-local values of the
    /// caller.
    func start(_ id: Int, in stage: RequestError.Stage, _ body: @escaping @Sendable () async -> Void) {
        state.withLock { $0.runners[id] = Runner(stage: stage) }
        let task = Task {
            await body()
            _ = state.withLock { $0.runners.removeValue(forKey: id) }
        }
        let isLate = state.withLock { state in
            // The Task may already have returned.
            state.runners[id]?.task = task
            return state.contest.isDecided && !state.contest.isWon(by: id)
        }
        if isLate { task.cancel() }
    }

    /// Runs the transfer of an attempt and reads its response.
    func send(_ id: Int, _ transfer: AttemptTransfer, in attempt: Int) async {
        state.withLock { state in
            state.attempts[id] = attempt
            state.runners[id]?.stage = .transfer
        }
        do {
            let response = try await transfer.run()
            settle(state.withLock { $0.contest.end(id) }, .success(response))
        } catch {
            end(id, error, in: attempt)
        }
    }

    /// Returns the task, changed so that it reports progress only once its attempt has won.
    func entered(_ task: TransportTask, as id: Int) -> TransportTask {
        guard let onProgress = task.onProgress else { return task }
        var task = task
        task.onProgress = { [self] progress in
            if state.withLock({ $0.contest.isWon(by: id) }) { onProgress(progress) }
        }
        return task
    }

    /// Returns a validation that decides the race. If it accepts a head, its attempt wins, or it throws because another
    /// has won.
    func decisive(
        _ validate: @escaping @Sendable (ResponseHead) throws -> Void, for id: Int
    ) -> @Sendable (ResponseHead) throws -> Void {
        { [self] head in
            try validate(head)
            guard state.withLock({ $0.contest.win(id) }) else { throw CancellationError() }
            decide(for: id)
        }
    }

    /// Cancels all attempts because the operation was cancelled. The last of them ends the race.
    func cancel() {
        let verdict = state.withLock { $0.contest.cancel() }
        stopOthers(than: nil)
        settle(verdict)
    }

    // MARK: Results

    /// Handles an attempt that ended with an error.
    private func end(_ id: Int, _ error: any Error, in attempt: Int) {
        if state.withLock({ $0.contest.isWon(by: id) }) {
            return settle(state.withLock { $0.contest.end(id) }, .failure(error))
        }
        if let verdict = state.withLock({ $0.contest.failAlone(id, error) }) { return settle(verdict) }
        // A cancelled attempt has no failure to judge, no matter what cancelled it.
        let failure = error.meansCancellation ? nil : runner.judge(error, of: attempt)
        let isFinal = failure.map { !runner.configuration.retryPolicy.isTransient($0) } ?? true
        let weight: HedgeContest.Weight =
            failure?.retryAfter != nil ? .retryAfter : failure?.head != nil ? .response : .noResponse
        let verdict = state.withLock {
            $0.contest.fail(HedgeContest.Failed(id: id, error: error, weight: weight), isFinal: isFinal)
        }
        // The failure that goes to the retry decision is reported when that decision is made. We report the others
        // here.
        let isDecisive = if case .fails(let failed) = verdict { failed.id == id } else { false }
        if !isFinal, !isDecisive { runner.failBeside(error, of: attempt) }
        settle(verdict)
    }

    private func settle(_ verdict: HedgeContest.Verdict, _ result: Result<TransportResponse, any Error>? = nil) {
        switch verdict {
        case .goesOn:
            state.withLock { $0.contest.isOpen ? nil : $0.turn }?.resume(with: .success(false))
        case .answers:
            // Only the end of an attempt gives this verdict, and its caller always passes a result.
            answer.resume(with: result!)
        case .fails(let failed):
            decide(for: failed.id)
            answer.resume(with: .failure(failed.error))
        case .cancelled:
            answer.resume(with: .failure(CancellationError()))
        }
    }

    /// Continues the request with one attempt and stops the others.
    private func decide(for id: Int) {
        if let attempt = state.withLock({ $0.attempts[id] }) {
            let rights = runner.lead(attempt)
            state.withLock { $0.rightsOfLost = rights }
        }
        stopOthers(than: id)
    }

    private func stopOthers(than id: Int?) {
        let (others, turn) = state.withLock { ($0.others(than: id), $0.turn) }
        turn?.resume(with: .success(false))
        guard !others.isEmpty else { return }
        _ = DeadlineHeap.shared.schedule(at: .now + grace) { [self] in
            DispatchQueue.global().async { self.leaveBehind(others: id) }
        }
        // Cancelling runs handlers in user code. The winner must not wait for them before it reads its body.
        DispatchQueue.global().async {
            for other in others { other.task?.cancel() }
        }
    }

    /// Stops waiting for the losing attempts that have not returned.
    private func leaveBehind(others id: Int?) {
        let (others, rights) = state.withLock { ($0.others(than: id), $0.rightsOfLost) }
        for rights in rights { rights.giveBack(.cancelled) }
        for other in others { runner.leaveBehind(other.stage) }
    }

    /// How long we wait for losing attempts. This is longer than a stage with a time limit waits for user code.
    private let grace = Duration.milliseconds(100)
}

/// Decides which of several parallel attempts gives the answer. A pure value. It uses ids of its own, because a hedge
/// gets its attempt number only when it is sent. The first attempt has the id 0.
struct HedgeContest {
    /// A failure that is not yet the result, because another attempt may still give an answer.
    struct Failed {
        let id: Int
        let error: any Error
        let weight: Weight
    }

    /// How much a failure tells us, in ascending order.
    enum Weight: Int {
        case noResponse
        case response
        case retryAfter
    }

    private enum Phase {
        /// No attempt has answered yet. The value lists those that failed.
        case open([Failed])
        case won(by: Int)
        /// The request was cancelled.
        case cancelled
        /// All attempts failed, or one failed in a way that is final.
        case lost
    }

    /// What happens after an attempt ended.
    enum Verdict {
        /// Nothing: other attempts still run, or another one has already answered.
        case goesOn
        /// The result of this attempt is the answer.
        case answers
        /// The request fails with this failure. It may be that of another attempt.
        case fails(Failed)
        /// The request was cancelled, and this was the last attempt.
        case cancelled
    }

    private var phase = Phase.open([])
    private var running: Set<Int> = [0]

    /// Whether an attempt can still join: none has failed or won.
    var isOpen: Bool {
        if case .open(let failed) = phase { failed.isEmpty } else { false }
    }

    /// Whether the outcome is settled: an attempt won, all are lost, or the request was cancelled.
    var isDecided: Bool {
        if case .open = phase { false } else { true }
    }

    func isWon(by id: Int) -> Bool {
        if case .won(id) = phase { true } else { false }
    }

    /// Adds a hedge that is about to be sent. Returns `false` if it must not be sent.
    mutating func join(_ id: Int) -> Bool {
        guard isOpen else { return false }
        running.insert(id)
        return true
    }

    /// Records that an attempt's response head was accepted. Returns whether that attempt goes on with its body.
    mutating func win(_ id: Int) -> Bool {
        guard case .open = phase, running.contains(id) else { return false }
        phase = .won(by: id)
        return true
    }

    mutating func cancel() -> Verdict {
        phase = .cancelled
        return running.isEmpty ? .cancelled : .goesOn
    }

    /// Records that an attempt ended with an answer, or that a losing attempt ended.
    mutating func end(_ id: Int) -> Verdict {
        let wasRunning = running.remove(id) != nil
        switch phase {
        case .won(id) where wasRunning: return .answers
        case .cancelled where wasRunning && running.isEmpty: return .cancelled
        case .open(let failed): return verdict(on: failed)
        case .won, .cancelled, .lost: return .goesOn
        }
    }

    /// Records that an attempt failed.
    ///
    /// - Parameter isFinal: Whether the failure is final and so ends the contest.
    mutating func fail(_ failure: Failed, isFinal: Bool) -> Verdict {
        guard case .open(var failed) = phase, running.remove(failure.id) != nil else { return end(failure.id) }
        guard !isFinal else {
            phase = .lost
            return .fails(failure)
        }
        failed.append(failure)
        return verdict(on: failed)
    }

    /// Records the failure of the only attempt, as without hedging. Returns `nil` and changes nothing if another
    /// attempt runs or has failed, or if the outcome is settled.
    mutating func failAlone(_ id: Int, _ error: any Error) -> Verdict? {
        guard isOpen, running == [id] else { return nil }
        return fail(Failed(id: id, error: error, weight: .noResponse), isFinal: true)
    }

    private mutating func verdict(on failed: [Failed]) -> Verdict {
        phase = .open(failed)
        let decisive = failed.max { ($0.weight.rawValue, -$0.id) < ($1.weight.rawValue, -$1.id) }
        guard running.isEmpty, let decisive else { return .goesOn }
        phase = .lost
        return .fails(decisive)
    }
}
