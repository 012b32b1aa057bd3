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

    /// Makes a limiter. A bound of zero or less is a programmer's error.
    ///
    /// - Parameters:
    ///   - total: How many attempts are in flight at most. `nil`, the default, is no bound.
    ///   - perHost: How many of them to one scheme, host and port. `nil`, the default, is no bound.
    ///   - maximumWaiting: How many attempts wait at most, 0 for none; one more fails as
    ///     ``RequestError/Code/slotRejected``. `nil`, the default, is no bound.
    public convenience init(total: Int? = nil, perHost: Int? = nil, maximumWaiting: Int? = nil) {
        self.init(total: total, perHost: perHost, maximumWaiting: maximumWaiting, clock: ContinuousClock())
    }

    /// Makes a limiter that measures the head start of a priority on a clock.
    init(total: Int? = nil, perHost: Int? = nil, maximumWaiting: Int? = nil, clock: any Clock<Duration>) {
        stopwatch = Stopwatch(clock)
        state = Locked(
            SlotTable(
                total: Self.bound(total), perHost: Self.bound(perHost),
                maximumWaiting: Self.lineBound(maximumWaiting)))
    }

    /// How many attempts are in flight at most; `nil` is no bound, zero or less a programmer's error. Raising it admits those
    /// who can run at once; lowering it interrupts none.
    public var total: Int? {
        get { state.withLock { $0.total == .max ? nil : $0.total } }
        set { change { $0.total = Self.bound(newValue) } }
    }

    /// How many attempts to one scheme, host and port are in flight at most; `nil` is no bound, zero or less a programmer's
    /// error. Raising and lowering it are as for the ``total``.
    public var perHost: Int? {
        get { state.withLock { $0.perHost == .max ? nil : $0.perHost } }
        set {
            change { state in
                state.perHost = Self.bound(newValue)
                state.nominateAll()
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

    private static func bound(_ limit: Int?) -> Int {
        precondition(limit ?? 1 > 0, "A limiter that admits nothing would hold its requests for ever.")
        return limit ?? .max
    }

    private static func lineBound(_ limit: Int?) -> Int {
        limit.map { max($0, 0) } ?? .max
    }

    private func change(
        telling tell: (any SlotWaiter) -> Void = { $0.wasAdmitted() }, _ edit: (inout SlotTable) -> Void
    ) {
        for waiter in waitersAdmitted(by: edit) { tell(waiter) }
    }

    /// Those who are admitted by a change; they are to be told.
    private func waitersAdmitted(by edit: (inout SlotTable) -> Void) -> [any SlotWaiter] {
        state.withLock { state in
            edit(&state)
            return state.admit()
        }
    }

    /// Sets the ``total``, which may be 0 for a queue: then nothing is admitted until it is raised.
    func setTotal(_ total: Int?) {
        change { $0.total = total ?? .max }
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
            (taken ?? state.newPlace(priority, now: now), state.take(origin))
        }
        place = mine
        if isFree { return Slot(of: self, for: origin) }
        let answer = Answer<Void>()
        switch state.withLock({ $0.enter(origin, at: mine, answer, mayBeRejected: isNew || taken == nil) }) {
        case .admitted:
            break
        case .rejected:
            throw RequestError(.slotRejected, stage: .slot, reason: "the limiter's line is full")
        case .waits:
            try await withTaskCancellationHandler {
                try await answer.value
            } onCancel: {
                if leave(mine) { answer.resume(with: .failure(CancellationError())) }
            }
        }
        return Slot(of: self, for: origin)
    }

    /// Takes a slot if one is free now; it overtakes nobody.
    ///
    /// - Parameter partner: The slot of another limiter that goes with it.
    func slotAtOnce(for origin: Origin, with partner: Slot? = nil) -> Slot? {
        state.withLock { $0.take(origin) } ? Slot(of: self, for: origin, with: partner) : nil
    }

    // MARK: For those who wait without a Task

    func newPlace(_ priority: Operation.QueuePriority) -> Place {
        let now = stopwatch.nanoseconds
        return state.withLock { $0.newPlace(priority, now: now) }
    }

    /// Takes a slot, which then has to be given back, or a place in the line, if there is one.
    func enter(
        _ origin: Origin?, at place: Place, _ waiter: any SlotWaiter, mayBeRejected: Bool = false
    ) -> SlotTable.Entry {
        state.withLock { $0.enter(origin, at: place, waiter, mayBeRejected: mayBeRejected) }
    }

    /// Leaves the line; whether there was anybody at the place.
    func leave(_ place: Place) -> Bool {
        state.withLock { $0.leave(place) }
    }

    func giveBack(_ origin: Origin?) {
        change { $0.release(origin) }
    }

    /// Gives a slot back for somebody who must not wait for the user's code: it is reached on another thread.
    func giveBackAtOnce(_ origin: Origin?) {
        let tell = { (waiter: any SlotWaiter) in
            if waiter.reachesUserCode {
                DispatchQueue.global().async { waiter.wasAdmitted() }
            } else {
                waiter.wasAdmitted()
            }
        }
        change(telling: tell) { $0.release(origin) }
    }

    /// The right to be in flight, given back once: by ``release()``, or when nobody holds it any longer.
    final class Slot: Sendable {
        private let limiter: RequestLimiter
        let origin: Origin?
        /// The slot of a second limiter that was taken with this one.
        private let partner: Slot?
        private let isHeld = Locked(true)

        /// Makes the slot that was taken of a limiter.
        init(of limiter: RequestLimiter, for origin: Origin?, with partner: Slot? = nil) {
            self.limiter = limiter
            self.origin = origin
            self.partner = partner
        }

        deinit { release() }

        /// Gives the slot back, and that which was taken with it; a second call does nothing.
        func release() {
            for waiter in giveUp() { waiter.wasAdmitted() }
        }

        /// Gives back both before anybody is told of either: who needs both finds both.
        private func giveUp() -> [any SlotWaiter] {
            let wasHeld = isHeld.withLock { isHeld in
                defer { isHeld = false }
                return isHeld
            }
            guard wasHeld else { return [] }
            let admitted = limiter.waitersAdmitted { $0.release(origin) }
            return partner.map { admitted + $0.giveUp() } ?? admitted
        }
    }
}
