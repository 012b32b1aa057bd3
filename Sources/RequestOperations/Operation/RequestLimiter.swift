/// Bounds how many attempts are in flight, all together and for each host.
///
/// A limiter admits *attempts*, not operations: a request that waits for its next attempt holds no slot. (That of a
/// ``RequestQueue`` admits what else the queue executes, too.) Among equals the line is first come, first served; a priority is
/// worth a head start of ten seconds a step, so that nothing starves but, maybe, an attempt that needs slots of two limiters
/// which others keep full. A host that is full never keeps a request to another one waiting.
public final class RequestLimiter: Sendable {
    typealias Place = SlotTable.Place

    private let state: Locked<SlotTable>
    private let stopwatch: Stopwatch
    private let clock: any Clock<Duration>

    /// Makes a limiter. A bound of zero or less is a programmer's error.
    ///
    /// - Parameters:
    ///   - total: How many attempts are in flight at most. `nil`, the default, is no bound.
    ///   - perHost: How many of them to one scheme, host and port. `nil`, the default, is no bound.
    ///   - maximumWaiting: How many attempts wait at most, 0 for none; one more fails as
    ///     ``RequestError/Code/slotRejected``. `nil`, the default, is no bound.
    ///   - rate: How many attempts begin in a time. `nil`, the default, is no bound.
    ///   - scope: Whether the rate bounds the attempts to each host or all together. ``RateScope/host`` by default.
    ///   - adaptsToTooManyRequests: Whether a host that answers 429 (RFC 6585) gets a rate of its own: what it accepted in the
    ///     last second. The rate grows by 10 % a second from when the host accepts an attempt again, and is forgotten after a
    ///     minute of that. A host that accepts none keeps it for 12 hours. Responses below 500 other than 429 count as
    ///     accepted. Only the limiter of a configuration hears of responses, not that of a ``RequestQueue``. `false` by
    ///     default.
    ///   - clock: The clock of the rate and of the priorities: that of the configurations which use the limiter. The continuous
    ///     one by default.
    public init(
        total: Int? = nil, perHost: Int? = nil, maximumWaiting: Int? = nil, rate: Rate? = nil,
        per scope: RateScope = .host, adaptsToTooManyRequests: Bool = false,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.clock = clock
        self.scope = scope
        self.adaptsToTooManyRequests = adaptsToTooManyRequests
        stopwatch = Stopwatch(clock)
        state = Locked(
            SlotTable(
                total: Self.bound(total), perHost: Self.bound(perHost),
                maximumWaiting: Self.lineBound(maximumWaiting),
                pacing: Pacing(rate: rate, scope: scope, adapts: adaptsToTooManyRequests)))
    }

    /// Whether the ``rate`` bounds the attempts to each host or all together.
    public let scope: RateScope

    /// Whether a host that answers 429 gets a rate of its own.
    public let adaptsToTooManyRequests: Bool

    /// How many attempts begin in a time; `nil` is no bound. A new rate holds from the next attempt on.
    public var rate: Rate? {
        get { state.withLock { $0.pacing?.rate } }
        set {
            let pacing = Pacing(rate: newValue, scope: scope, adapts: adaptsToTooManyRequests)
            change { table, _ in table.setPacing(pacing) }
        }
    }

    /// How many attempts are in flight at most; `nil` is no bound, zero or less a programmer's error. Raising it admits those
    /// who can run at once; lowering it interrupts none.
    public var total: Int? {
        get { state.withLock { $0.total == .max ? nil : $0.total } }
        set { change { table, _ in table.total = Self.bound(newValue) } }
    }

    /// How many attempts to one scheme, host and port are in flight at most; `nil` is no bound, zero or less a programmer's
    /// error. Raising and lowering it are as for the ``total``.
    public var perHost: Int? {
        get { state.withLock { $0.perHost == .max ? nil : $0.perHost } }
        set {
            change { table, _ in
                table.perHost = Self.bound(newValue)
                table.nominateAll()
            }
        }
    }

