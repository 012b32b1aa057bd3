/// A second attempt beside one that is slow to answer: the first answer wins, and the other attempt is cancelled.
///
/// ```swift
/// configuration.hedging = Hedging(delay: .milliseconds(300))
/// ```
///
/// A hedge shortens the long tail of answers: set the delay to what nineteen of twenty answers stay below. It costs the host
/// one more request for each that takes longer.
///
/// ## What is hedged
///
/// Requests with a safe method (RFC 9110, section 9.2.1: GET, HEAD, OPTIONS, TRACE, and QUERY; compared without regard to
/// case) whose body can be sent again and whose response goes to memory, carried out by the transport. A download to a file, a
/// stream and a custom ``TransportTask`` are never hedged: two attempts would deliver to one place. A hedge begins when the
/// delay has passed since the attempt was sent, unless the head of any response to it has arrived, a redirect included. It is
/// an attempt with a number of its own in ``URLRequestOperation/attempts``, ``Attempt/isHedge``, and passes all stages:
/// ``URLRequestOperation/process(_:)`` and ``URLRequestOperation/makeTask(for:)`` are called for it, while the attempt before
/// it runs. An error out of them is told as ``Refusal/failed(_:)`` and concerns the hedge only.
///
/// A hedge never waits, and one that cannot be sent at its time is not sent: there must be a free slot of each limiter that the
/// attempt passed, room in the retry budget, on which it draws like a retry (whatever the budget's mode), a circuit breaker
/// that lets it pass, and a host that has not asked to be left alone; and the policy's ``RetryPolicy/elapsedLimit`` must not
/// have passed. ``RequestEvent/Step/notHedged(_:)`` says why not. A ``RequestQueue`` of width 1 has no slot for it.
///
/// ## What wins
///
/// The first response whose head ``URLRequestOperation/validate(_:)-(ResponseHead)`` accepts, before its body is delivered: the other attempts are
/// cancelled at once, which closes their connections (with HTTP/2 their streams), and their slots are given back as soon as the
/// transport has let go of them, or 100 ms later. Should the body then fail, the attempt fails.
///
/// A failure that the ``RetryPolicy`` holds to be passing, such as a status of 503, wins nothing: the other attempt is awaited,
/// though no further hedge is sent. Any other, such as a status of 404, is an answer, and ends all. If all fail, one failure
/// goes to the retry decision: that with a `Retry-After`, else one with a response, else that of the first attempt. Of the
/// failures of attempts that ran beside each other only this one is shown to the configuration's
/// ``RequestConfiguration/errorBodyDecoder``. Hedges do not count for ``RetryPolicy/maximumRetries``, and each retry can be
/// hedged again.
///
/// ``RequestConfiguration/attemptTimeLimit`` holds for each attempt by itself; the deadline and `cancel()` end all at once.
/// Progress is told of the attempt that won only, so from its head on.
public struct Hedging: Sendable, Hashable {
    /// How long an attempt is in flight without an answer before it is helped by another, and then how long until the next;
    /// on the clock of the configuration, from when the attempt has its slot. Zero or less: at once.
    public var delay: Duration

    /// How many hedges are sent beside one attempt at most, `delay` apart. 1 by default; less than 1 is none, more than 89
    /// are 89.
    public var maximumHedges: Int

    /// Makes a value.
    ///
    /// - Parameters:
    ///   - delay: How long an answer is waited for.
    ///   - maximumHedges: How many hedges an attempt has at most. 1 by default.
    public init(delay: Duration, maximumHedges: Int = 1) {
        self.delay = delay
        self.maximumHedges = maximumHedges
    }

    /// Why there was no hedge when it was time for one.
    public enum Refusal: Error, Sendable {
        /// What ``URLRequestOperation/process(_:)`` and ``URLRequestOperation/makeTask(for:)`` made is nothing that is hedged.
        case notRepeatable
        /// The policy's ``RetryPolicy/elapsedLimit`` has passed.
        case tooLate
        /// The host has asked to be left alone (``HostRegistry``).
        case hostLeftAlone
        /// A limiter had no free slot.
        case noSlot
        /// The circuit breaker does not let it pass.
        case circuitOpen
        /// The retry budget had no room.
        case budgetExhausted
        /// A stage threw this, for the hedge.
        case failed(any Error)
    }

    /// The methods that are safe by their definition.
    private static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"]

    /// Whether a task may run twice at the same time.
    static func allows(_ task: TransportTask) -> Bool {
        guard case .memory = task.destination, case .standard = task.execution, task.body.isReplayable else {
            return false
        }
        return safeMethods.contains((task.request.httpMethod ?? "GET").uppercased())
    }
}
