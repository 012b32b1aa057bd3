/// How far a request has come: what its errors tell, what ends with it. A pure value.
struct RequestProgress: Sendable {
    // In an order in which the small ones fill the gaps: all of this is kept for every operation that waits in a queue.
    var original: OriginalRequest
    /// What is known of the running attempt.
    var known = KnownOfAttempt()
    private(set) var attempts: [Attempt] = []
    /// The attempts that run, or have failed, beside the leading one, while that has no answer.
    private var contenders: [Contender] = []
    private var attemptCount = 0
    /// How many of them were hedges.
    private var hedgeCount = 0
    /// The number of the attempt that the request goes on with, and that `stage`, `held` and `known` are of: the last, unless
    /// hedges were sent beside it.
    private var leader = 0
    /// The attempt whose failure was decided upon last.
    private var failedAttempt = 0
    private var backoffStep = 0
    /// The attempts that a circuit breaker refused.
    private var refusals = 0
    /// The attempts that were answered 429 with a `Retry-After`.
    private var tooManyRequests = 0
    /// What the running attempt holds.
    var held = HeldByAttempt()
    /// What the retry after the last failure drew on a budget.
    private var draw: RetryDraw?
    /// That of the running attempt, if the recovery of its host brought it forward.
    var release: Release?
    /// The wait that is under way.
    var wait: RetryWait?
    /// How the request stands in its queue; `nil` without one.
    var turn: QueueTurn?
    /// The operation's priority when the running attempt began.
    var priority = Operation.QueuePriority.normal
    /// The stage that runs now.
    private(set) var stage = RequestError.Stage.process
    /// When the operation became ready, on the request's timepiece.
    private(set) var readySince: Duration?
    /// Whether the request was cancelled, its deadline passed or it has its result: it enters no stage any more.
    private var isStopped = false
    /// Whether it was told, since the request was stopped, that a stage was left behind.
    private var isLeftBehind = false
    /// Whether the retry for which something was drawn was sent, or is about to be.
    private var isDrawSpent = false
    /// Whether the attempt that failed last lost a connection that others had used before. The next one makes its own.
    private(set) var lostReusedConnection = false
    /// When the first attempt was handed to the transport, on the request's timepiece.
    var firstSent: Duration?
    /// When the operation was started.
    var startDate: Date?
    /// Rings at the deadline.
    private var alarm: Alarm?

    /// An attempt beside the leading one, with what is known of it.
    private struct Contender: Sendable {
        let attempt: Int
        var stage: RequestError.Stage
        var known: KnownOfAttempt
        var held: HeldByAttempt
    }

    init(_ request: URLRequest) {
        original = OriginalRequest(request)
    }

    /// What attempts hold.
    var allHeld: [HeldByAttempt] { [held] + contenders.map(\.held) }

    /// The place of the leading attempt; those that were begun beside it follow.
    private var leading: Int { attempts.count - 1 - (attemptCount - leader) }

    mutating func becameReady(at moment: Duration) {
        if readySince == nil { readySince = moment }
    }

    mutating func becameUnready() {
        readySince = nil
    }

    /// Keeps the alarm of the deadline until the end; whether that is still to come.
    mutating func keep(_ alarm: Alarm) -> Bool {
        guard !isStopped else { return false }
        self.alarm = alarm
        return true
    }

    mutating func takeAlarm() -> Alarm? {
        defer { alarm = nil }
        return alarm
    }

    mutating func stop() {
        isStopped = true
    }

    /// A stage was left behind; whether that is news, and whether no other follows it. Of a request that was stopped two
    /// can say so, who stopped the operation and who watches over a stage with a limit; both mean the one stage that ran.
    mutating func leaveBehind() -> (isNews: Bool, isLast: Bool) {
        defer { isLeftBehind = isStopped }
        return (!isLeftBehind, isStopped)
    }

    // Each of the following says whether the request goes on; if not, nothing was changed.

    mutating func enter(_ next: RequestError.Stage) -> Bool {
        guard !isStopped else { return false }
        stage = next
        return true
    }

