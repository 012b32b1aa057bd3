/// The circuit breaker of one origin. A pure value. Times are in nanoseconds since a fixed start.
struct CircuitState: Sendable {
    struct Terms: Sendable, Hashable {
        let failureRatio: Double
        let minimumThroughput: Int
        /// The length of a tenth of the sampling window.
        let slice: Int64
        let openTime: Int64
        let probes: Int
    }

    enum Admission: Equatable {
        /// The attempt may be made. The era is the number of the state that it belongs to.
        case admitted(era: Int)
        /// The attempt may not be made. It can be tried again after this time, in nanoseconds.
        case refused(for: Int64)
    }

    enum Outcome {
        case succeeded
        case failed
        /// The attempt was cancelled, so nothing is known about the host.
        case cancelled
    }

    private enum Phase {
        case closed(Samples)
        case open(until: Int64)
        /// `latest` is the time at which the last probe was admitted.
        case halfOpen(underWay: Int, succeeded: Int, latest: Int64)
    }

    /// The outcomes of the sampling window, in slices.
    private struct Samples {
        static let sliceCount = 10
        var current: Int64 = 0
        var successes = [Int](repeating: 0, count: sliceCount)
        var failures = [Int](repeating: 0, count: sliceCount)

        mutating func count(_ hasFailed: Bool, in slice: Int64) {
            let steps = slice - current
            if steps > 0 {
                for step in 1...min(steps, Int64(Self.sliceCount)) {
                    let index = Int((current + step) % Int64(Self.sliceCount))
                    successes[index] = 0
                    failures[index] = 0
                }
                current = slice
            }
            let index = Int(current % Int64(Self.sliceCount))
            if hasFailed { failures[index] += 1 } else { successes[index] += 1 }
        }

        func trips(_ terms: Terms) -> Bool {
            let failed = failures.reduce(0, +)
            let all = failed + successes.reduce(0, +)
            return all >= terms.minimumThroughput && Double(failed) >= terms.failureRatio * Double(all)
        }

        func isOver(at slice: Int64) -> Bool { slice >= current + Int64(Self.sliceCount) }
    }

    private let terms: Terms
    private var phase = Phase.closed(Samples())
    /// The number of this state. Outcomes of attempts that were admitted in an earlier state say nothing about this
    /// one.
    private(set) var era = 0

    init(_ terms: Terms) {
        self.terms = terms
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
        if case .closed(let samples) = phase { samples.isOver(at: now / terms.slice) } else { isForgotten(at: now) }
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
            return .admitted(era: era)
        case .halfOpen(let underWay, let succeeded, _):
            guard underWay + succeeded < terms.probes else { return .refused(for: 0) }
            phase = .halfOpen(underWay: underWay + 1, succeeded: succeeded, latest: now)
            return .admitted(era: era)
        }
    }

    mutating func settle(_ outcome: Outcome, of era: Int, at now: Int64) {
        guard era == self.era else { return }
        switch (phase, outcome) {
        case (.closed, .cancelled), (.open, _):
            // No attempt is admitted while the circuit is open.
            break
        case (.closed(var samples), _):
            samples.count(outcome == .failed, in: now / terms.slice)
            phase = .closed(samples)
            if samples.trips(terms) { open(at: now) }
        case (.halfOpen, .failed):
            open(at: now)
        case (.halfOpen(let underWay, let succeeded, let latest), .cancelled):
            phase = .halfOpen(underWay: underWay - 1, succeeded: succeeded, latest: latest)
        case (.halfOpen(let underWay, let succeeded, let latest), .succeeded):
            phase = .halfOpen(underWay: underWay - 1, succeeded: succeeded + 1, latest: latest)
            if succeeded + 1 >= terms.probes { enter(.closed(Samples())) }
        }
    }

    private mutating func open(at now: Int64) {
        enter(.open(until: now.adding(terms.openTime)))
    }

    private mutating func enter(_ next: Phase) {
        phase = next
        era += 1
    }
}
