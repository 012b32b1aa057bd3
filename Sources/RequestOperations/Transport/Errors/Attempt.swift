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

    /// Why the operation waited before this attempt. `nil` for the first.
    public internal(set) var waitReason: WaitReason?

    /// How long the attempt waited before it was sent, for a network or since its host had asked to be left alone.
    public internal(set) var waitedForHost = Duration.zero

    /// How long the attempt waited for the slot of a limiter. `nil` without a limiter, and until it has the slot.
    public internal(set) var waitedForSlot: Duration?

    /// When its last transfer was handed to the transport, counted from when the operation became ready. `nil` before that.
    public internal(set) var sent: Duration?

    /// When its first transfer was handed to the transport, if it was redirected. `nil` if ``sent`` is that moment.
    var firstSent: Duration?

    /// Whether this attempt was sent beside an earlier one that had no answer yet (``RequestConfiguration/hedging``).
    ///
    /// The operation does not wait before a hedge. If attempts run in parallel, all but one fail or are cancelled.
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

    /// What was sent and came back, if a recorder wants that: the earlier hops of redirects, and the last hop.
    var hops: [Hop] = []

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

extension Attempt: CustomStringConvertible, OpaqueReflectable {
    /// One line: the number, the wait before it, the redirects, the status, the size of the body, and how it ended. It
    /// shows scheme, host, port and path of a URL, and only the type of an error that is not of this package.
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
}

extension Attempt {
    /// One request of an attempt, which a response may have redirected.
    struct Hop: Sendable {
        var request: URLRequest?
        var head: ResponseHead?
        /// From when it was handed to the transport until its redirect was followed. `nil` for the last hop.
        var span: Range<Duration>?

        /// - Parameter request: The request. Its body is not kept, since a recorder keeps many.
        init(request: URLRequest?) {
            self.request = request
            // A change of a request without a URL, such as that of other work, traps on Linux.
            guard request?.url != nil else { return }
            self.request?.httpBody = nil
            self.request?.httpBodyStream = nil
        }
    }

    /// - Parameter request: The request of the first hop, which is not there yet for a hedge.
    mutating func changeLastHop(of request: URLRequest?, _ change: (inout Hop) -> Void) {
        if hops.isEmpty { hops = [Hop(request: request)] }
        change(&hops[hops.count - 1])
    }
}

/// The parts of an attempt, in time.
extension Attempt {
    /// One part of an attempt, or the wait before it.
    public struct Phase: Sendable, Hashable {
        /// What happened in it.
        public let kind: Kind
        /// When it began, counted from when the operation became ready.
        public let start: Duration
        /// How long it took.
        public let duration: Duration
    }

    /// What a phase is, in the order in which the phases of an attempt come.
    public enum Kind: String, Sendable, CaseIterable, Codable {
        /// The operation was ready, and waited to be started or for a place of its ``RequestQueue``.
        case queued
        /// The operation waited before the attempt.
        case backoff
        /// The stages before the transfer ran.
        case prepare
        /// The attempt waited for a network, or since its host had asked to be left alone.
        case host
        /// The attempt waited for the slot of a limiter.
        case slot
        /// The earlier hops of an attempt that was redirected, from sending the first one to following the last redirect.
        case redirect
        /// The transport held the request back, for a connection or a look-up.
        case blocked
        /// The name of the host was resolved.
        case lookup
        /// The TCP connection was made.
        case connect
        /// The TLS handshake was done.
        case secure
        /// The transport got ready to send the request over the open connection.
        case send
        /// The request was sent and the server worked, until the first byte of the response.
        case firstByte
        /// The response arrived, until its last byte.
        case receive
        /// The response was validated and decoded. In a failed attempt, what followed the transfer.
        case decode
    }

    /// The ``error`` in one line without credentials.
    public var failure: String? { error?.redacted }

    /// How long the attempt took. `nil` while it runs.
    public var duration: Duration? { ended.map { $0 - began } }

    /// The phases of the attempt and the wait before it, in order.
    ///
    /// Each is as long as the transport measured it. A phase that a transport does not measure is left out, and its time is part
    /// of the next one. The earlier hops of an attempt that was redirected are one phase, ``Kind/redirect``.
    public var phases: [Phase] {
        var phases: [Phase] = []
        var end = number == 1 ? .zero : began - waited
        func add(_ kind: Kind, until moment: Duration?) {
            guard let moment, moment > end else { return }
            phases.append(Phase(kind: kind, start: end, duration: moment - end))
            end = moment
        }
        add(number == 1 ? .queued : .backoff, until: began)
        guard let sent else {
            add(.prepare, until: ended.map { $0 - waitedForHost })
            add(.host, until: ended)
            return phases
        }
        let handedOver = firstSent ?? sent
        add(.prepare, until: handedOver - (waitedForSlot ?? .zero) - waitedForHost)
        add(.host, until: handedOver - (waitedForSlot ?? .zero))
        add(.slot, until: handedOver)
        add(.redirect, until: sent)
        let measured: [(Kind, Duration?)] = [
            (.blocked, timings?.queue), (.lookup, timings?.nameLookup), (.connect, timings?.connect),
            (.secure, timings?.secureConnect), (.send, timings?.requestSent), (.firstByte, timings?.firstByte),
            (.receive, timings?.total),
        ]
        for (kind, moment) in measured { add(kind, until: moment.map { sent + $0 }) }
        add(timings?.total == nil ? .receive : .decode, until: ended)
        return phases
    }
}

