/// Sends a second attempt when the first is slow to answer. The first answer wins, and the other attempt is cancelled.
///
/// ```swift
/// configuration.hedging = Hedging(delay: .milliseconds(300))
/// ```
///
/// Hedging shortens the slowest response times. Set the delay so that about 19 of 20 answers arrive sooner. The host
/// then gets one more request for each answer that takes longer.
///
/// ## What is hedged
///
/// A request is hedged if all of this holds:
///
/// - Its method is safe (RFC 9110, section 9.2.1: GET, HEAD, OPTIONS and TRACE; also QUERY). Case does not matter.
/// - Its body can be sent again.
/// - Its response goes to memory.
/// - The transport carries it out.
///
/// A download to a file, a stream and a custom ``TransportTask`` are never hedged, because two attempts would deliver
/// to the same place. A hedge starts when the delay has passed since the attempt was sent. It does not start if the
/// head of any response has arrived by then, even that of a redirect. A hedge is an attempt with its own number in
/// ``RetryingOperation/attempts``, marked by ``Attempt/isHedge``. It passes all stages:
/// ``URLRequestOperation/process(_:)`` and ``URLRequestOperation/makeTask(for:)`` are called for it while the attempt
/// before it still runs. If one of them throws, ``RequestEvent/Step/notHedged(_:)`` names it, and it affects only the
/// hedge.
///
/// A hedge never waits. If it cannot be sent when its time comes, it is not sent at all. All of this must hold:
///
/// - Each limiter that the attempt passed has a free slot.
/// - The retry budget has room. A hedge draws on it like a retry, but does not wait in any mode of the budget.
/// - The circuit breaker lets it pass.
/// - The host has not asked to be left alone.
/// - The policy's ``RetryPolicy/elapsedLimit`` has not passed.
///
/// The event ``RequestEvent/Step/notHedged(_:)`` gives the reason if there is no hedge. A ``RequestQueue`` of width 1
/// never has a slot for one.
///
/// ## What wins
///
/// The first response wins whose head ``URLRequestOperation/validate(_:)-(ResponseHead)`` accepts. This is decided before
/// the body is delivered. The other attempt is then cancelled at once. This closes its connection, or its stream with
/// HTTP/2. Its slot becomes free when the transport has released it, or after 100 ms at the latest. If the body of the
/// winner fails afterwards, the attempt fails.
///
/// A failure that the ``RetryPolicy`` considers temporary, such as status 503, does not win. The request then waits for
/// the other attempt. Any other failure, such as status 404, is an answer and ends both attempts. If both attempts fail,
/// one failure goes to the retry decision. It is the one with a `Retry-After`, or else one with a response, or else that
/// of the first attempt. Only that failure is passed to the configuration's ``RequestConfiguration/errorBodyDecoder``.
/// Hedges do not count for ``RetryPolicy/maximumRetries``. Each retry can be hedged again.
///
/// ``RequestConfiguration/attemptTimeLimit`` applies to each attempt separately. The deadline and `cancel()` end all
/// attempts at once. Progress is reported only for the attempt that won, so from its response head on.
public struct Hedging: Sendable, Hashable {
    /// How long an attempt may run without an answer before a hedge is sent. An attempt has one hedge at most.
    ///
    /// The time is measured on the clock of the configuration, from when the attempt has its slot. Zero or less sends
    /// the hedge at once.
    public var delay: Duration

    /// Makes a value.
    ///
    /// - Parameter delay: How long to wait for an answer before a hedge is sent.
    public init(delay: Duration) {
        self.delay = delay
    }

    /// The reason why no hedge was sent when it was time for one.
    enum Refusal: Error, CustomStringConvertible {
        /// What ``URLRequestOperation/process(_:)`` and ``URLRequestOperation/makeTask(for:)`` returned cannot be
        /// hedged.
        case notRepeatable
        /// The policy's ``RetryPolicy/elapsedLimit`` has passed.
        case tooLate
        /// The host has asked to be left alone (``HostRegistry``).
        case hostLeftAlone
        /// A limiter had no free slot.
        case noSlot
        /// The circuit breaker did not let it pass.
        case circuitOpen
        /// The retry budget had no room.
        case budgetExhausted
        /// A stage threw this error for the hedge.
        case failed(any Error)

        var description: String {
            switch self {
            case .notRepeatable: "the request is not one that is hedged"
            case .tooLate: "the elapsed limit has passed"
            case .hostLeftAlone: "the host asked to be left alone"
            case .noSlot: "no slot is free"
            case .circuitOpen: "the circuit is open"
            case .budgetExhausted: "the retry budget has no room"
            case .failed(let error): error.redacted
            }
        }
    }

    /// The methods that their definition calls safe.
    static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"]

    /// Whether a task may run twice at the same time.
    static func allows(_ task: TransportTask) -> Bool {
        guard case .memory = task.destination, case .standard = task.execution, task.body.isReplayable else {
            return false
        }
        return safeMethods.contains((task.request.httpMethod ?? "GET").uppercased())
    }
}
