/// Bounds how many attempts are in flight, in total and for each host.
///
/// A limiter admits *attempts*, not operations. A request that waits for its next attempt holds no slot. The limiter of
/// a ``RequestQueue`` also admits the other operations that execute in the queue. The highest priority comes first, and
/// among equals the earliest, as in Foundation's queues. A full host never holds up a request to another host.
///
/// All members can be used from any thread.
public final class RequestLimiter: Sendable {
    typealias Place = SlotTable.Place

    private let state: Locked<SlotTable>
    private let clock: RequestClock

    /// Makes a limiter. A bound of zero or less is a programming error.
    ///
    /// - Parameters:
    ///   - total: The most attempts in flight. `nil`, the default, means no bound.
    ///   - perHost: The most attempts in flight to one scheme, host and port. `nil`, the default, means no bound.
    ///   - maximumWaiting: The most attempts that wait, 0 for none. A further attempt fails as
    ///     ``RequestError/Code/slotRejected``. `nil`, the default, means no bound.
    ///   - rate: How many attempts may begin per second. `nil`, the default, means no bound.
    ///   - scope: Whether the rate bounds the attempts to each host or all together. ``RateScope/host`` by default.
    ///   - adaptsToTooManyRequests: Whether a host that answers 429 (RFC 6585) gets its own rate. `false` by default.
    ///     That rate is what the host accepted in the last second. It grows by 10 % a second once the host accepts an
    ///     attempt again. If the host accepted nothing before its first 429, the rate is one a second, and it doubles
    ///     each second. After a minute of growth it is forgotten. If the host accepts nothing, the rate is kept for 12
    ///     hours. Responses below 500 other than 429 count as accepted. The limiters of a configuration and of a
    ///     ``RequestQueue`` see the responses.
    ///   - clock: The clock of the rate. Use that of the configurations which use the limiter. The continuous clock by
    ///     default.
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
                maximumWaiting: Self.waitingBound(maximumWaiting),
                pacing: Pacing(rate: rate, scope: scope, adapts: adaptsToTooManyRequests)))
    }

    /// Whether the ``rate`` bounds the attempts to each host or all together.
    package let scope: RateScope

    /// Whether a host that answers 429 gets its own rate.
    package let adaptsToTooManyRequests: Bool

    /// How many attempts may begin per second. `nil` means no bound. A new rate applies from the next attempt on.
    public var rate: Rate? {
        get { state.withLock { $0.pacing?.rate } }
        set {
            let pacing = Pacing(rate: newValue, scope: scope, adapts: adaptsToTooManyRequests)
            change { table, _ in table.setPacing(pacing) }
        }
    }

    /// The most attempts in flight. `nil` means no bound. Zero or less is a programming error. Raising it admits at
    /// once the attempts that can run. Lowering it interrupts none.
    public var total: Int? {
        get { state.withLock { $0.total == .max ? nil : $0.total } }
        set { change { table, _ in table.total = Self.bound(newValue) } }
    }

    /// The most attempts in flight to one scheme, host and port. `nil` means no bound. Zero or less is a programming
    /// error. Raising and lowering it work as for the ``total``.
    public var perHost: Int? {
        get { state.withLock { $0.perHost == .max ? nil : $0.perHost } }
        set {
            change { table, _ in
                table.perHost = Self.bound(newValue)
                table.nominateAll()
            }
        }
    }

    /// The most attempts that wait, 0 for none. `nil` means no bound.
    ///
    /// A further attempt fails as ``RequestError/Code/slotRejected``. An attempt that had a slot here, and waits for a
    /// slot of another limiter, is not rejected. Lowering the bound rejects no attempt that already waits. The limiter
    /// of a ``RequestQueue`` rejects nothing.
    public var maximumWaiting: Int? {
        get { state.withLock { $0.maximumWaiting == .max ? nil : $0.maximumWaiting } }
        set { state.withLock { $0.maximumWaiting = Self.waitingBound(newValue) } }
    }

    /// How many attempts hold a slot now.
    public var inFlightCount: Int { state.withLock { $0.inFlight } }

    /// How many attempts wait for a slot now.
    public var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// How much memory is used: the number of hosts, and of the entries of all queues.
    var keptCounts: (hosts: Int, entries: Int) { state.withLock { ($0.hostCount, $0.entryCount) } }

    /// How many hosts have a pace of their own.
    var pacedHostCount: Int { state.withLock { $0.pacing?.hostCount ?? 0 } }

    private static func bound(_ limit: Int?) -> Int {
        precondition(limit ?? 1 > 0, "A limiter that admits nothing would keep its requests waiting forever.")
        return limit ?? .max
    }

    private static func waitingBound(_ limit: Int?) -> Int {
        limit.map { max($0, 0) } ?? .max
    }

    /// Reads or changes the table at a time.
    ///
    /// Without a pace, nothing depends on the time. So the clock is read only if there is a pace. It is read outside
    /// the lock, because it may be code of the user.
    private func withTable<Result>(_ body: (inout SlotTable, Int64) -> Result) -> Result {
        let unpaced: Result? = state.withLock { $0.pacing == nil ? body(&$0, 0) : nil }
        if let unpaced { return unpaced }
        let now = clock.now.nanoseconds
        return state.withLock { body(&$0, now) }
    }

    private func change(
        notifying notify: (any SlotWaiter) -> Void = { $0.wasAdmitted() }, _ edit: (inout SlotTable, Int64) -> Void
    ) {
        for waiter in waitersAdmitted(by: edit) { notify(waiter) }
    }

    /// The waiters that a change admits. The caller must notify them.
    func waitersAdmitted(by edit: (inout SlotTable, Int64) -> Void) -> [any SlotWaiter] {
        let (admitted, alarm, now) = withTable { table, now in
            edit(&table, now)
            return (table.admit(now: now), table.alarmToSet(now: now), now)
        }
        if let alarm { set(alarm, now: now) }
        return admitted
    }

    /// Sets the alarm after which the pace admits a waiter.
    private func set(_ next: SlotTable.NextAlarm, now: Int64) {
        next.replaced?.cancel()
        let alarm = clock.alarm(after: .nanoseconds(next.time - now)) { [weak self, number = next.number] in
            self?.change(notifying: Self.notifyElsewhere) { table, _ in table.alarmRang(number) }
        }
        // It may have rung already, or another one may have replaced it.
        if !state.withLock({ $0.keep(alarm, as: next) }) { alarm.cancel() }
    }

    /// Notifies a waiter. If that may run code of the user, it happens on another thread, so that the caller does not
    /// wait.
    private static func notifyElsewhere(_ waiter: any SlotWaiter) {
        if waiter.reachesUserCode {
            DispatchQueue.global().async { waiter.wasAdmitted() }
        } else {
            waiter.wasAdmitted()
        }
    }

    /// How many attempts to a URL's host may begin per second now. `nil` if neither a rate nor an answer of the host bounds them.
    package func pace(to url: URL) -> Double? { pace(to: Origin(url)) }

    func pace(to origin: Origin) -> Double? {
        let now = clock.now.nanoseconds
        return state.withLock { $0.pacing?.perSecond(for: origin, at: now) }
    }

    /// Records a response of a host. Called once for each head, including that of a redirect.
    func heard(_ status: Int, from url: URL?) {
        guard adaptsToTooManyRequests else { return }
        let origin = Origin(url)
        change { table, now in table.heard(status, from: origin, now: now) }
    }

    // MARK: For a queue

    /// Sets the ``total``. For a queue it may be 0. Then nothing is admitted until it is raised.
    func setTotal(_ total: Int?) {
        change { table, _ in table.total = total ?? .max }
    }

    /// Whether nothing may begin, as in a suspended queue.
    var isSuspended: Bool {
        get { state.withLock { $0.isSuspended } }
        set { change { table, _ in table.isSuspended = newValue } }
    }

    // MARK: Slots

    func newPlace() -> Place { state.withLock { $0.newPlace() } }

    /// Waits for a slot.
    ///
    /// If the Task is cancelled too late, it returns with a slot. So check for a cancel afterwards.
    ///
    /// - Parameters:
    ///   - origin: The host of the attempt.
    ///   - place: Its position among the waiters.
    ///   - standing: What it waits for.
    ///   - mayBeRejected: Whether the ``maximumWaiting`` bounds it.
    /// - Throws: `CancellationError`, or ``RequestError/Code/slotRejected`` if too many wait.
    func slot(
        for origin: Origin?, at place: Place, as standing: SlotTable.Standing = .later, mayBeRejected: Bool = false
    ) async throws -> Slot {
        // Usually there is a free slot, and then no waiter must be notified.
        if let slot = slotAtOnce(for: origin, as: standing) { return slot }
        let answer = Answer<Void>()
        switch enter(origin, at: place, answer, as: standing, mayBeRejected: mayBeRejected) {
        case .admitted: break
        case .rejected:
            throw RequestError(.slotRejected, stage: .slot, reason: "too many attempts wait for the limiter")
        case .waits:
            try await answer.cancellableValue { leave(place) }
        }
        return Slot(of: self, for: origin)
    }

    /// Takes a slot if one is free now. It overtakes no waiter.
    func slotAtOnce(for origin: Origin?, as standing: SlotTable.Standing = .later) -> Slot? {
        withTable { $0.take(origin, as: standing, now: $1) } ? Slot(of: self, for: origin) : nil
    }

    // MARK: For waiters without a Task

    /// Takes a slot, which the caller must then release. If none is free, it waits at its position.
    func enter(
        _ origin: Origin?, at place: Place, _ waiter: any SlotWaiter, as standing: SlotTable.Standing = .later,
        mayBeRejected: Bool = false
    ) -> SlotTable.Entry {
        var entry = SlotTable.Entry.waits
        // With a pace, the time may have come for others that wait.
        change(notifying: Self.notifyElsewhere) { table, now in
            entry = table.enter(origin, at: place, waiter, as: standing, mayBeRejected: mayBeRejected, now: now)
        }
        return entry
    }

    /// Stops waiting. Returns whether there was such a waiter at the position.
    ///
    /// - Parameters:
    ///   - place: The position.
    ///   - isLeaving: Whether it is the waiter there that leaves. By default any.
    func leave(_ place: Place, if isLeaving: (any SlotWaiter) -> Bool = { _ in true }) -> Bool {
        state.withLock { $0.leave(place, if: isLeaving) }
    }

    /// Releases a slot that was not used, for a caller that must not wait for code of the user.
    func releaseUnused(_ origin: Origin?) {
        change(notifying: Self.notifyElsewhere) { table, now in table.release(origin, isUnused: true, now: now) }
    }
}

