/// The steps of a request's way that do not depend on the type of its value, and what is known of it so far.
///
/// The way itself is `URLRequestOperation.work()`. The steps stand here and not in that class since they are compiled once
/// then, not for every type of value, which more than halves their cost.
final class RequestRunner: IdempotencyKeySource {
    let id = RequestID()
    let configuration: RequestConfiguration
    let progress: Locked<RequestProgress>
    private let events: RequestEventLine?

    init(_ request: URLRequest, configuration: RequestConfiguration) {
        self.configuration = configuration
        progress = Locked(RequestProgress(request))
        events = configuration.onEvent.map(RequestEventLine.init)
    }

    /// The time now, read outside of every lock.
    var now: Duration { configuration.requestClock.now }

    /// The request from which each attempt is processed.
    var original: URLRequest { progress.withLock { $0.original.value } }

    var attempts: [Attempt] { progress.withLock { $0.attempts } }

    func retryNow() {
        progress.withLock { $0.wait }?.wake(.retryNow)
    }

    func becameReady() {
        let moment = now
        progress.withLock { $0.becameReady(at: moment) }
    }

    func becameUnready() {
        progress.withLock { $0.becameUnready() }
    }

    // MARK: Beginning and end

    func begin() {
        becameReady()
        let date = Date()
        progress.withLock { $0.startDate = date }
        emit(.began)
    }

    /// Sets the alarm of the request's deadline, until the request has ended.
    ///
    /// - Throws: A ``RequestError`` with the code `timedOut` if the deadline has passed already, in a queue.
    func setAlarm(at deadline: Duration, onDeadline: @escaping @Sendable (RequestError) -> Void) throws {
        let moment = now
        let left = deadline - progress.withLock { $0.elapsed(at: moment) }
        guard left > .zero else { throw passed(deadline) }
        let alarm = configuration.requestClock.alarm(after: left) { [weak self] in
            // Whoever hears of the end must not keep the deadlines of others waiting.
            DispatchQueue.global().async { [weak self] in
                if let self { onDeadline(passed(deadline)) }
            }
        }
        if !progress.withLock({ $0.keep(alarm) }) { alarm.cancel() }
    }

    func stop() {
        let (wait, body) = progress.withLock { progress in
            progress.stop()
            return (progress.wait, progress.takeBody())
        }
        withExtendedLifetime(body) {}
        wait?.cancel()
    }

    /// The operation ended without waiting for the running stage any longer.
    func wasAbandoned() {
        let (stage, held) = progress.withLock { ($0.stage, $0.allHeld) }
        for held in held { held.giveBack(.cancelled) }
        leaveBehind(stage)
    }

    /// Counts a stage that was left behind and tells of it, once. Whoever comes second tells as well, lest the end of the
    /// request be told first.
    func leaveBehind(_ stage: RequestError.Stage) {
        let (isNews, isLast) = progress.withLock { $0.leaveBehind() }
        if isNews { AbandonedStages.countOne() }
        guard isLast else { return emit(.abandoned(stage)) }
        events?.tellLastStage(RequestEvent(id: id, step: .abandoned(stage)))
    }

    /// The running attempt has its value.
    func succeeded() {
        let moment = now
        let (body, release) = progress.withLock { progress in
            progress.endAttempt(nil, at: moment)
            return (progress.takeBody(), progress.takeRelease())
        }
        withExtendedLifetime(body) {}
        noteSuccess(release)
    }

    /// The operation has its result. Nothing is told of the request afterwards.
    func ended(_ error: (any Error)?) {
        let moment = now
        let (alarm, unused, release, held) = progress.withLock { progress in
            progress.endAttempts(error, at: moment)
            progress.stop()
            return (progress.takeAlarm(), progress.takeUnusedDraw(), progress.takeRelease(), progress.takeHeld())
        }
        held.giveBackUnused()
        alarm?.cancel()
        unused?.takeBack()
        release?.settle(.passesOn)
        emit(.ended(error))
    }

