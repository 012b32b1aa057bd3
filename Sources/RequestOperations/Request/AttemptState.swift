/// The state of one attempt, from its beginning until the next one begins. A pure value.
struct AttemptState: Sendable {
    /// What the attempt does now, or did when it ended.
    enum Activity: Sendable {
        case stage(RequestError.Stage)
        /// It waits for a network or for its host before it is sent.
        case waits(RetryWait)
    }

    let number: Int
    /// What it holds. `nil` once everything has been released.
    private(set) var rights: AttemptRights?
    var activity = Activity.stage(.process)
    /// Whether the circuit breaker refused it.
    var wasRefused = false
    /// What ended the last wait that was not for a slot.
    var wake: Wake?
    /// The position at the configuration's limiter, once the attempt has waited there.
    var place: RequestLimiter.Place?
    /// Whether the request was processed a second time, because the first one waited too long.
    var wasProcessedAgain = false
    /// The request as it was processed. `nil` before that.
    var request: URLRequest?
    var bodyIsReplayable = true
    var head: ResponseHead?
    /// The body, while it is decoded. For a failed attempt, its beginning.
    var body = Data()
    /// What a hedge drew on the budget.
    var hedgeDraw: RetryDraw?
    /// The type of the last error that the decoder threw. An override of `decode` may replace that error.
    private var decoderErrorType: ObjectIdentifier?

    init(number: Int, holding rights: AttemptRights, after wake: Wake? = nil) {
        self.number = number
        self.rights = rights
        self.wake = wake
    }

    /// Makes a hedge that is about to be sent.
    init(hedge number: Int, sending task: TransportTask, holding rights: AttemptRights, draw: RetryDraw?) {
        self.init(number: number, holding: rights)
        activity = .stage(.transfer)
        note(task)
        hedgeDraw = draw
    }

    var stage: RequestError.Stage {
        if case .stage(let stage) = activity { stage } else { .wait }
    }

    var wait: RetryWait? {
        if case .waits(let wait) = activity { wait } else { nil }
    }

    /// Whether the head of the response was accepted. An attempt does not leave the stage in which its head was
    /// rejected.
    var hasAcceptedHead: Bool { head != nil && stage == .transfer }

    mutating func note(_ task: TransportTask) {
        if request != nil { wasProcessedAgain = true }
        request = task.request
        bodyIsReplayable = task.body.isReplayable
    }

    /// Changes what it holds. Returns `nil` if it has released everything.
    mutating func changeRights<Taken>(_ change: (inout AttemptRights) -> Taken) -> Taken? {
        guard var changed = rights.take() else { return nil }
        defer { rights = changed }
        return change(&changed)
    }

    /// Takes out what it holds. The caller releases it outside the lock.
    mutating func takeRights() -> AttemptRights? { rights.take() }

    /// Records how far a failed transfer came.
    mutating func note(_ failure: TransferFailure) {
        head = head ?? failure.head
        body = failure.bodyPrefix
    }

    /// Keeps only the beginning of the body. It is copied, because a slice would keep the whole body.
    mutating func shortenBody() {
        body = bodyPrefix
    }

    var bodyPrefix: Data { Data(body.prefix(TransferLimits.keptErrorBody)) }

    /// Takes the body out. The caller frees it outside any lock.
    mutating func takeBody() -> Data {
        defer { body = Data() }
        return body
    }

    mutating func noteDecoderError(_ error: any Error) {
        decoderErrorType = ObjectIdentifier(type(of: error))
    }

    /// Whether an error counts as the decoder's, because the decoder threw an error of its type.
    func isOfDecoder(_ error: any Error) -> Bool {
        decoderErrorType == ObjectIdentifier(type(of: error))
    }
}

/// What one attempt holds until it ends: a place of its queue, a slot of its limiter and a circuit permit.
struct AttemptRights: Sendable {
    /// The place of the queue.
    var place: RequestLimiter.Slot?
    /// The slot of the configuration's limiter.
    var slot: RequestLimiter.Slot?
    var permit: CircuitPermit?
    /// Where the operation lends the place of the attempt. `nil` for a hedge, whose place is not lent.
    private(set) var turn: QueuePlace?

    init(place: RequestLimiter.Slot? = nil, of turn: QueuePlace? = nil) {
        (self.place, self.turn) = (place, turn)
    }

    /// Takes the permit out if it is for another host than this one.
    mutating func takePermit(unlessFor origin: Origin) -> CircuitPermit? {
        permit?.origin == origin ? nil : permit.take()
    }

    /// Releases everything. It is called outside all locks, because it notifies others of what is free.
    ///
    /// - Parameters:
    ///   - outcome: What the attempt shows about its host.
    ///   - isUnused: Whether nothing was sent over it.
    func release(_ outcome: CircuitState.Outcome, isUnused: Bool = false) {
        if let place { turn?.forget(place) }
        permit?.finish(outcome)
        [place, slot].compactMap { $0 }.release(isUnused: isUnused)
    }
}