extension RequestLimiter {
    /// How many attempts may begin per second.
    ///
    /// Attempts follow each other evenly. With ``perSecond(_:burst:)`` of 10, one begins every 100 ms.
    public struct Rate: Sendable, Hashable, CustomStringConvertible {
        /// The attempts that may begin in a second.
        package let perSecond: Double
        /// How many attempts may begin at once after a pause.
        package let burst: Int

        /// A number of attempts per second.
        ///
        /// - Parameters:
        ///   - count: The attempts per second. It may be less than 1: 0.1 is one attempt in ten seconds. Zero, a
        ///     negative number and NaN are programming errors.
        ///   - burst: How many attempts may begin at once if none began for a while. 1 by default, and at least 1.
        public static func perSecond(_ count: Double, burst: Int = 1) -> Rate {
            precondition(count > 0, "A rate of \(count) attempts a second would keep its requests waiting forever.")
            return Rate(perSecond: min(count, 1e9), burst: max(burst, 1))
        }

        /// The rate as text, such as "10.0 per second".
        public var description: String { "\(perSecond) per second" + (burst > 1 ? ", \(burst) at once" : "") }
    }

    /// What a rate bounds.
    public enum RateScope: Sendable, Hashable {
        /// The attempts to each scheme, host and port, separately.
        case host
        /// All attempts together.
        case all
    }
}