    /// Enters a wait, which a stop from now on cancels.
    mutating func enterWait(_ wait: RetryWait) -> Bool {
        guard enter(.wait) else { return false }
        self.wait = wait
        return true
    }

    /// Enters a stage of an attempt, unless that was left behind.
    mutating func enter(_ next: RequestError.Stage, in attempt: Int) -> Bool {
        runs(attempt) ? enter(next) : beside(attempt) { $0.enter(next, in: attempt) }
    }

    /// Whether an attempt is the leading one and has not ended.
    private func runs(_ attempt: Int) -> Bool {
        attempt == leader && attempts[leading].ended == nil
    }

    mutating func receive(_ head: ResponseHead, in attempt: Int) -> Bool {
        guard runs(attempt) else { return beside(attempt) { $0.receive(head, in: attempt) } }
        guard enter(.validate) else { return false }
        known.head = head
        attempts[leading].status = head.isHTTP ? head.status : nil
        return true
    }

    mutating func follow(_ redirect: URL, in attempt: Int) -> Bool {
        guard runs(attempt) else { return beside(attempt) { $0.follow(redirect, in: attempt) } }
        guard enter(.transfer) else { return false }
        attempts[leading].redirects.append(redirect)
        known.wasRedirected = true
        known.head = nil
        return true
    }

    mutating func note(_ task: TransportTask) -> Bool {
        guard !isStopped else { return false }
        known.request = task.request
        known.bodyIsReplayable = task.body.isReplayable
        return true
    }

    /// Whether the head of the response to an attempt was accepted. (A stage in which it was rejected is not left by `enter`.)
    func hasAcceptedHead(in attempt: Int) -> Bool {
        guard attempt != leader, let contender = contenders.first(where: { $0.attempt == attempt }) else {
            return known.head != nil && stage == .transfer
        }
        return contender.known.head != nil && contender.stage == .transfer
    }

    mutating func note(_ response: TransportResponse, in attempt: Int) -> Bool {
        guard runs(attempt) else { return beside(attempt) { $0.note(response, in: attempt) } }
        guard !isStopped else { return false }
        known.body = response.body
        attempts[leading].boxedTimings = response.boxedTimings
        attempts[leading].bodySize = response.bodySize
        return true
    }

    /// Begins an attempt; `nil` if the request was stopped.
    ///
    /// - Parameters:
    ///   - wake: What ended the wait before.
    ///   - moment: The time.
    ///   - date: The date.
    ///   - priority: The operation's.
    mutating func beginAttempt(
        after wake: Wake?, at moment: Duration, on date: Date, priority: Operation.QueuePriority = .normal
    ) -> Admission? {
        guard !isStopped else { return nil }
        attemptCount += 1
        leader = attemptCount
        // A sign that came early says nothing about how long to wait: should it have been wrong, the same delay follows.
        // (Once: a host whose signs are wrong time and again would have no backoff.)
        let wasEarly = attempts.last { !$0.isHedge }?.wokenBy?.isSign == true
        if wake?.reason.isSign == true, !wasEarly { backoffStep = max(backoffStep - 1, 0) }
        append(
            Attempt(
                number: attemptCount, startDate: date, began: elapsed(at: moment), waited: wake?.waited ?? .zero,
                wokenBy: wake?.reason))
        known = KnownOfAttempt()
        release = wake?.release
        stage = .process
        self.priority = priority
        return Admission(of: attemptCount, after: wake)
    }

    private mutating func append(_ attempt: Attempt) {
        if attempts.count == Attempt.keptAtMost { attempts.remove(at: Attempt.keptFirst) }
        attempts.append(attempt)
    }

    /// The running attempt is about to be sent; whether it is the first one that is.
    mutating func beginSending(with held: HeldByAttempt, at moment: Duration) -> Bool {
        self.held = held
        isDrawSpent = true
        guard firstSent == nil else { return false }
        firstSent = moment
        return true
    }

    /// Notes what was drawn for the retry that follows; `false` if none does, since the request has ended meanwhile.
    mutating func note(_ draw: RetryDraw) -> Bool {
        guard !isStopped else { return false }
        self.draw = draw
        isDrawSpent = false
        return true
    }

