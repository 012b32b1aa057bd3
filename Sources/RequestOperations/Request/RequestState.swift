/// The state of one request: what it is doing, and what has happened so far. A pure state machine.
///
/// ```
/// fresh ── beginAttempt ──▶ attempting ── fail ──▶ deciding ── enterWait ──▶ waiting
///                               ▲                                               │
///                               └──────────────── beginAttempt ─────────────────┘
/// ```
///
/// From every phase `stop` leads to `stopped`. Then no stage and no attempt begins any more.
struct RequestState: Sendable {
    enum Phase: Sendable {
        /// No attempt has begun. The first one takes over this place of the queue, if the request has one.
        case fresh(RequestLimiter.Slot?)
        case attempting
        case deciding
        indirect case waiting(RetryWait, after: AttemptFailure)
        /// The request was cancelled, its deadline passed, or it has its result. The value is the stage that it was in.
        case stopped(in: RequestError.Stage)
        /// The operation no longer waits for the stage in which it was stopped.
        case abandoned(RequestError.Stage)
    }

    /// The draw of a retry on the budget.
    private enum BudgetDraw: Sendable {
        case none
        case unused(RetryDraw)
        /// The retry was sent, or is about to be.
        case spent(RetryDraw)
    }

    private(set) var phase = Phase.fresh(nil)
    var original: OriginalRequest
    /// What the attempts are.
    var work: AttemptedWork
    /// The attempt that the request goes on with, or its last one. While there is no answer, its hedge follows it.
    var attempts: [AttemptState] = []
    var log = AttemptLog()
    var failures = FailureCount()
    private var draw = BudgetDraw.none
    /// The release of the running attempt, if the recovery of its host released it early.
    private var release: Release?
    /// Where the attempts take their places in the queue. `nil` without a queue.
    private(set) var turn: QueuePlace?
    /// The operation's priority when the running attempt began.
    private(set) var priority = Operation.QueuePriority.normal
    /// When the operation became ready, on the request's clock.
    private var readySince: Duration?
    /// When the first attempt was handed to the transport, on the request's clock.
    var firstSent: Duration?
    /// Whether other requests waited for the host when the running attempt was sent, or the attempt is a probe.
    private(set) var isAwaited = false
    private(set) var startDate: Date?
    /// When the request ended, counted from when the operation became ready.
    private var ended: Duration?
    /// Whether a recorder wants the requests and heads of the attempts.
    private let keepsExchanges: Bool
    /// Why the request waits before its next attempt.
    private(set) var waitReason: WaitReason?
    /// The alarm at the deadline.
    private var alarm: Alarm?
    /// What shows the progress of the attempts, once someone has asked for it.
    var progress: OperationProgress?
    /// The events, if something listens to them or has done so.
    private(set) var events: EventDelivery?

    init(
        _ request: URLRequest, work: AttemptedWork = .request, reportingTo events: EventDelivery? = nil,
        keepingExchanges keepsExchanges: Bool = false
    ) {
        original = OriginalRequest(request)
        self.work = work
        self.events = events
        self.keepsExchanges = keepsExchanges
    }

    // MARK: Beginning and end

    mutating func becameReady(at moment: Duration) {
        if readySince == nil { readySince = moment }
    }

    mutating func becameUnready() {
        readySince = nil
    }

    var isReady: Bool { readySince != nil }

    /// Begins the request. Returns `false` if it has begun.
    ///
    /// - Parameters:
    ///   - turn: Where its attempts wait in a queue.
    ///   - place: The place of its first attempt, if it already has one.
    @discardableResult
    mutating func begin(
        on date: Date, at moment: Duration, in turn: QueuePlace? = nil, holding place: RequestLimiter.Slot? = nil
    ) -> Bool {
        guard startDate == nil else { return false }
        becameReady(at: moment)
        startDate = date
        self.turn = turn
        if case .fresh = phase { phase = .fresh(place) }
        return true
    }

    /// Stores the alarm of the deadline until the end. Returns `false` if the end has come.
    mutating func keep(_ alarm: Alarm) -> Bool {
        guard !isStopped else { return false }
        self.alarm = alarm
        return true
    }

    /// The events, for a new listener.
    mutating func eventsForListener() -> EventDelivery {
        let new = events ?? EventDelivery()
        events = new
        return new
    }

