/// What is known about all hosts. A host has an entry as soon as there is anything to keep, such as a circuit.
///
/// What no longer matters is forgotten in one sweep over all hosts. It happens when a new host needs room, and at the
/// first use after an hour.
struct HostTable {
    private var hosts: [Origin: HostState] = [:]
    /// With this many hosts, the table sweeps before it adds another.
    private var roomFor = 64
    private var lastSweep = Int64.min

    var count: Int { hosts.count }

    /// The hosts of which anything is known.
    var origins: [Origin] { Array(hosts.keys) }

    /// Reads or changes what is known about a host.
    ///
    /// - Parameter now: The time, in nanoseconds since a fixed start.
    mutating func visit<Result>(_ origin: Origin, at now: Int64, _ body: (inout HostState) -> Result) -> Result {
        if now - HostMemory.sweepInterval >= lastSweep { sweep(at: now) }
        if let index = hosts.index(forKey: origin) { return body(&hosts.values[index]) }
        var host = HostState()
        let result = body(&host)
        guard !host.isBlank else { return result }
        if hosts.count >= roomFor { sweep(at: now) }
        hosts[origin] = host
        return result
    }

    /// Forgets what no longer matters. Sets the room to twice what is left, so that each host is checked a bounded
    /// number of times.
    private mutating func sweep(at now: Int64) {
        lastSweep = now
        guard !hosts.isEmpty else { return }
        hosts = hosts.compactMapValues { host in
            var host = host
            host.forget(at: now)
            return host.isBlank ? nil : host
        }
        roomFor = max(64, 2 * hosts.count)
    }
}

/// How long data about a host that is no longer used is kept. Times are in nanoseconds.
enum HostMemory {
    /// Data that is not used for this time is forgotten: half a day. So a host that fails once a day starts afresh each
    /// time.
    static let longestRest: Int64 = 12 * sweepInterval
    /// How often a table in use looks for data to forget: once an hour. So nothing is left after a day.
    static let sweepInterval: Int64 = 3_600_000_000_000
}

/// What is known about one host: budgets and circuits by their settings, `Retry-After`, and the requests that wait for
/// it. A pure value. Times are in nanoseconds since a fixed start.
///
/// A transition returns the listeners to notify and the requests to wake. The caller does that without the lock of the
/// table.
struct HostState {
    private var budgets: [RetryBudget: TokenBucket] = [:]
    private var circuits: [CircuitBreaker: CircuitState] = [:]
    private var silence: Silence?
    private var room: WaitingRoom?

    var isBlank: Bool { budgets.isEmpty && circuits.isEmpty && silence == nil && room == nil }

    mutating func forget(at now: Int64) {
        budgets = budgets.filter { !$0.value.isAsNew(at: now) }
        circuits = circuits.filter { !$0.value.isIdle(at: now) }
        if let silence, silence.keptUntil <= now { self.silence = nil }
        if let room, room.isIdle(at: now) { self.room = nil }
    }

    // MARK: Sending

    enum Admission {
        /// The attempt may be sent. It holds a permit if there is a breaker. The flag says whether its success is
        /// reported to the waiting requests.
        case admitted(CircuitState.Admission?, isAwaited: Bool)
        /// The host asked to be left alone.
        case leftAlone
    }

    /// Asks whether an attempt may be sent now.
    ///
    /// - Parameters:
    ///   - knownEnd: Until when the attempt knows that the host is to be left alone. `nil` if it may be sent anyway.
    ///   - budget: Counts this request. `nil` if it has been counted, or if there is no budget.
    ///   - breaker: The setting of the circuit that is asked.
    mutating func admit(
        knowing knownEnd: Int64?, counting budget: RetryBudget?, asking breaker: CircuitBreaker?, at now: Int64
    ) -> (Admission, CircuitState.News?) {
        if let knownEnd, silenceEnd(at: now) > knownEnd { return (.leftAlone, nil) }
        var (circuit, news) = (CircuitState.Admission?.none, CircuitState.News?.none)
        if let breaker { (circuit, news) = change(breaker) { $0.admit(at: now) } }
        if case .refused = circuit {} else if let budget { countRequest(under: budget, at: now) }
        // A request that is refused because of a probe begins to wait only after the probe was sent.
        let isProbe = if case .admitted(era: _, isProbe: true) = circuit { true } else { false }
        return (.admitted(circuit, isAwaited: isProbe || waitingCount > 0), news)
    }

    // MARK: Budgets

    /// Counts a request that is about to be sent for the first time.
    mutating func countRequest(under budget: RetryBudget, at now: Int64) {
        // A full bucket, like a new one that starts full, gains nothing.
        guard budget.perRequest > 0, !budget.bucket.startsFull || budgets[budget] != nil else { return }
        budgets[budget, default: TokenBucket(budget.bucket, at: now)].add(budget.perRequest, at: now)
    }

