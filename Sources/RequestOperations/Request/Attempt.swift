/// The record of one attempt of a request.
public struct Attempt: Sendable {
    /// The number of the attempt, from 1.
    public let number: Int

    /// When the attempt began, by the clock of the system.
    public let startDate: Date

    /// When the attempt began, counted from when the operation became ready.
    public let began: Duration

    /// When the attempt ended, counted from when the operation became ready. `nil` while it runs.
    public internal(set) var ended: Duration?

    /// Why the attempt failed. `nil` if it succeeded or still runs, and a `CancellationError` if it was cancelled.
    public internal(set) var error: (any Error)?

    /// How long the operation waited before this attempt. Zero for the first.
    public let waited: Duration

    /// What ended that wait. `nil` for the first attempt.
    public let wokenBy: WakeReason?

    /// Whether this attempt was sent beside an earlier one that had no answer yet (``RequestConfiguration/hedging``).
    ///
    /// The operation does not wait before a hedge. Of attempts that run in parallel, all but one fail or are cancelled.
    public let isHedge: Bool

    /// The status of the response, if one arrived.
    public internal(set) var status: Int?

    /// How many bytes of the response's body arrived, after decompression. For a rejected response, how many were read.
    ///
    /// The value is set when the attempt's last transfer has ended, and is 0 before. It stays 0 if your own transport
    /// does not report it.
    public internal(set) var bodySize: Int64 = 0

    /// The URLs that the attempt was redirected to, in order.
    public internal(set) var redirects: [URL] = []

    /// The timings of the attempt's last transfer, if the transport measures them.
    public internal(set) var timings: TransferTimings? {
        get { boxedTimings?.value }
        set { boxedTimings = newValue.map(Box.init) }
    }

    var boxedTimings: Box<TransferTimings>?

    /// How many attempts a request keeps at most, and how many of these are its first ones.
    static let keptAtMost = 100
    static let keptFirst = 10

    init(
        number: Int, startDate: Date, began: Duration, waited: Duration, wokenBy: WakeReason?, isHedge: Bool = false
    ) {
        self.number = number
        self.startDate = startDate
        self.began = began
        self.waited = waited
        self.wokenBy = wokenBy
        self.isHedge = isHedge
    }
}

extension Attempt: CustomStringConvertible, CustomReflectable {
    /// One line: the number, the wait before it, the redirects, the status, the size of the body, and how it ended. It
    /// shows scheme, host, port and path of a URL, and only the type of an error that is not ours.
    public var description: String {
        var parts = ["attempt \(number)\(isHedge ? " (hedge)" : "")"]
        if let wokenBy { parts.append("waited \(waited) (\(wokenBy))") }
        parts += redirects.map { "redirected to \(Redaction.location(of: $0))" }
        if let status { parts.append("status \(status)") }
        if bodySize > 0 { parts.append("\(bodySize) bytes") }
        switch (ended, error) {
        case (nil, _): parts.append("runs")
        case (let ended?, nil): parts.append("succeeded after \(ended - began)")
        case (let ended?, let error?): parts.append("failed after \(ended - began): \(error.redacted)")
        }
        return parts.joined(separator: ", ")
    }

    /// No children, so that `dump` shows the same line.
    public var customMirror: Mirror { Mirror(opaque: self) }
}

/// The records of a request's attempts, in the order in which they began. A pure value.
///
/// Of more than ``Attempt/keptAtMost`` attempts, the first few and the last ones are kept.
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

    /// The last attempt that is no hedge.
    var lastUnhedged: Attempt? { records.last { !$0.isHedge } }

    private func index(of number: Int) -> Int { records.count - 1 - (count - number) }
}

/// The state of one attempt, from its beginning until the next one begins. A pure value.
struct AttemptState: Sendable {
    /// What the attempt does now, or did when it ended.
    enum Activity: Sendable {
        case stage(RequestError.Stage)
        /// It waits for a network or for its host before it is sent.
        case waits(RetryWait)
    }

    let number: Int
    let rights: AttemptRights
    var activity = Activity.stage(.process)
    /// Whether the circuit breaker refused it.
    var wasRefused = false
    /// What ended the last wait that was not for a slot.
    var wake: Wake?
    /// The place in the line of the configuration's limiter, once the attempt has stood there.
    var place: RequestLimiter.Place?
    /// How often the request was processed.
    var processCount = 0
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

    init(number: Int, rights: AttemptRights, after wake: Wake? = nil) {
        self.number = number
        self.rights = rights
        self.wake = wake
    }

    /// Makes a hedge that is about to be sent.
    init(hedge number: Int, sending task: TransportTask, rights: AttemptRights, draw: RetryDraw?) {
        self.init(number: number, rights: rights)
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
        request = task.request
        bodyIsReplayable = task.body.isReplayable
    }

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

/// What the attempts of an operation are.
enum AttemptedWork: Sendable, Hashable {
    case request
    /// An upload by tus. It sends several requests, and none with the method of the operation's request.
    case tus
    /// Other work of a ``RetryingOperation``.
    ///
    /// - Parameters:
    ///   - isIdempotent: Whether the work may be attempted again after it may have had an effect.
    ///   - name: What errors and descriptions call it.
    indirect case other(isIdempotent: Bool, name: String)

    /// Whether it is other work than requests.
    var isOther: Bool {
        if case .other = self { true } else { false }
    }

    /// What errors and descriptions name in the place of a method. `nil` for a request.
    var name: String? {
        switch self {
        case .request: nil
        case .tus: "tus upload"
        case .other(_, let name): name
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