    /// What the caller ends or frees outside the lock after the request stopped or ended.
    struct Remains {
        var wait: RetryWait?
        /// A place in the queue that no attempt will use.
        var place: RequestLimiter.Slot?
        var body = Data()
        /// The rest is there after the end.
        var alarm: Alarm?
        /// The draw of a retry that was not sent.
        var draw: RetryDraw?
        var release: Release?
        /// What an attempt holds that may not have been sent.
        var rights: AttemptRights?

        /// Frees all but the body. It is called outside the lock.
        func free() {
            place?.release(isUnused: true)
            rights?.release(.cancelled, isUnused: true)
            wait?.cancel()
            alarm?.cancel()
            draw?.takeBack()
            release?.finish(.passesOn)
        }
    }

    /// Stops the request.
    @discardableResult
    mutating func stop() -> Remains {
        guard !isStopped else { return Remains() }
        var remains = Remains(wait: wait)
        if case .fresh(let place) = phase { remains.place = place }
        if !attempts.isEmpty { remains.body = attempts[0].takeBody() }
        phase = .stopped(in: stage)
        return remains
    }

    /// Ends the request with its result.
    ///
    /// - Parameter moment: The time at which running attempts end. `nil` after a success: none runs.
    mutating func end(_ error: (any Error)?, at moment: Duration?) -> Remains {
        if let moment { endAttempts(error, at: moment) }
        ended = moment.map { elapsed(at: $0) } ?? log.records.last?.ended
        var remains = stop()
        remains.alarm = alarm.take()
        remains.draw = takeUnusedDraw()
        remains.release = takeRelease()
        if error != nil { remains.rights = takeRights() }
        return remains
    }

    var isStopped: Bool {
        switch phase {
        case .stopped, .abandoned: true
        case .fresh, .attempting, .deciding, .waiting: false
        }
    }

    /// Records that a stage was left behind.
    ///
    /// Two callers can report that for a stopped request: the operation, and the time limit of a stage. Both mean the
    /// one stage that ran.
    ///
    /// - Returns: Whether this is news, and whether no other stage follows.
    mutating func leaveBehind() -> (isNews: Bool, isLast: Bool) {
        switch phase {
        case .fresh, .attempting, .deciding, .waiting: return (true, false)
        case .stopped(let stage):
            phase = .abandoned(stage)
            return (true, true)
        case .abandoned: return (false, true)
        }
    }

    // MARK: Present activity

    /// The present stage, for errors and for a stage that was left behind.
    var stage: RequestError.Stage {
        switch phase {
        case .fresh: .process
        case .attempting: attempts.isEmpty ? .process : attempts[0].stage
        case .deciding: .retryDecision
        case .waiting: .wait
        case .stopped(let stage), .abandoned(let stage): stage
        }
    }

    /// The wait that is under way.
    var wait: RetryWait? {
        switch phase {
        case .attempting: attempts.isEmpty ? nil : attempts[0].wait
        case .waiting(let wait, _): wait
        case .fresh, .deciding, .stopped, .abandoned: nil
        }
    }

    /// The index in ``attempts`` of an attempt that runs. `nil` if it does not run, or the request was stopped.
    private func running(_ attempt: Int) -> Int? {
        guard case .attempting = phase, let index = index(of: attempt) else { return nil }
        return log.runs(attempt) ? index : nil
    }

    /// The index of an attempt, or of the one that the request goes on with.
    func index(of attempt: Int?) -> Int? {
        attempts.indices.first { attempt == nil || attempts[$0].number == attempt }
    }

    /// Changes a running attempt. Returns `false` and changes nothing if it was left behind or the request was stopped.
    private mutating func change(_ attempt: Int, _ change: (inout AttemptState, inout Attempt) -> Void) -> Bool {
        guard let index = running(attempt) else { return false }
        change(&attempts[index], &log[attempt])
        return true
    }

    // Each of the following returns whether the attempt goes on. If not, nothing was changed.

    mutating func enter(_ stage: RequestError.Stage, in attempt: Int) -> Bool {
        change(attempt) { state, _ in state.activity = .stage(stage) }
    }

    /// Enters a stage of the user's code.
    mutating func enter(_ stage: UserStage) -> Bool {
        if case .deciding = phase { return stage == .retryDecision }
        guard !attempts.isEmpty else { return false }
        return enter(stage.stage, in: attempts[0].number)
    }

