/// Keeps attempts away from a host that fails: each scheme, host and port has a circuit of its own.
///
/// A *closed* circuit lets every attempt pass and counts. When in the sampling window at least `minimumThroughput` attempts
/// ended and at least `failureRatio` of them failed, the circuit *opens*: for `openTime` no attempt is sent. Then it is
/// *half open*: `probes` attempts are sent, and no more. If all of them succeed it closes, if one fails it opens again.
///
/// A failure here is what the ``RetryPolicy`` holds to be passing: one of its codes or statuses. Every other response shows
/// a host that works, and a probe shows it as soon as the head of its response is accepted, however long its body takes; if
/// that then fails, the failure counts as one after the recovery. What says nothing of the host does not count: an attempt
/// that was cancelled or left behind, and one that failed before a response for another reason, such as a certificate that is
/// not trusted.
///
/// A redirect to another scheme, host or port is an attempt of its own here: it shows that the one host works and asks for
/// the other.
///
/// An attempt that is refused fails as ``RequestError/Code/circuitOpen`` and was surely not sent. The policy has the request
/// wait until the circuit is half open, and from then on for its backoff, so that those who wait do not come all at once, and
/// for at least 0.1 to 0.2 seconds while the probes are under way; a refused attempt counts neither for ``RetryPolicy/maximumRetries`` nor for the ``RetryBudget``. With a
/// ``HostRecoveryObserver`` the success of a probe wakes those that wait for the host.
///
/// ```swift
/// configuration.retryPolicy.circuitBreaker = CircuitBreaker()
/// ```
///
/// A circuit that is not closed is forgotten when nobody has asked for it in the 12 hours after its open time. Then it counts
/// as closed.
///
/// A reference: all configurations that are given one breaker share its circuits. It can be used from any thread.
public final class CircuitBreaker: Sendable {
    /// The states of a circuit.
    public enum State: Sendable, Hashable {
        /// Attempts are made.
        case closed
        /// No attempt is made.
        case open
        /// A few attempts are made, to see whether the host has recovered.
        case halfOpen
    }

    /// A circuit that is watched.
    private struct Watched {
        let broadcast: Broadcast<State>
        /// The state that it was told last.
        var told: State
        /// How many streams there are, or are about to be.
        var streams = 0
    }

    private struct Circuits {
        var table = OriginTable<CircuitState>()
        var watched: [Origin: Watched] = [:]
        /// The number of the last news, over all circuits: one that is idle is dropped, and its eras with it.
        var lastNews = 0
    }

    private let terms: CircuitState.Terms
    private let stopwatch: Stopwatch
    private let circuits = Locked(Circuits())

    /// Makes a breaker whose circuits are closed.
    ///
    /// - Parameters:
    ///   - failureRatio: The share of failures that opens a circuit, above 0 and at most 1. 0.5 by default.
    ///   - minimumThroughput: How many attempts must have ended in the window before it can open, at least 1. 20 by default.
    ///   - samplingWindow: The window in which they are counted; it moves in tenths. 10 s by default, at least a microsecond.
    ///   - openTime: How long a circuit stays open. 5 s by default; negative counts as zero.
    ///   - probes: How many attempts have to succeed one after another or at once in a half-open circuit, at least 1. 1 by
    ///     default.
    ///   - clock: The clock of the window and the open time: that of the configurations which use the breaker. The
    ///     continuous one by default.
    public init(
        failureRatio: Double = 0.5, minimumThroughput: Int = 20, samplingWindow: Duration = .seconds(10),
        openTime: Duration = .seconds(5), probes: Int = 1, clock: any Clock<Duration> = ContinuousClock()
    ) {
        precondition(
            failureRatio > 0 && failureRatio <= 1, "A circuit opens at a share of failures above 0 and at most 1.")
        precondition(minimumThroughput >= 1 && probes >= 1, "A circuit judges by at least one attempt.")
        terms = CircuitState.Terms(
            failureRatio: failureRatio, minimumThroughput: minimumThroughput,
            slice: max(samplingWindow, .microseconds(1)).nanoseconds / 10, openTime: max(openTime, .zero).nanoseconds,
            probes: probes)
        stopwatch = Stopwatch(clock)
    }

    /// The state of the circuit to a URL's scheme, host and port. An open circuit becomes half open with the first attempt
    /// after its time, not by itself.
    public func state(of url: URL) -> State {
        let now = stopwatch.nanoseconds
        return circuits.withLock { $0.table.entry(of: url)?.state(at: now) } ?? .closed
    }

    /// The state of the circuit to a URL's scheme, host and port, now and whenever it changes.
    ///
    /// The stream never ends by itself. Of states that were not taken in time only the last is kept.
    public func states(of url: URL) -> AsyncStream<State> {
        let (origin, now) = (Origin(url), stopwatch.nanoseconds)
        let broadcast = circuits.withLock { circuits in
            let present = circuits.table.entry(of: url)?.state(at: now) ?? .closed
            var watched =
                circuits.watched[origin]
                ?? Watched(broadcast: Broadcast(present, number: circuits.lastNews), told: present)
            watched.streams += 1
            circuits.watched[origin] = watched
            return watched.broadcast
        }
        return broadcast.stream { [weak self] in self?.streamEnded(of: origin) }
    }

