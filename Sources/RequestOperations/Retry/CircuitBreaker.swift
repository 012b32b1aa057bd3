/// Keeps attempts away from a host that fails: each scheme, host and port has a circuit of its own.
///
/// A *closed* circuit lets every attempt pass and counts. When in the sampling window at least `minimumThroughput` attempts
/// ended and at least `failureRatio` of them failed, the circuit *opens*: for `openTime` no attempt is sent. Then it is
/// *half open*: `probes` attempts are sent, and no more. If all of them succeed it closes, if one fails it opens again.
///
/// ```swift
/// configuration.retryPolicy.circuitBreaker = CircuitBreaker()
/// ```
///
/// A value of this type is a setting. The circuits are in the ``HostRegistry`` of the configuration, one for each host and each
/// setting.
///
/// A failure here is what the ``RetryPolicy`` holds to be passing: one of its codes or statuses. Every other response shows
/// a host that works. A probe shows it as soon as the head of its response is accepted, however long its body takes; if
/// that then fails, the failure counts as one after the recovery. What says nothing of the host does not count: an attempt
/// that was cancelled or left behind, and one that failed before a response for another reason, such as a certificate that is
/// not trusted.
///
/// A redirect to another scheme, host or port is an attempt of its own here: it shows that the one host works and asks for
/// the other.
///
/// An attempt that is refused fails as ``RequestError/Code/circuitOpen`` and was surely not sent. The request waits until the
/// circuit is half open, and from then on for its backoff, so that those who wait do not come all at once. While the probes are
/// under way it waits for at least 0.1 to 0.2 seconds. A refused attempt counts neither for ``RetryPolicy/maximumRetries`` nor for
/// the ``RetryBudget``. With a ``HostRecoveryObserver`` the success of a probe wakes those that wait for the host.
///
/// A circuit that is not closed is forgotten when nobody has asked for it in the 12 hours after its open time. Then it counts
/// as closed.
public struct CircuitBreaker: Sendable, Hashable {
    /// The states of a circuit.
    public enum State: Sendable, Hashable {
        /// Attempts are made.
        case closed
        /// No attempt is made.
        case open
        /// A few attempts are made, to see whether the host has recovered.
        case halfOpen
    }

    let terms: CircuitState.Terms

    /// Makes a breaker.
    ///
    /// - Parameters:
    ///   - failureRatio: The share of failures that opens a circuit, above 0 and at most 1. 0.5 by default.
    ///   - minimumThroughput: How many attempts must have ended in the window before it can open, at least 1. 20 by default.
    ///   - samplingWindow: The window in which they are counted; it moves in tenths. 10 s by default, at least a microsecond.
    ///   - openTime: How long a circuit stays open. 5 s by default; negative counts as zero.
    ///   - probes: How many attempts have to succeed one after another or at once in a half-open circuit, at least 1. 1 by
    ///     default.
    public init(
        failureRatio: Double = 0.5, minimumThroughput: Int = 20, samplingWindow: Duration = .seconds(10),
        openTime: Duration = .seconds(5), probes: Int = 1
    ) {
        precondition(
            failureRatio > 0 && failureRatio <= 1, "A circuit opens at a share of failures above 0 and at most 1.")
        precondition(minimumThroughput >= 1 && probes >= 1, "A circuit judges by at least one attempt.")
        terms = CircuitState.Terms(
            failureRatio: failureRatio, minimumThroughput: minimumThroughput,
            slice: max(samplingWindow, .microseconds(1)).nanoseconds / 10, openTime: max(openTime, .zero).nanoseconds,
            probes: probes)
    }
}