    /// How many attempts wait at most, 0 for none; `nil` is no bound. One more fails as ``RequestError/Code/slotRejected``,
    /// but for one that had a slot here already and waits for that of another limiter.
    /// Lowering it rejects nobody who waits already. In a ``RequestQueue`` only requests are ever rejected.
    public var maximumWaiting: Int? {
        get { state.withLock { $0.maximumWaiting == .max ? nil : $0.maximumWaiting } }
        set { state.withLock { $0.maximumWaiting = Self.lineBound(newValue) } }
    }

    /// How many attempts hold a slot now.
    public var inFlightCount: Int { state.withLock { $0.inFlight } }

    /// How many attempts wait for a slot now.
    public var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// How much is kept: hosts, and entries of all lines.
    var keptCounts: (hosts: Int, entries: Int) { state.withLock { ($0.hostCount, $0.entryCount) } }

    /// How many hosts have a pace of their own.
    var pacedHostCount: Int { state.withLock { $0.pacing?.hostCount ?? 0 } }

    private static func bound(_ limit: Int?) -> Int {
        precondition(limit ?? 1 > 0, "A limiter that admits nothing would hold its requests for ever.")
        return limit ?? .max
    }

    private static func lineBound(_ limit: Int?) -> Int {
        limit.map { max($0, 0) } ?? .max
    }

    private func change(
        telling tell: (any SlotWaiter) -> Void = { $0.wasAdmitted() }, _ edit: (inout SlotTable, Int64) -> Void
    ) {
        for waiter in waitersAdmitted(by: edit) { tell(waiter) }
    }

    /// Those who are admitted by a change that happens at a time; they are to be told.
    ///
    /// Without a pace nothing depends on the time. So the clock is read only where there is one, and outside of the lock, since
    /// it may be code of others.
    private func waitersAdmitted(by edit: (inout SlotTable, Int64) -> Void) -> [any SlotWaiter] {
        let unpaced: [any SlotWaiter]? = state.withLock { table in
            guard table.pacing == nil else { return nil }
            edit(&table, 0)
            return table.admit()
        }
        if let unpaced { return unpaced }
        let now = stopwatch.nanoseconds
        let (admitted, alarm) = state.withLock { table in
            edit(&table, now)
            return (table.admit(now: now), table.alarmToSet(now: now))
        }
        if let alarm { set(alarm, now: now) }
        return admitted
    }

    /// Has the table looked through at a time at which the pace lets somebody go.
    private func set(_ next: SlotTable.NextAlarm, now: Int64) {
        next.replaced?.cancel()
        let alarm = Alarm(after: .nanoseconds(next.time - now), on: clock) { [weak self, number = next.number] in
            self?.change(telling: Self.tellElsewhere) { table, _ in table.alarmRang(number) }
        }
        // It may have rung already, or another one has taken its place.
        if !state.withLock({ $0.keep(alarm, as: next) }) { alarm.cancel() }
    }

    /// Tells somebody without waiting for code of the user's, which is reached on another thread.
    private static func tellElsewhere(_ waiter: any SlotWaiter) {
        if waiter.reachesUserCode {
            DispatchQueue.global().async { waiter.wasAdmitted() }
        } else {
            waiter.wasAdmitted()
        }
    }

    /// A response of a host came. Called once for each head, also for that of a redirect.
    func heard(_ status: Int, from url: URL?) {
        guard adaptsToTooManyRequests else { return }
        let origin = Origin(url)
        change { table, now in table.heard(status, from: origin, now: now) }
    }

    /// Sets the ``total``, which may be 0 for a queue: then nothing is admitted until it is raised.
    func setTotal(_ total: Int?) {
        change { table, _ in table.total = total ?? .max }
    }