    /// Enters a wait in an attempt that was not sent yet. A stop cancels it.
    mutating func enter(_ wait: RetryWait, in attempt: Int) -> Bool {
        change(attempt) { state, _ in state.activity = .waits(wait) }
    }

    mutating func note(_ task: TransportTask, in attempt: Int) -> Bool {
        change(attempt) { [keepsExchanges] state, record in
            state.note(task)
            if keepsExchanges { record.hops = [Attempt.Hop(request: task.request)] }
        }
    }

    /// Records how long an attempt waited for a network or for its host.
    mutating func noteWait(of waited: Duration, in attempt: Int) {
        _ = change(attempt) { _, record in record.waitedForHost += waited }
    }

    /// Records what ended a wait of an attempt.
    mutating func note(_ wake: Wake, in attempt: Int) -> Bool {
        change(attempt) { state, _ in
            state.activity = .stage(.wait)
            state.wake = wake
        }
    }

    /// Records that the circuit breaker refused the attempt.
    mutating func noteRefusal(in attempt: Int) {
        _ = change(attempt) { state, _ in state.wasRefused = true }
    }

    /// Records that an attempt got a slot. It may wait for several, one after the other.
    mutating func noteSlot(after waited: Duration, in attempt: Int) -> Bool {
        change(attempt) { state, record in
            state.activity = .stage(.slot)
            record.waitedForSlot = (record.waitedForSlot ?? .zero) + waited
        }
    }

    /// Stores the position of an attempt at the configuration's limiter.
    mutating func keep(_ place: RequestLimiter.Place, of attempt: Int) {
        _ = change(attempt) { state, _ in state.place = place }
    }

    mutating func receive(_ head: ResponseHead, in attempt: Int) -> Bool {
        change(attempt) { [keepsExchanges] state, record in
            if keepsExchanges { record.changeLastHop(of: state.request) { $0.head = head } }
            state.activity = .stage(.validate)
            state.head = head
            record.status = head.isHTTP ? head.status : nil
        }
    }

    /// - Parameters:
    ///   - redirect: The URL of the next hop.
    ///   - head: The head that asked for it.
    ///   - next: The request of the next hop.
    ///   - attempt: The number of the attempt.
    ///   - moment: The time.
    mutating func follow(
        _ redirect: URL, after head: ResponseHead, sending next: URLRequest, in attempt: Int, at moment: Duration
    ) -> Bool {
        let sent = elapsed(at: moment)
        return change(attempt) { [keepsExchanges] state, record in
            if keepsExchanges {
                let span = record.sent.map { min($0, sent)..<sent }
                record.changeLastHop(of: state.request) { ($0.head, $0.span) = (head, span) }
                record.hops.append(Attempt.Hop(request: next))
            }
            record.firstSent = record.firstSent ?? record.sent
            record.sent = sent
            state.activity = .stage(.transfer)
            state.head = nil
            record.redirects.append(redirect)
        }
    }

    mutating func note(_ response: TransportResponse, in attempt: Int) -> Bool {
        change(attempt) { state, record in
            state.body = response.body
            record.boxedTimings = response.boxedTimings
            record.bodySize = response.bodySize
        }
    }

    // What is read of an attempt does not copy the rest of it.

    func wake(of attempt: Int) -> Wake? { index(of: attempt).flatMap { attempts[$0].wake } }
    func place(of attempt: Int) -> RequestLimiter.Place? { index(of: attempt).flatMap { attempts[$0].place } }
    func hasAcceptedHead(_ attempt: Int) -> Bool { index(of: attempt).map { attempts[$0].hasAcceptedHead } == true }

    /// Whether an attempt's request may be processed again after a long wait. Other work than a request is not processed.
    func mayBeProcessedAgain(_ attempt: Int) -> Bool {
        !work.isOther && index(of: attempt).map { attempts[$0].wasProcessedAgain } == false
    }

    /// The state of an attempt, or that of the attempt that the request goes on with.
    func attempt(_ number: Int? = nil) -> AttemptState? {
        index(of: number).map { attempts[$0] }
    }

    // MARK: Attempts