    private func streamEnded(of origin: Origin) {
        // What it holds is freed outside of the lock.
        let unused: Watched? = circuits.withLock { circuits in
            circuits.watched[origin]?.streams -= 1
            return circuits.watched[origin]?.streams == 0 ? circuits.watched.removeValue(forKey: origin) : nil
        }
        withExtendedLifetime(unused) {}
    }

    /// How many circuits are kept.
    var count: Int { circuits.withLock { $0.table.count } }

    /// How many circuits are watched.
    var watchedCount: Int { circuits.withLock { $0.watched.count } }

    /// How long attempts to a URL's host are surely refused.
    func timeLeft(for url: URL?) -> Duration {
        let now = stopwatch.nanoseconds
        return .nanoseconds(circuits.withLock { $0.table.entry(of: url)?.timeLeft(at: now) } ?? 0)
    }

    /// Lets an attempt pass.
    ///
    /// - Throws: ``RequestError/Code/circuitOpen``.
    func admit(_ url: URL?) throws(RequestError) -> Permit {
        switch change(url, { ($0.admit(at: $1), isProbe: $0.state == .halfOpen) }) {
        case (.admitted(let era), let isProbe):
            return Permit(breaker: self, url: url, era: era, isProbe: isProbe)
        case (.refused(let time), _):
            let reason = time > 0 ? "for another \(Duration.nanoseconds(time))" : "but for the probes under way"
            throw RequestError(.circuitOpen, stage: .slot, reason: "the host is left alone, \(reason)")
        }
    }

    /// Settles the outcome of an attempt of an era; returns the era that it leads to, which for one of a former era is none.
    @discardableResult
    fileprivate func settle(_ outcome: CircuitState.Outcome, of url: URL?, era: Int) -> Int {
        change(url) { circuit, now in
            let isPresent = circuit.era == era
            circuit.settle(outcome, of: era, at: now)
            return isPresent ? circuit.era : era
        }
    }

    /// Changes a circuit and tells who watches it.
    private func change<Result>(_ url: URL?, _ change: (inout CircuitState, Int64) -> Result) -> Result {
        let now = stopwatch.nanoseconds
        let (result, news) = circuits.withLock { circuits in
            var isNews = false
            let (result, state) = circuits.table.change(
                url, at: now,
                initially: {
                    // A circuit that was open may have been forgotten.
                    isNews = true
                    return CircuitState(terms)
                }(), isIdle: { $0.isIdle(at: now) },
                by: { circuit in
                    let era = circuit.era
                    let result = change(&circuit, now)
                    if circuit.era != era { isNews = true }
                    return (result, circuit.state)
                })
            guard isNews else { return (result, nil as (() -> Void)?) }
            circuits.lastNews += 1
            guard !circuits.watched.isEmpty else { return (result, nil) }
            let origin = Origin(url)
            guard let watched = circuits.watched[origin], watched.told != state else { return (result, nil) }
            circuits.watched[origin]?.told = state
            return (result, { [number = circuits.lastNews] in watched.broadcast.send(state, number: number) })
        }
        news?()
        return result
    }

    /// The right to make one attempt; tells its outcome, once.
    final class Permit: Sendable {
        private enum State {
            /// Nothing was told.
            case open
            /// A probe's success is being told. What became of the rest meanwhile follows.
            case answering(CircuitState.Outcome?)
            /// A probe's success was told when its host answered; a failure of the rest counts in the era after it.
            case answered(next: Int)
            case settled
        }

        let url: URL?
        private let breaker: CircuitBreaker
        private let era: Int
        private let isProbe: Bool
        private let state = Locked(State.open)

        fileprivate init(breaker: CircuitBreaker, url: URL?, era: Int, isProbe: Bool) {
            self.breaker = breaker
            self.url = url
            self.era = era
            self.isProbe = isProbe
        }

        deinit { settle(.cancelled) }

        /// The host answered as it should. Of a probe that is enough: a long body must not keep others away from the host.
        func answered() {
            guard isProbe else { return }
            let isFirst = state.withLock { state in
                guard case .open = state else { return false }
                state = .answering(nil)
                return true
            }
            guard isFirst else { return }
            let next = breaker.settle(.succeeded, of: url, era: era)
            let meanwhile = state.withLock { state -> CircuitState.Outcome? in
                defer { state = .answered(next: next) }
                return if case .answering(let outcome) = state { outcome } else { nil }
            }
            if let meanwhile { settle(meanwhile) }
        }

        func settle(_ outcome: CircuitState.Outcome) {
            let former = state.withLock { state in
                defer {
                    state =
                        if case .answering(let earlier) = state { .answering(earlier ?? outcome) } else { .settled }
                }
                return state
            }
            switch former {
            case .open: breaker.settle(outcome, of: url, era: era)
            case .answered(let next) where outcome == .failed: breaker.settle(outcome, of: url, era: next)
            case .answering, .answered, .settled: break
            }
        }
    }
}
