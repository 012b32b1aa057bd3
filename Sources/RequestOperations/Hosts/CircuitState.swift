/// The circuit breaker of one origin. A pure value. Times are in nanoseconds since a fixed start.
struct CircuitState: Sendable {
    enum Admission: Equatable {
        /// The attempt may be made. The era is the number of the state that it belongs to.
        case admitted(era: Int, isProbe: Bool = false)
        /// The attempt may not be made. It can be tried again after this time, in nanoseconds.
        case refused(for: Int64)
    }

    enum Outcome {
        case succeeded
        case failed
        /// The attempt was cancelled, so nothing is known about the host.
        case cancelled
    }

    /// A new state, and the streams that must get it.
    struct News {
        fileprivate let state: CircuitBreaker.State
        fileprivate let era: Int
        fileprivate let broadcast: Broadcast<CircuitBreaker.State>

        func send() { broadcast.send(state, number: era) }
    }

    private enum Phase {
        case closed(Samples)
        case open(until: Int64)
        /// `latest` is the time at which the last probe was admitted.
        case halfOpen(underWay: Int, succeeded: Int, latest: Int64)
    }

    /// The outcomes of the sampling window, in slices.
    private struct Samples {
        private static let sliceCount: Int64 = 10
        private var slices: [(number: Int64, ended: Int, failed: Int)] = []

        mutating func count(_ hasFailed: Bool, in slice: Int64) {
            slices.removeAll { $0.number <= slice - Self.sliceCount }
            if slices.last.map({ $0.number < slice }) ?? true { slices.append((slice, 0, 0)) }
            slices[slices.count - 1].ended += 1
            if hasFailed { slices[slices.count - 1].failed += 1 }
        }

        func trips(_ breaker: CircuitBreaker) -> Bool {
            let (ended, failed) = slices.reduce((0, 0)) { ($0.0 + $1.ended, $0.1 + $1.failed) }
            return ended >= breaker.minimumThroughput && Double(failed) >= breaker.failureRatio * Double(ended)
        }

        func isOver(at slice: Int64) -> Bool { slices.last.map { $0.number <= slice - Self.sliceCount } ?? true }
    }

    private let breaker: CircuitBreaker
    private var phase = Phase.closed(Samples())
    /// The number of this state. Outcomes of attempts that were admitted in an earlier state say nothing about this
    /// one.
    private(set) var era = 0
    /// The streams of its states, while there are any, and how many there are.
    private var broadcast: Broadcast<CircuitBreaker.State>?
    private var streamCount = 0

    init(_ breaker: CircuitBreaker) {
        self.breaker = breaker
    }

    var news: News? { broadcast.map { News(state: state, era: era, broadcast: $0) } }

    /// Adds a stream of its states. A circuit with a stream is kept.
    mutating func watch(at now: Int64) -> Broadcast<CircuitBreaker.State> {
        streamCount += 1
        let all = broadcast ?? Broadcast(state(at: now), number: era)
        broadcast = all
        return all
    }

    /// Removes a stream. Returns what the caller frees.
    mutating func unwatch() -> Broadcast<CircuitBreaker.State>? {
        streamCount -= 1
        return streamCount == 0 ? broadcast.take() : nil
    }

    /// The state at a time. A forgotten circuit counts as closed.
    func state(at now: Int64) -> CircuitBreaker.State { isForgotten(at: now) ? .closed : state }