    /// What was drawn for a retry that was not sent yet.
    var unusedDraw: RetryDraw? { isDrawSpent ? nil : draw }

    /// What was drawn for the attempt that was sent last.
    var spentDraw: RetryDraw? { isDrawSpent ? draw : nil }

    /// Gives up what was drawn for a retry that is not made.
    mutating func takeUnusedDraw() -> RetryDraw? {
        guard let unusedDraw else { return nil }
        draw = nil
        return unusedDraw
    }

    mutating func endAttempt(_ error: (any Error)?, at moment: Duration) {
        guard !attempts.isEmpty else { return }
        end(leading, error, at: moment)
    }

    /// Ends all attempts that run.
    mutating func endAttempts(_ error: (any Error)?, at moment: Duration) {
        endAttempt(error, at: moment)
        for contender in contenders { end(leading + contender.attempt - leader, error, at: moment) }
    }

    private mutating func end(_ place: Int, _ error: (any Error)?, at moment: Duration) {
        guard attempts[place].ended == nil else { return }
        attempts[place].ended = elapsed(at: moment)
        attempts[place].error = error
    }

    /// Ends the attempt as failed and says what the retry decision is made from.
    mutating func fail(
        _ thrown: any Error, of id: RequestID? = nil, deadline: Duration?, at moment: Duration,
        in hosts: HostRegistry = .shared
    ) -> AttemptFailure {
        // Out of another stage it is an error like any other.
        let transfer = stage.isOfTransfer ? thrown as? TransferFailure : nil
        if let transfer {
            if let timings = transfer.timings { noteWait(in: timings) }
            known.head = known.head ?? transfer.head
            known.body = transfer.bodyPrefix
            attempts[leading].timings = transfer.timings
            attempts[leading].bodySize = transfer.bodySize
        }
        known.body = known.bodyPrefix
        var error = transfer?.error ?? thrown
        if let ours = error as? RequestError {
            // What it tells of another request comes before what is known of this one.
            error = ours.about(request, id).completed(by: known)
        } else if transfer == nil, stage == .transfer, let urlError = error as? URLError {
            // A transport throws it as it is; in its failure it stands for what code of the user's threw.
            error = RequestError(RequestError.Code(urlError), stage: .transfer, underlying: urlError)
                .completed(by: known).about(request, id)
        }
        let (elapsed, sinceSending) = (elapsed(at: moment), elapsedSinceSending(at: moment))
        endAttempt(error, at: moment)
        // It may have ended beside another attempt, before all was known of the error.
        attempts[leading].error = error
        failedAttempt = leader
        backoffStep += 1
        // The retry that may follow has drawn nothing yet.
        if isDrawSpent { (draw, isDrawSpent) = (nil, false) }
        // The second in a row says more than that a connection was old.
        let lostReused = transfer?.lostReusedConnection ?? false
        let skipsBackoff = lostReused && !lostReusedConnection
        if known.wasRefused { refusals += 1 } else { lostReusedConnection = lostReused }
        let date = Date()
        if known.head?.status == 429, known.head?.retryAfter(at: date) != nil { tooManyRequests += 1 }
        return AttemptFailure(
            error, attempt: leader, request: request, stage: stage, head: known.head,
            requestMayHaveBeenProcessed: known.wasRedirected
                || transfer?.requestMayHaveBeenProcessed
                    ?? stage.isAfterSending,
            bodyIsReplayable: known.bodyIsReplayable, backoffStep: backoffStep, elapsed: sinceSending ?? .zero,
            timeLeft: deadline.map { $0 - elapsed }, date: date,
            uncounted: refusals + leader - (attemptCount - hedgeCount), tooManyRequests: tooManyRequests,
            redirect: attempts[leading].redirects.last, wasRefused: known.wasRefused,
            skipsBackoff: skipsBackoff, wasSent: sinceSending != nil, isOfDecoder: known.isOfDecoder(error),
            hosts: hosts)
    }

    mutating func restartBackoff() {
        backoffStep = 0
    }

    // MARK: Hedges

