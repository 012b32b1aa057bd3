/// Stops attempts to a host that keeps failing. Each scheme, host and port has its own circuit.
///
/// A *closed* circuit lets every attempt pass and counts the results. It *opens* when, within the sampling window, at
/// least `minimumThroughput` attempts ended and at least `failureRatio` of them failed. While it is open, for
/// `openTime`, no attempt is sent. Then it is *half open*: it lets only `probes` attempts pass. If all of them succeed,
/// it closes. If one fails, it opens again.
///
/// ```swift
/// configuration.retryPolicy.circuitBreaker = CircuitBreaker()
/// ```
///
/// A value of this type is only a setting. The circuits are in the ``HostRegistry`` of the configuration, one for each
/// host and each setting.
///
/// A failure counts if the ``RetryPolicy`` considers it temporary: it has one of the policy's codes or statuses. Every
/// other response shows that the host works. A probe succeeds as soon as the head of its response is accepted, however
/// long its body takes. If the body fails afterwards, that counts as a failure after the recovery. An attempt that says
/// nothing about the host does not count. Examples are an attempt that was cancelled or left behind, and one that
/// failed before a response because of an untrusted certificate.
///
/// A redirect to another scheme, host or port counts as a separate attempt. It shows that the first host works, and it
/// asks the circuit of the second.
///
/// A refused attempt fails with ``RequestError/Code/circuitOpen``. It was not sent. The request waits until the circuit
/// is half open, and then for its backoff, so that the waiting requests do not all come at once. While the probes run,
/// it waits for at least 0.1 to 0.2 seconds. A refused attempt counts neither for ``RetryPolicy/maximumRetries`` nor
/// for the ``RetryBudget``. With a ``HostRecoveryObserver``, the success of a probe wakes requests that wait for the
/// host. That includes requests that began to wait after the probe was sent, unless the probe came by a redirect or was
/// a hedge.
///
/// A circuit that is not closed is forgotten if no request asks for it in the 12 hours after its open time. Then it
/// counts as closed.
public struct CircuitBreaker: Sendable, Hashable {
    /// The states of a circuit.
    public enum State: Sendable, Hashable {
        /// All attempts are sent.
        case closed
        /// No attempt is sent.
        case open
        /// A few attempts are sent, to see whether the host has recovered.
        case halfOpen
    }

    let failureRatio: Double
    let minimumThroughput: Int
    /// The length of a tenth of the sampling window, in nanoseconds.
    let slice: Int64
    /// In nanoseconds.
    let openTime: Int64
    let probes: Int

    /// Makes a breaker.
    ///
    /// - Parameters:
    ///   - failureRatio: The share of failures that opens a circuit, above 0 and at most 1. 0.5 by default.
    ///   - minimumThroughput: How many attempts must end within the window before the circuit can open, at least 1. 20
    ///     by default.
    ///   - samplingWindow: The time in which attempts are counted. It moves in steps of a tenth. 10 s by default, at
    ///     least a microsecond.
    ///   - openTime: How long a circuit stays open. 5 s by default; a negative time counts as zero.
    ///   - probes: How many attempts a half-open circuit lets pass, one after another or at once. All must succeed to
    ///     close it. 1 by default, and at least 1.
    public init(
        failureRatio: Double = 0.5, minimumThroughput: Int = 20, samplingWindow: Duration = .seconds(10),
        openTime: Duration = .seconds(5), probes: Int = 1
    ) {
        precondition(
            failureRatio > 0 && failureRatio <= 1, "A circuit opens at a share of failures above 0 and at most 1.")
        precondition(minimumThroughput >= 1 && probes >= 1, "A circuit judges by at least one attempt.")
        self.failureRatio = failureRatio
        self.minimumThroughput = minimumThroughput
        slice = max(samplingWindow, .microseconds(1)).nanoseconds / 10
        self.openTime = max(openTime, .zero).nanoseconds
        self.probes = probes
    }
}