/// What the attempts of a request hold.
extension RequestState {
    /// The place of the queue that an attempt holds.
    func queuePlace(of attempt: Int) -> RequestLimiter.Slot? {
        index(of: attempt).flatMap { attempts[$0].rights?.place }
    }

    /// The circuit permit that an attempt holds.
    func permit(of attempt: Int) -> CircuitPermit? { index(of: attempt).flatMap { attempts[$0].rights?.permit } }

    /// Changes what an attempt holds. Returns `nil` and changes nothing if the attempt has released it: an attempt that was
    /// left behind may still be taking something.
    @discardableResult
    mutating func changeRights<Taken>(of attempt: Int, _ change: (inout AttemptRights) -> Taken) -> Taken? {
        index(of: attempt).flatMap { attempts[$0].changeRights(change) }
    }

    /// Takes out all that an attempt holds, or the attempt that the request goes on with.
    mutating func takeRights(of attempt: Int? = nil) -> AttemptRights? {
        index(of: attempt).flatMap { attempts[$0].takeRights() }
    }
}

extension RequestError {
    /// The error, completed with what the attempt knows, where the error lacks it.
    func completed(by attempt: AttemptState?) -> RequestError {
        guard let attempt else { return self }
        var completed = self
        completed.head = head ?? attempt.head
        if bodyPrefix.isEmpty { completed.bodyPrefix = attempt.bodyPrefix }
        return completed
    }
}

extension RequestError.Stage {
    /// Whether the request may have been sent if an attempt failed in this stage.
    var isAfterSending: Bool {
        switch self {
        case .start, .process, .makeTask, .slot: false
        // Within an attempt, this is the wait for a host or for a network.
        case .wait: false
        case .transfer, .validate, .decode, .retryDecision: true
        }
    }
}

/// The request from which all attempts are processed.
struct OriginalRequest: Sendable {
    /// The request as it was given.
    private(set) var value: URLRequest
    /// The idempotency key of all attempts, if an adapter asked for one.
    private(set) var idempotencyKey: String?

    init(_ request: URLRequest) {
        value = request
    }

    /// Stores a key for all attempts, unless there is one. Returns the stored key.
    mutating func keep(_ new: String) -> String {
        if let idempotencyKey { return idempotencyKey }
        idempotencyKey = new
        return new
    }

    /// Replaces the request. The new request gets a new key, even if it is a copy of a sent one that has the old key.
    mutating func replace(with request: URLRequest) {
        var request = request
        if let idempotencyKey, request.value(forHTTPHeaderField: IdempotencyKey.field) == idempotencyKey {
            request.setValue(nil, forHTTPHeaderField: IdempotencyKey.field)
        }
        self = OriginalRequest(request)
    }
}

/// The records of a request's attempts, in the order in which they began. A pure value.
///
/// If there are more than ``Attempt/keptAtMost`` attempts, the first few and the last ones are kept.
struct AttemptLog: Sendable {
    private(set) var records: [Attempt] = []
    /// How many attempts there were.
    private(set) var count = 0
    /// How many of them were hedges.
    private(set) var hedgeCount = 0

    /// Begins the record of the next attempt. Returns its number.
    ///
    /// - Parameters:
    ///   - date: The date, by the clock of the system.
    ///   - elapsed: The time since the operation became ready.
    ///   - wake: What ended the wait before it.
    ///   - isHedge: Whether it is sent beside another one.
    mutating func begin(on date: Date, at elapsed: Duration, after wake: Wake? = nil, isHedge: Bool = false) -> Int {
        count += 1
        if isHedge { hedgeCount += 1 }
        if records.count == Attempt.keptAtMost { records.remove(at: Attempt.keptFirst) }
        records.append(
            Attempt(
                number: count, startDate: date, began: elapsed, waited: wake?.waited ?? .zero, wokenBy: wake?.reason,
                isHedge: isHedge))
        return count
    }

    /// The record of a running attempt, or of the last one. These records are always kept.
    subscript(number: Int) -> Attempt {
        _read { yield records[index(of: number)] }
        _modify { yield &records[index(of: number)] }
    }

    /// Ends the record of an attempt, unless it has ended.
    mutating func end(_ number: Int, _ error: (any Error)?, at elapsed: Duration) {
        let index = index(of: number)
        guard records[index].ended == nil else { return }
        records[index].ended = elapsed
        records[index].error = error
    }

    /// Whether an attempt has not ended.
    func runs(_ number: Int) -> Bool { records[index(of: number)].ended == nil }

    /// The last attempt that is not a hedge.
    var lastUnhedged: Attempt? { records.last { !$0.isHedge } }

    private func index(of number: Int) -> Int { records.count - 1 - (count - number) }
}