/// Why a request waits before its next attempt. If there are several reasons, it is the one that sets the length of the
/// wait.
public enum WaitReason: Sendable, Hashable, CaseIterable {
    /// It waits for its backoff, or for a delay that you decided.
    case backoff
    /// It waits until its ``RetryBudget`` has room for the retry.
    case budget
    /// A `Retry-After` asked for it, in its own response or in another one from the host.
    case retryAfter
    /// It waits until the circuit of its host lets it pass (``CircuitBreaker``).
    case circuit
}

/// What ended a wait between two attempts.
public enum WakeReason: Sendable, Hashable {
    /// The backoff or the server's `Retry-After` was over.
    case backoff
    /// An early-retry observer returned first. The value is the name of its type.
    case observer(String)
    /// ``RetryingOperation/retryNow()`` was called.
    case retryNow

    /// Whether an early sign of recovery ended the wait.
    var isSign: Bool { if case .observer = self { true } else { false } }
}

/// The identity of a request. It stays the same over all retries and redirects.
public struct RequestID: Hashable, Sendable, CustomStringConvertible {
    /// A number that no other request of the process has.
    package let rawValue: UInt64

    private static let last = Locked<UInt64>(0)

    init() {
        rawValue = Self.last.withLock { last in
            last += 1
            return last
        }
    }

    /// The number in decimal.
    public var description: String { String(rawValue) }
}

extension WaitReason: CustomStringConvertible {
    /// `backoff`, `budget`, `Retry-After` or `circuit`.
    public var description: String {
        switch self {
        case .backoff: "backoff"
        case .budget: "budget"
        case .retryAfter: "Retry-After"
        case .circuit: "circuit"
        }
    }
}

extension WakeReason: CustomStringConvertible {
    /// `backoff`, `retryNow`, or the name of the observer's type.
    public var description: String {
        switch self {
        case .backoff: "backoff"
        case .observer(let name): name
        case .retryNow: "retryNow"
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
    ///   - name: The name of the work in errors and descriptions.
    indirect case other(isIdempotent: Bool, name: String)

    /// Whether it is other work than requests.
    var isOther: Bool {
        if case .other = self { true } else { false }
    }

    /// The name that replaces the method in errors and descriptions. `nil` for a request.
    var name: String? {
        switch self {
        case .request: nil
        case .tus: "tus upload"
        case .other(_, let name): name
        }
    }
}

/// Why there was no further attempt, in the words of ``RequestError/notRetried``.
enum NotRetried: Sendable, Hashable, CustomStringConvertible {
    /// The number of attempts that count, and the number that the policy allows.
    case attempts(Int, of: Int)
    /// The policy's elapsed limit has passed, or would pass before the next attempt begins.
    case elapsedLimit(Duration)
    /// The deadline has passed, or would pass before the next attempt begins.
    case deadline
    /// The policy retries neither the status nor the code.
    case notPassing
    /// The server may have acted on the request, and the request's method does not allow a repetition.
    case notRepeatable(method: String)
    /// Other work than a request may have had an effect, and is not idempotent.
    case notIdempotent
    /// A decider or an override of `retryDecision(after:)` said so.
    case decision
    /// There was no decision, because the stage that makes it failed.
    case noDecision
    /// The error that replaced the attempt's error gives the reason.
    case said(String)

    /// How many attempts count for the maximum of the policy, if that was reached.
    var countedAttempts: Int? {
        if case .attempts(let count, of: _) = self { count } else { nil }
    }

    var description: String {
        switch self {
        // An attempt that does not count would give the text "0 of 1 attempts".
        case .attempts(_, of: ...1): "no retries allowed"
        case .attempts(let count, let maximum): "\(count) of \(maximum) attempts"
        case .elapsedLimit(let limit): "the elapsed limit of \(limit)"
        case .deadline: "the deadline"
        case .notPassing: "not a passing failure"
        case .notRepeatable(let method): "\(method), no idempotency key"
        case .notIdempotent: "the work is not idempotent"
        case .decision: "a decider or an override said so"
        case .noDecision: "no decision was made"
        case .said(let reason): reason
        }
    }
}