    /// Whether an attempt leads and neither it nor one beside it has failed or has the head of any response.
    func awaitsAnswer(_ attempt: Int) -> Bool {
        guard !isStopped, runs(attempt) else { return false }
        return attempts[leading...].allSatisfy { $0.ended == nil }
            && ([known] + contenders.map(\.known)).allSatisfy { $0.head == nil && !$0.wasRedirected }
    }

    /// Begins a hedge, which is about to be sent, beside an attempt, if that still awaits its answer; returns its number.
    mutating func beginHedge(
        _ task: TransportTask, holding held: HeldByAttempt, drawing draw: RetryDraw? = nil, beside attempt: Int,
        at moment: Duration, on date: Date
    ) -> Int? {
        guard awaitsAnswer(attempt) else { return nil }
        attemptCount += 1
        hedgeCount += 1
        append(
            Attempt(
                number: attemptCount, startDate: date, began: elapsed(at: moment), waited: .zero, wokenBy: nil,
                isHedge: true))
        let known = KnownOfAttempt(
            request: task.request, bodyIsReplayable: task.body.isReplayable, hedgeDraw: draw)
        contenders.append(Contender(attempt: attemptCount, stage: .transfer, known: known, held: held))
        return attemptCount
    }

    /// Ends an attempt as failed while others run beside it; `nil` if it does not run any more. Nothing is decided upon
    /// that, so the backoff stays where it is.
    mutating func failBeside(
        _ attempt: Int, _ thrown: any Error, of id: RequestID? = nil, deadline: Duration?, at moment: Duration,
        in hosts: HostRegistry
    ) -> AttemptFailure? {
        let (step, refused, throttled, failed) = (backoffStep, refusals, tooManyRequests, failedAttempt)
        let (spent, isSpent) = (draw, isDrawSpent)
        let lostReused = lostReusedConnection
        defer {
            lostReusedConnection = lostReused
            (backoffStep, refusals, tooManyRequests, failedAttempt) = (step, refused, throttled, failed)
            (draw, isDrawSpent) = (spent, isSpent)
        }
        guard !runs(attempt) else { return fail(thrown, of: id, deadline: deadline, at: moment, in: hosts) }
        var failure: AttemptFailure?
        _ = beside(attempt) { progress in
            failure = progress.failBeside(attempt, thrown, of: id, deadline: deadline, at: moment, in: hosts)
            return true
        }
        return failure
    }

    /// Has the request go on with one of the attempts that run beside each other: the others have lost. Returns what
    /// they hold; `nil` if there are no others.
    mutating func lead(_ attempt: Int, at moment: Duration) -> [HeldByAttempt]? {
        guard !contenders.isEmpty else { return nil }
        if let place = contenders.firstIndex(where: { $0.attempt == attempt }) { exchange(place) }
        defer { contenders = [] }
        for lost in contenders { end(leading + lost.attempt - leader, CancellationError(), at: moment) }
        return contenders.map(\.held)
    }

    /// Has a change see an attempt beside the leading one as the leading one; `false` if there is none such, or it ended.
    private mutating func beside(_ attempt: Int, _ change: (inout RequestProgress) -> Bool) -> Bool {
        guard let place = contenders.firstIndex(where: { $0.attempt == attempt }) else { return false }
        exchange(place)
        defer { exchange(place) }
        return runs(attempt) && change(&self)
    }

    private mutating func exchange(_ place: Int) {
        let contender = contenders[place]
        contenders[place] = Contender(attempt: leader, stage: stage, known: known, held: held)
        (leader, stage, known, held) = (contender.attempt, contender.stage, contender.known, contender.held)
    }

    /// Whether the leading attempt runs.
    var isRunning: Bool { runs(leader) }

    /// The response of the attempt that ended last, without its body.
    var response: TransportResponse? {
        guard !attempts.isEmpty, !isRunning, let head = known.head else { return nil }
        let attempt = attempts[leading]
        return TransportResponse(head: head, bodySize: attempt.bodySize, timings: attempt.timings)
    }

    /// Whether the leading attempt is a hedge.
    var isHedge: Bool { attempts[leading].isHedge }

    /// The attempt before the leading one whose failure was decided upon.
    var lastFailed: Attempt? { attempts.last { $0.number == failedAttempt } }
}