    /// Waits for a slot.
    ///
    /// Returns with a slot even if the Task was cancelled, if it was admitted before that was seen: check afterwards.
    ///
    /// - Parameters:
    ///   - origin: Where the attempt goes.
    ///   - priority: The operation's priority.
    ///   - place: The place in the line to take: that of an earlier wait, whom no full line rejects, or `nil` for the end of
    ///     the line, and then set to the place that was taken.
    ///   - isNew: Whether a full line rejects whoever comes at the place that is given, since nobody has waited there yet.
    /// - Throws: `CancellationError`, or ``RequestError/Code/slotRejected`` if the line is full.
    func slot(
        for origin: Origin, priority: Operation.QueuePriority, place: inout Place?, isNew: Bool = false
    ) async throws -> Slot {
        let taken = place
        let now = stopwatch.nanoseconds
        let (mine, isFree) = state.withLock { state in
            (taken ?? state.newPlace(priority, now: now), state.take(origin, now: now))
        }
        place = mine
        if isFree { return Slot(of: self, for: origin, at: mine) }
        let answer = Answer<Void>()
        switch enter(origin, at: mine, answer, mayBeRejected: isNew || taken == nil) {
        case .admitted: break
        case .rejected: throw RequestError(.slotRejected, stage: .slot, reason: "the limiter's line is full")
        case .waits: try await wait(for: answer, at: mine)
        }
        return Slot(of: self, for: origin, at: mine)
    }

    /// Waits for a place of a host, for an attempt that holds one of the total. No full line rejects it.
    fileprivate func placeOfHost(_ origin: Origin, at place: Place) async throws {
        let answer = Answer<Void>()
        if case .waits = enter(origin, at: place, answer, holdsTotal: true) { try await wait(for: answer, at: place) }
    }