    // MARK: Attempts

    /// Begins an attempt.
    func beginAttempt(
        after wake: Wake?, priority: Operation.QueuePriority
    ) throws -> Admission {
        let (moment, date) = (now, Date())
        let admission = progress.withLock {
            $0.beginAttempt(after: wake, at: moment, on: date, priority: priority)
        }
        guard let admission else { throw CancellationError() }
        emit(.attemptBegan(admission.attempt))
        return admission
    }

    func fail(_ error: any Error) -> AttemptFailure {
        let moment = now
        let error = ProblemDetails.noted(in: configuration.errorBodyDecoder?.explained(error) ?? error)
        // What failed beside another attempt was told then.
        let (isNews, failure, release, held) = progress.withLock {
            (
                $0.isRunning,
                $0.fail(error, of: id, deadline: configuration.deadline, at: moment, in: configuration.hosts),
                $0.takeRelease(), $0.takeHeld()
            )
        }
        // What was sent has given it back already.
        held.giveBackUnused()
        if let release { settle(release, by: error) }
        if isNews { tell(failure) }
        return failure
    }

    func tell(_ failure: AttemptFailure) {
        // That of a response whose head was rejected was noted then, before its slot was given back.
        if failure.stage != .validate, let head = failure.head { noteRetryAfter(of: head, at: failure.date) }
        emit(.attemptFailed(failure))
    }

    /// Begins the wait that a decision asks for; throws what the request ends with if it asks for none.
    func beginWait(_ decision: RetryDecision, after failure: AttemptFailure) throws -> BegunWait {
        try enter(.retryDecision)
        emit(.decided(decision))
        switch decision {
        case .stop:
            let reason = configuration.retryPolicy.reasonNotToRetry(failure) ?? .decision
            throw ending(failure.error, in: failure.stage, notRetried: reason)
        case .fail(let error):
            let reason = configuration.retryPolicy.reasonNotToRetry(failure) ?? .decision
            throw ending(error, in: failure.stage, notRetried: reason, isOfAttempt: false)
        case .retry(let delay, let observers, let restartsBackoff, let request):
            progress.withLock { progress in
                if let request { progress.original.replace(with: request) }
                if restartsBackoff { progress.restartBackoff() }
            }
            let plan = try plan(delay, after: failure)
            var wait = try beginWait(
                plan.delay, or: plan.observers(of: observers), after: failure, as: .waits(plan.delay),
                because: plan.reason)
            wait.ownObservers = observers.filter { $0 is any TabledObserver }
            return wait
        }
    }

    /// A wait that was begun.
    struct BegunWait: Sendable {
        let race: RetryWait
        fileprivate let runners: RetryWait.Runners
        /// The observers of this package that may end a second wait, for the budget.
        var ownObservers: [any EarlyRetryObserver] = []
        fileprivate let began: Duration
        fileprivate let knownEnd: Duration
    }

    /// Begins a wait before another attempt, or, without a failure, in one that has not been sent. Each call is followed by one
    /// of ``outcome(of:)``.
    ///
    /// - Parameters:
    ///   - step: How it is told.
    ///   - reason: Why it waits, in a step that says so.
    func beginWait(
        _ delay: Duration, or observers: [any EarlyRetryObserver] = [], after failure: AttemptFailure? = nil,
        as step: RequestEvent.Step, because reason: WaitReason = .backoff
    ) throws -> BegunWait {
        let race = RetryWait()
        let (knownEnd, began) = (knownEnd(after: failure), now)
        try advance { $0.enterWait(race) }
        if events != nil { tell(step, because: reason) }
        let runners = race.begin(
            delay, or: observers, after: failure, in: configuration.hosts, clock: configuration.requestClock,
            random: configuration.randomSource)
        return BegunWait(race: race, runners: runners, began: began, knownEnd: knownEnd)
    }