extension RequestLimiter {
    /// The right to be in flight. It is released once, by ``release(isUnused:)`` or when nothing refers to it any
    /// more.
    final class Slot: Sendable {
        let limiter: RequestLimiter
        /// The host for which it counts, also after a redirect to another one.
        let origin: Origin?
        private let state = Locked(true)

        /// Makes the slot that was taken from a limiter.
        init(of limiter: RequestLimiter, for origin: Origin?) {
            (self.limiter, self.origin) = (limiter, origin)
        }

        deinit { release() }

        /// Whether it has not been released.
        var isHeld: Bool { state.withLock { $0 } }

        /// Releases the slot. A second call does nothing.
        ///
        /// - Parameter isUnused: Whether nothing was sent, so that the rate does not count it.
        func release(isUnused: Bool = false) {
            for waiter in releaseQuietly(isUnused: isUnused) { waiter.wasAdmitted() }
        }

        /// Releases the slot. Returns the waiters that the caller must notify.
        fileprivate func releaseQuietly(isUnused: Bool) -> [any SlotWaiter] {
            guard takeRight() else { return [] }
            return limiter.waitersAdmitted { $0.release(origin, isUnused: isUnused, now: $1) }
        }

        /// Releases the unused slot for one of another host, ahead of those who wait for a place there.
        /// Returns `nil` if there is none, or if others wait for its rate.
        func exchanged(for other: Origin) -> Slot? {
            guard takeRight() else { return nil }
            var isTaken = false
            let admitted = limiter.waitersAdmitted { table, now in
                table.release(origin, isUnused: true, now: now)
                isTaken = table.take(other, now: now)
            }
            for waiter in admitted { waiter.wasAdmitted() }
            return isTaken ? Slot(of: limiter, for: other) : nil
        }

        private func takeRight() -> Bool {
            state.withLock { isHeld in
                defer { isHeld = false }
                return isHeld
            }
        }
    }
}

extension [RequestLimiter.Slot] {
    /// Releases all of them before any waiter is notified. A waiter that needs several then finds them.
    func release(isUnused: Bool = false) {
        for waiter in flatMap({ $0.releaseQuietly(isUnused: isUnused) }) { waiter.wasAdmitted() }
    }
}

/// Waits for a slot. It is called on the thread that frees the slot, without any lock.
protocol SlotWaiter: AnyObject, Sendable {
    func wasAdmitted()

    /// Whether ``wasAdmitted()`` may run code of the user, which may take long.
    var reachesUserCode: Bool { get }
}

extension SlotWaiter {
    var reachesUserCode: Bool { false }
}

extension Answer: SlotWaiter where Value == Void {
    func wasAdmitted() {
        resume(with: .success(()))
    }
}