    private func wait(for answer: Answer<Void>, at place: Place) async throws {
        try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            if leave(place) { answer.resume(with: .failure(CancellationError())) }
        }
    }

    /// Takes a slot if one is free now; it overtakes nobody.
    ///
    /// - Parameters:
    ///   - partner: The slot of another limiter that goes with it.
    ///   - priority: The operation's priority, for its place in the line of another host, to which it may be redirected.
    func slotAtOnce(
        for origin: Origin, with partner: Slot? = nil, priority: Operation.QueuePriority = .normal
    ) -> Slot? {
        let now = stopwatch.nanoseconds
        guard state.withLock({ $0.take(origin, now: now) }) else { return nil }
        return Slot(of: self, for: origin, at: newPlace(priority), with: partner)
    }

    // MARK: For those who wait without a Task

    func newPlace(_ priority: Operation.QueuePriority) -> Place {
        let now = stopwatch.nanoseconds
        return state.withLock { $0.newPlace(priority, now: now) }
    }

    /// Takes a slot, which then has to be given back, or a place in the line, if there is one.
    ///
    /// - Parameter holdsTotal: Whether the waiter holds a place of the total already, and needs one of the host only.
    func enter(
        _ origin: Origin?, at place: Place, _ waiter: any SlotWaiter, mayBeRejected: Bool = false,
        holdsTotal: Bool = false
    ) -> SlotTable.Entry {
        let now = stopwatch.nanoseconds
        let (entry, admitted, alarm) = state.withLock { state in
            let entry = state.enter(
                origin, at: place, waiter, mayBeRejected: mayBeRejected, holdsTotal: holdsTotal, now: now)
            // Without a pace, an attempt that has to wait changes nothing for the others.
            guard state.pacing != nil, case .waits = entry else {
                return (entry, [any SlotWaiter](), SlotTable.NextAlarm?.none)
            }
            return (entry, state.admit(now: now), state.alarmToSet(now: now))
        }
        if let alarm { set(alarm, now: now) }
        for waiter in admitted { Self.tellElsewhere(waiter) }
        return entry
    }

    /// Leaves the line; whether there was anybody at the place.
    func leave(_ place: Place) -> Bool {
        state.withLock { $0.leave(place) }
    }

    func giveBack(_ origin: Origin?) {
        change { table, _ in table.release(origin) }
    }

    /// Gives back a slot that was not used, for somebody who must not wait for the user's code.
    ///
    /// - Parameter keepsTotal: Whether only the place of the host is given back.
    func giveBackAtOnce(_ origin: Origin?, keepsTotal: Bool = false) {
        change(telling: Self.tellElsewhere) { table, now in
            if keepsTotal {
                table.releaseHost(origin, isUnused: true, now: now)
            } else {
                table.release(origin, isUnused: true, now: now)
            }
        }
    }

    /// The right to be in flight, given back once: by ``release()``, or when nobody holds it any longer.
    final class Slot: Sendable {
        private enum Holding {
            case slot(for: Origin?)
            /// A place of the total, while it waits for one of another host.
            case total
            case nothing
        }

        private let limiter: RequestLimiter
        /// The place in the line at which it was taken; `nil` for what is never redirected.
        private let place: Place?
        /// The slot of a second limiter that was taken with this one.
        private let partner: Slot?
        private let holding: Locked<Holding>

        /// Makes the slot that was taken of a limiter.
        init(of limiter: RequestLimiter, for origin: Origin?, at place: Place? = nil, with partner: Slot? = nil) {
            self.limiter = limiter
            self.place = place
            self.partner = partner
            holding = Locked(.slot(for: origin))
        }

        /// Whether it is one for attempts to this origin.
        func isFor(_ origin: Origin) -> Bool {
            holding.withLock { if case .slot(let present) = $0 { present == origin } else { false } }
        }

        /// Exchanges the place of its host for one of another host, at the attempt's old place in the line. The place of
        /// the total is kept. With a second limiter it does so in both: it gets both places, or it holds neither.
        ///
        /// For one call at a time, by the only holder that can release it. After an error it holds the place of the total
        /// until it is released.
        ///
        /// - Parameter priority: For a place at the end of the line, should it have none.
        /// - Throws: `CancellationError`.
        func exchange(for origin: Origin, priority: Operation.QueuePriority) async throws {
            for waiter in giveUpHosts() { waiter.wasAdmitted() }
            let place = place ?? limiter.newPlace(priority)
            guard let partner else {
                try await limiter.placeOfHost(origin, at: place)
                return hold(origin)
            }
            let places = AttemptLimiters.Places(first: place, second: partner.place)
            let wait = JointWait(
                for: origin, of: limiter, partner.limiter, priority: priority, places: places, holdTotals: true)
            try await wait.outcome()
            partner.hold(origin)
            hold(origin)
        }

        private func hold(_ origin: Origin) {
            holding.withLock { $0 = .slot(for: origin) }
        }

        /// Gives back the places of its hosts before anybody is told of either.
        private func giveUpHosts() -> [any SlotWaiter] {
            let former = holding.withLock { holding in
                defer { if case .slot = holding { holding = .total } }
                return holding
            }
            guard case .slot(let origin) = former else { return [] }
            let admitted = limiter.waitersAdmitted { table, _ in table.releaseHost(origin) }
            return partner.map { admitted + $0.giveUpHosts() } ?? admitted
        }

        deinit { release() }

        /// Gives the slot back, and that which was taken with it; a second call does nothing.
        ///
        /// - Parameter isUnused: Whether nothing was sent, so that it counts for no rate.
        func release(isUnused: Bool = false) {
            for waiter in giveUp(isUnused: isUnused) { waiter.wasAdmitted() }
        }

        /// Gives back both before anybody is told of either: who needs both finds both.
        private func giveUp(isUnused: Bool) -> [any SlotWaiter] {
            let former = holding.withLock { holding in
                defer { holding = .nothing }
                return holding
            }
            let admitted =
                switch former {
                case .slot(let origin):
                    limiter.waitersAdmitted { table, now in table.release(origin, isUnused: isUnused, now: now) }
                case .total: limiter.waitersAdmitted { table, _ in table.releaseTotal() }
                case .nothing: [] as [any SlotWaiter]
                }
            return partner.map { admitted + $0.giveUp(isUnused: isUnused) } ?? admitted
        }
    }
}
