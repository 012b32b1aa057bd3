/// Bounds how many attempts are in flight, all together and for each host.
///
/// A limiter admits *attempts*, not operations: a request that waits for its next attempt holds no slot. (That of a
/// ``RequestQueue`` also admits what else the queue executes.) The highest priority comes first, and among equals who came
/// first, as in Foundation's queues. A host that is full never keeps a request to another one waiting.
public final class RequestLimiter: Sendable {
    typealias Place = SlotTable.Place

    private let state: Locked<SlotTable>
    private let clock: RequestClock

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
    ///     accepted. The limiters of a configuration and of a ``RequestQueue`` hear of responses. `false` by default.
    ///   - clock: The clock of the rate: that of the configurations which use the limiter. The continuous one by default.
    public init(
        total: Int? = nil, perHost: Int? = nil, maximumWaiting: Int? = nil, rate: Rate? = nil,
        per scope: RateScope = .host, adaptsToTooManyRequests: Bool = false,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.clock = RequestClock(clock)
        self.scope = scope
        self.adaptsToTooManyRequests = adaptsToTooManyRequests
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
    /// Lowering it rejects nobody who waits already. The limiter of a ``RequestQueue`` rejects nothing.
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

    /// Reads or changes the table at a time.
    ///
    /// Without a pace nothing depends on the time. So the clock is read only where there is one, and outside of the lock, since
    /// it may be code of others.
    private func withTable<Result>(_ body: (inout SlotTable, Int64) -> Result) -> Result {
        let unpaced: Result? = state.withLock { $0.pacing == nil ? body(&$0, 0) : nil }
        if let unpaced { return unpaced }
        let now = clock.now.nanoseconds
        return state.withLock { body(&$0, now) }
    }

    private func change(
        telling tell: (any SlotWaiter) -> Void = { $0.wasAdmitted() }, _ edit: (inout SlotTable, Int64) -> Void
    ) {
        for waiter in waitersAdmitted(by: edit) { tell(waiter) }
    }

    /// Those who are admitted by a change that happens at a time; they are to be told.
    func waitersAdmitted(by edit: (inout SlotTable, Int64) -> Void) -> [any SlotWaiter] {
        let (admitted, alarm, now) = withTable { table, now in
            edit(&table, now)
            return (table.admit(now: now), table.alarmToSet(now: now), now)
        }
        if let alarm { set(alarm, now: now) }
        return admitted
    }

    /// Has the table looked through at a time at which the pace lets somebody go.
    private func set(_ next: SlotTable.NextAlarm, now: Int64) {
        next.replaced?.cancel()
        let alarm = clock.alarm(after: .nanoseconds(next.time - now)) { [weak self, number = next.number] in
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

    // MARK: For a queue

    /// Sets the ``total``, which may be 0 for a queue: then nothing is admitted until it is raised.
    func setTotal(_ total: Int?) {
        change { table, _ in table.total = total ?? .max }
    }

    /// Whether nothing may begin, as in a queue that is suspended.
    var isSuspended: Bool {
        get { state.withLock { $0.isSuspended } }
        set { change { table, _ in table.isSuspended = newValue } }
    }

    // MARK: Slots

    func newPlace(_ priority: Operation.QueuePriority = .normal) -> Place {
        state.withLock { $0.newPlace(priority) }
    }

    /// Waits for a slot.
    ///
    /// Returns with a slot even if the Task was cancelled, if it was admitted before that was seen: check afterwards.
    ///
    /// - Parameters:
    ///   - origin: Where the attempt goes.
    ///   - place: Its place in the line.
    ///   - standing: What it waits for.
    ///   - mayBeRejected: Whether a full line rejects it.
    /// - Throws: `CancellationError`, or ``RequestError/Code/slotRejected`` if the line is full.
    func slot(
        for origin: Origin?, at place: Place, as standing: SlotTable.Standing = .later, mayBeRejected: Bool = false
    ) async throws -> Slot {
        try await takeSlot(for: origin, at: place, as: standing, mayBeRejected: mayBeRejected)
        return Slot(of: self, for: origin, at: place)
    }

    private func takeSlot(
        for origin: Origin?, at place: Place, as standing: SlotTable.Standing, mayBeRejected: Bool = false
    ) async throws {
        // Mostly there is one, and then nobody has to be told.
        if withTable({ $0.take(origin, as: standing, now: $1) }) { return }
        let answer = Answer<Void>()
        switch enter(origin, at: place, answer, as: standing, mayBeRejected: mayBeRejected) {
        case .admitted: return
        case .rejected: throw RequestError(.slotRejected, stage: .slot, reason: "the limiter's line is full")
        case .waits: break
        }
        try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            if leave(place) { answer.resume(with: .failure(CancellationError())) }
        }
    }

    /// Takes a slot if one is free now; it overtakes nobody.
    ///
    /// - Parameter place: Its place in the line of another host, to which it may be redirected. `nil` is the end.
    func slotAtOnce(
        for origin: Origin?, at place: Place? = nil, as standing: SlotTable.Standing = .later
    ) -> Slot? {
        guard withTable({ $0.take(origin, as: standing, now: $1) }) else { return nil }
        return Slot(of: self, for: origin, at: place)
    }

    // MARK: For those who wait without a Task

    /// Takes a slot, which then has to be given back, or a place in the line, if there is one.
    func enter(
        _ origin: Origin?, at place: Place, _ waiter: any SlotWaiter, as standing: SlotTable.Standing = .later,
        mayBeRejected: Bool = false
    ) -> SlotTable.Entry {
        let (entry, admitted, alarm, now) = withTable { table, now in
            let entry = table.enter(
                origin, at: place, waiter, as: standing, mayBeRejected: mayBeRejected, now: now)
            // Without a pace, an attempt that has to wait changes nothing for the others.
            guard table.pacing != nil, case .waits = entry else {
                return (entry, [any SlotWaiter](), SlotTable.NextAlarm?.none, now)
            }
            return (entry, table.admit(now: now), table.alarmToSet(now: now), now)
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
    func giveBackAtOnce(_ origin: Origin?) {
        change(telling: Self.tellElsewhere) { table, now in table.release(origin, isUnused: true, now: now) }
    }

    /// Takes a place of a host for one that holds a place of the total. No full line rejects it.
    func takeHost(_ origin: Origin, at place: Place?) async throws {
        try await takeSlot(for: origin, at: place ?? newPlace(), as: .redirected)
    }

    /// Gives back a place of a host, and not that of the total.
    func giveBackHost(_ origin: Origin) {
        change { table, now in table.releaseHost(origin, isUnused: true, now: now) }
    }
}