    /// Begins an attempt, after what ended the wait before it. Returns its number, or `nil` if the request was stopped.
    mutating func beginAttempt(
        after wake: Wake?, at moment: Duration, on date: Date, priority: Operation.QueuePriority = .normal
    ) -> Int? {
        guard !isStopped else { return nil }
        // An early sign says nothing about the length of the backoff. If the sign was wrong, the same delay follows
        // again. Two wrong signs in a row count, or a host with wrong signs would get no backoff.
        if wake?.reason.isSign == true, log.lastUnhedged?.wokenBy?.isSign != true { failures.repeatBackoff() }
        let place: RequestLimiter.Slot? = if case .fresh(let place) = phase { place } else { nil }
        let number = log.begin(on: date, at: elapsed(at: moment), after: wake)
        log[number].waitReason = waitReason.take()
        attempts = [AttemptState(number: number, holding: AttemptRights(place: place, of: turn), after: wake)]
        release = wake?.release
        self.priority = priority
        phase = .attempting
        return number
    }

    /// Records that an attempt is about to be sent. Returns `false` and changes nothing if it does not run.
    mutating func beginSending(_ attempt: Int, at moment: Duration, isAwaited: Bool) -> Bool {
        guard enter(.transfer, in: attempt) else { return false }
        if case .unused(let drawn) = draw { draw = .spent(drawn) }
        if firstSent == nil { firstSent = moment }
        log[attempt].sent = elapsed(at: moment)
        self.isAwaited = isAwaited
        return true
    }

    /// Records that the attempt that the request goes on with has succeeded.
    ///
    /// - Returns: What the caller frees and finishes outside the lock.
    mutating func succeed(at moment: Duration) -> (body: Data, release: Release?) {
        guard !attempts.isEmpty else { return (Data(), takeRelease()) }
        log.end(attempts[0].number, nil, at: elapsed(at: moment))
        return (attempts[0].takeBody(), takeRelease())
    }

    /// Ends all running attempts.
    mutating func endAttempts(_ error: (any Error)?, at moment: Duration) {
        for attempt in attempts { log.end(attempt.number, error, at: elapsed(at: moment)) }
    }

    mutating func takeRelease() -> Release? {
        defer { release = nil }
        return release
    }

    /// Enters the wait before the next attempt. A stop cancels it. Returns `false` if the request was stopped.
    mutating func enterWait(_ wait: RetryWait, after failure: AttemptFailure, because reason: WaitReason) -> Bool {
        guard !isStopped else { return false }
        waitReason = waitReason ?? reason
        phase = .waiting(wait, after: failure)
        return true
    }

    /// Records that the attempt has failed. The request then waits for a decision.
    mutating func decide(counting failures: FailureCount) {
        self.failures = failures
        // A retry that follows has drawn nothing yet.
        if case .spent = draw { draw = .none }
        if !isStopped { phase = .deciding }
    }

    // MARK: Budget

    /// Stores the draw of the coming retry. Returns `false` if there will be no retry, because the request has ended.
    mutating func note(_ drawn: RetryDraw) -> Bool {
        guard !isStopped else { return false }
        draw = .unused(drawn)
        return true
    }

    /// Takes out the draw of a retry that was not sent.
    mutating func takeUnusedDraw() -> RetryDraw? {
        guard case .unused(let drawn) = draw else { return nil }
        draw = .none
        return drawn
    }

    /// The draw of the attempt that was sent last, which may be a hedge.
    var spentDraw: RetryDraw? {
        if let drawn = attempts.first?.hedgeDraw { return drawn }
        return if case .spent(let drawn) = draw { drawn } else { nil }
    }

    // MARK: Time

    /// The time since the operation became ready.
    func elapsed(at moment: Duration) -> Duration {
        readySince.map { moment - $0 } ?? .zero
    }

    /// The method of the request, or the name of other work.
    var method: String { work.name ?? original.value.httpMethod ?? "GET" }

    /// What happened so far. `nil` if the request has not begun.
    func timeline(of id: RequestID, _ outcome: RequestTimeline.Outcome) -> RequestTimeline? {
        startDate.map { date in
            // The first attempt begins with the request.
            let began = log.records.first?.began ?? .zero
            return RequestTimeline(
                id: id, method: method, startDate: date - began.inSeconds,
                duration: ended, attempts: log.records, attemptCount: log.count,
                outcome: outcome, original: original.value.url, isRequest: !work.isOther)
        }
    }

    /// The time since the first attempt was handed to the transport. `nil` if none was.
    func elapsedSinceSending(at moment: Duration) -> Duration? {
        firstSent.map { moment - $0 }
    }
}