    /// Takes tokens for a retry. Returns how long it must wait for them, or `nil` if it is refused.
    ///
    /// - Parameter limit: The time within which the retry must begin. With zero, only tokens that are there are taken.
    mutating func take(_ tokens: Double, from budget: RetryBudget, within limit: Int64, at now: Int64) -> Int64? {
        budgets[budget, default: TokenBucket(budget.bucket, at: now)].take(tokens, at: now, within: limit)
    }

    /// Takes tokens for a retry that is sent in any case.
    mutating func spend(_ tokens: Double, of budget: RetryBudget, at now: Int64) {
        budgets[budget, default: TokenBucket(budget.bucket, at: now)].spend(tokens, at: now)
    }

    /// Puts tokens back. A bucket that is not there is full.
    mutating func putBack(_ tokens: Double, into budget: RetryBudget, at now: Int64) {
        budgets[budget]?.add(tokens, at: now)
    }

    /// What a retry would find. It takes nothing.
    func bucket(of budget: RetryBudget, at now: Int64) -> TokenBucket {
        budgets[budget] ?? TokenBucket(budget.bucket, at: now)
    }

    /// How long a retry would wait for tokens. It is the largest number if it would be refused.
    func shortage(of tokens: Double, in budget: RetryBudget, at now: Int64) -> Int64 {
        let wait = bucket(of: budget, at: now).wait(for: tokens, at: now)
        return wait > 0 && budget.mode == .failing ? .max : wait
    }

    // MARK: Circuits

    func circuit(_ breaker: CircuitBreaker) -> CircuitState { circuits[breaker] ?? CircuitState(breaker) }

    /// Changes a circuit. Returns the listeners to notify if its state has changed.
    mutating func change<Result>(
        _ breaker: CircuitBreaker, _ change: (inout CircuitState) -> Result
    ) -> (Result, CircuitState.News?) {
        // The circuit is taken out, so that its change does not copy it.
        var circuit = circuits.removeValue(forKey: breaker) ?? CircuitState(breaker)
        defer { circuits[breaker] = circuit }
        let era = circuit.era
        let result = change(&circuit)
        return (result, circuit.era == era ? nil : circuit.news)
    }

    // MARK: Retry-After

    /// What the host asked for.
    ///
    /// A longer wait replaces a shorter one. A success changes nothing, because it may answer a request that was sent
    /// before the host asked. A time that is longer than the asking request's ``RetryPolicy/maximumRetryAfter`` is
    /// forgotten after that maximum, or when another response asks for less. So no response blocks a host for a year.
    private struct Silence {
        let end: Int64
        /// The end, or the earlier time at which this is forgotten.
        let keptUntil: Int64
    }

    private func silence(at now: Int64) -> Silence? { silence.flatMap { $0.keptUntil > now ? $0 : nil } }

    /// Records what a response asked for.
    ///
    /// - Parameter longest: After this time it is forgotten.
    mutating func leaveAlone(for asked: Duration, keeping longest: Duration, at now: Int64) {
        guard asked > .zero, longest > .zero else { return }
        let new = Silence(end: now.adding(asked.nanoseconds), keptUntil: now.adding(min(asked, longest).nanoseconds))
        let former = silence(at: now)
        if let former, former.end <= new.end {
            silence = Silence(end: new.end, keptUntil: max(former.keptUntil, new.keptUntil))
        } else if former.map({ $0.end > $0.keptUntil }) ?? true {
            // An old time that would have been forgotten before its end gives way to the host's latest answer.
            silence = new
        }
    }

    /// When the host may be used again. Zero if it may be used now.
    func silenceEnd(at now: Int64) -> Int64 { silence(at: now)?.end ?? 0 }

    /// How long the host must still be left alone. A request that has sent nothing waits only as long as that is kept.
    func timeLeftAlone(afterSending wasSent: Bool = true, at now: Int64) -> Duration {
        guard let silence = silence(at: now) else { return .zero }
        return .nanoseconds(max((wasSent ? silence.end : silence.keptUntil) - now, 0))
    }

    // MARK: Waiting for recovery

    var waitingCount: Int { room?.count ?? 0 }

    /// Adds a request that waits for the host. Returns its number in the room.
    ///
    /// - Parameter delay: It is not released before this time is over.
    mutating func join(_ waiter: @escaping WaitingRoom.Waiter, notBefore delay: Int64, at now: Int64) -> UInt64 {
        // The rooms of a host follow each other by hours, so no number is given twice.
        var room = self.room.take() ?? WaitingRoom(firstNumber: UInt64(bitPattern: now))
        defer { self.room = room }
        return room.add(waiter, due: now.adding(delay), at: now)
    }

    /// Removes a request from the room. Returns what the caller must free.
    mutating func leave(_ number: UInt64) -> WaitingRoom.Waiter? { room?.remove(number) }

    /// Records something that concerns the waiting requests. Returns the requests to wake.
    mutating func hear(_ news: WaitingRoom.News, at now: Int64) -> [WaitingRoom.Waiter] {
        room?.hear(news, at: now) ?? []
    }
}