    /// What ended a wait, awaited once.
    ///
    /// - Throws: `CancellationError` when the request was stopped or the Task cancelled.
    func outcome(of wait: BegunWait) async throws -> Wake {
        do {
            return end(wait, by: try await wait.race.winner)
        } catch {
            leave(wait)
            throw error
        }
    }

    @inline(never)
    private func end(_ wait: BegunWait, by ending: RetryWait.Ending) -> Wake {
        leave(wait)
        emit(.woke(ending.reason))
        return Wake(
            waited: now - wait.began, reason: ending.reason, knownEnd: wait.knownEnd, release: ending.release)
    }

    @inline(never)
    private func leave(_ wait: BegunWait) {
        wait.runners.stop()
        progress.withLock { $0.wait = nil }
    }

    // MARK: Stages

    /// Enters a stage of user code; whether it runs right here, since it has neither a queue nor a time limit.
    @inline(__always)
    func entersHere(_ stage: UserStage) throws -> Bool {
        try enter(stage.stage)
        return configuration.runsDirectly(stage)
    }

    /// The original request as the adapters make it, if none of them suspends.
    func adapted() throws -> URLRequest? {
        let adapters = configuration.adapters
        switch configuration.reachOfAdapters {
        case .fields: return progress.withLock { $0.original.adapted(by: adapters) }
        case .request: return try adapters.reduce(into: original) { try $1.edit(&$0, keys: self) }
        case .anything: return nil
        }
    }

    func idempotencyKey() -> String {
        // Made outside of the lock, as random numbers are the system's.
        if let key = progress.withLock({ $0.original.idempotencyKey }) { return key }
        let new = IdempotencyKey.new()
        return progress.withLock { $0.original.keep(new) }
    }

    /// Runs a stage of user code that was entered, on its queue and within its time limit.
    @inline(never)
    func apart<Output: Sendable>(
        _ stage: UserStage, _ body: @escaping @Sendable () async throws -> Output
    ) async throws -> Output {
        try await stageRunner.run(
            stage.stage, on: configuration.queue(for: stage), limit: configuration.stageTimeLimits[stage], body)
    }

    /// Every stage begins here: after a cancel none does, nor in an attempt that was left behind. (The Task may learn of the
    /// cancel a little later.)
    func enter(_ stage: RequestError.Stage) throws {
        try advance { $0.enter(stage) }
    }

    /// Changes the progress, unless that says that the request, or the attempt, goes no further.
    ///
    /// - Throws: `CancellationError`. Were that declared, each caller would set memory aside for one, whose size is not known
    ///   when this is compiled; so it is with those that call this.
    func advance(_ change: (inout RequestProgress) -> Bool) throws {
        if !progress.withLock({ change(&$0) }) { throw CancellationError() }
    }

    var stageRunner: StageRunner {
        StageRunner(clock: configuration.requestClock) { [weak self] stage in
            self?.leaveBehind(stage)
        }
    }

    @inline(__always)
    func emit(_ step: @autoclosure () -> RequestEvent.Step) {
        if events != nil { tell(step) }
    }

    // Inlined, its temporaries would be part of what every waiting operation keeps.
    @inline(never)
    private func tell(_ step: () -> RequestEvent.Step) {
        events?.tell(RequestEvent(id: id, step: step()))
    }

    /// Tells of a wait.
    private func tell(_ step: RequestEvent.Step, because reason: WaitReason) {
        var event = RequestEvent(id: id, step: step)
        if case .waits = step { event.waitReason = reason }
        events?.tell(event)
    }

    // MARK: Transfer

    /// Sends the request and reads its response, following redirects.
    @inline(__always)
    func transfer(
        _ ticket: Admission.Ticket, validate: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        try await AttemptTransfer(of: self, ticket, validate: validate).run()
    }
}

extension Error {
    /// Whether this says that the work was cancelled, by whomever.
    var meansCancellation: Bool {
        switch self {
        case is CancellationError: true
        case let error as URLError: error.code == .cancelled
        case let failure as TransferFailure: failure.error.meansCancellation
        default: false
        }
    }
}