    var state: CircuitBreaker.State {
        switch phase {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }

    /// Whether this circuit is equivalent to a new one.
    func isIdle(at now: Int64) -> Bool {
        guard broadcast == nil else { return false }
        guard case .closed(let samples) = phase else { return isForgotten(at: now) }
        return samples.isOver(at: now / breaker.slice)
    }

    /// Whether no attempt has asked for ``HostMemory/longestRest``. The time counts from the end of the open time, or
    /// from the last probe. A forgotten circuit counts as closed.
    private func isForgotten(at now: Int64) -> Bool {
        switch phase {
        case .closed: false
        // The first attempt after this time makes the circuit half open.
        case .open(let end): now - HostMemory.longestRest >= end
        case .halfOpen(_, _, let latest): now - HostMemory.longestRest >= latest
        }
    }

    /// How long an attempt would be refused. Zero if it would pass, or if the time is not known.
    func timeLeft(at now: Int64) -> Int64 {
        if case .open(let end) = phase { max(end - now, 0) } else { 0 }
    }

    mutating func admit(at now: Int64) -> Admission {
        if isForgotten(at: now) { enter(.closed(Samples())) }
        switch phase {
        case .closed:
            return .admitted(era: era)
        case .open(let end) where now < end:
            return .refused(for: end - now)
        case .open:
            enter(.halfOpen(underWay: 1, succeeded: 0, latest: now))
            return .admitted(era: era, isProbe: true)
        case .halfOpen(let underWay, let succeeded, _):
            guard underWay + succeeded < breaker.probes else { return .refused(for: 0) }
            phase = .halfOpen(underWay: underWay + 1, succeeded: succeeded, latest: now)
            return .admitted(era: era, isProbe: true)
        }
    }

    /// Records the outcome of an attempt of an era. Returns the era after it. For an outcome of a past era, that is the
    /// same era.
    @discardableResult
    mutating func record(_ outcome: Outcome, of era: Int, at now: Int64) -> Int {
        guard era == self.era else { return era }
        switch (phase, outcome) {
        case (.closed, .cancelled), (.open, _):
            // No attempt is admitted while the circuit is open.
            break
        case (.closed(var samples), _):
            samples.count(outcome == .failed, in: now / breaker.slice)
            phase = .closed(samples)
            if samples.trips(breaker) { open(at: now) }
        case (.halfOpen, .failed):
            open(at: now)
        case (.halfOpen(let underWay, let succeeded, let latest), .cancelled):
            phase = .halfOpen(underWay: underWay - 1, succeeded: succeeded, latest: latest)
        case (.halfOpen(let underWay, let succeeded, let latest), .succeeded):
            phase = .halfOpen(underWay: underWay - 1, succeeded: succeeded + 1, latest: latest)
            if succeeded + 1 >= breaker.probes { enter(.closed(Samples())) }
        }
        return self.era
    }

    private mutating func open(at now: Int64) {
        enter(.open(until: now.adding(breaker.openTime)))
    }

    private mutating func enter(_ next: Phase) {
        phase = next
        era += 1
    }
}

/// The right to make one attempt to a host with a ``CircuitBreaker``. It reports the outcome once.
final class CircuitPermit: Sendable {
    private enum State {
        /// Nothing has been reported.
        case open(era: Int)
        /// The success of a probe is being reported. The value is the outcome of the rest of the response, if that is
        /// known meanwhile.
        case answering(CircuitState.Outcome?)
        /// The success of a probe was reported when its host answered. A failure of the rest counts in the era after
        /// it.
        case answered(next: Int)
        case finished
    }

    let origin: Origin
    private let breaker: CircuitBreaker
    private let hosts: HostRegistry
    private let isProbe: Bool
    private let state: Locked<State>

    init(for origin: Origin, _ breaker: CircuitBreaker, in hosts: HostRegistry, era: Int, isProbe: Bool) {
        (self.origin, self.breaker, self.hosts, self.isProbe) = (origin, breaker, hosts, isProbe)
        state = Locked(.open(era: era))
    }

    deinit { finish(.cancelled) }

    /// Records that the host answered as it should. For a probe that is enough, so that a long body does not keep
    /// others away from the host.
    func answered() {
        guard isProbe else { return }
        let era = state.withLock { state -> Int? in
            guard case .open(let era) = state else { return nil }
            state = .answering(nil)
            return era
        }
        guard let era else { return }
        let next = record(.succeeded, in: era)
        let meanwhile = state.withLock { state -> CircuitState.Outcome? in
            defer { state = .answered(next: next) }
            return if case .answering(let outcome) = state { outcome } else { nil }
        }
        if let meanwhile { finish(meanwhile) }
    }

    /// Reports the outcome, unless one has been reported.
    func finish(_ outcome: CircuitState.Outcome) {
        let former = state.withLock { state in
            defer {
                state = if case .answering(let earlier) = state { .answering(earlier ?? outcome) } else { .finished }
            }
            return state
        }
        switch former {
        case .open(let era): record(outcome, in: era)
        case .answered(let next) where outcome == .failed: record(outcome, in: next)
        case .answering, .answered, .finished: break
        }
    }

    /// Records an outcome. Returns the era that follows it.
    @discardableResult
    private func record(_ outcome: CircuitState.Outcome, in era: Int) -> Int {
        let (next, news) = hosts.visit(origin) { host, now in
            host.change(breaker) { $0.record(outcome, of: era, at: now) }
        }
        news?.send()
        return next
    }
}
