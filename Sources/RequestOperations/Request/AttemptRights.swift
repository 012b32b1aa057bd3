/// What one attempt holds until it ends: a place of its queue, a slot of its limiter and a circuit permit.
///
/// All of it is given back once. A right that arrives later is given back at once, because an attempt that was left
/// behind may still be taking one.
final class AttemptRights: Sendable {
    private struct Held {
        /// The place of the queue.
        var place: RequestLimiter.Slot?
        /// The slot of the configuration's limiter.
        var slot: RequestLimiter.Slot?
        var permit: CircuitPermit?

        var slots: [RequestLimiter.Slot] { [place, slot].compactMap { $0 } }
    }

    /// `nil` when everything has been given back.
    private let held: Locked<Held?>
    /// Where the operation lends the place of the attempt.
    private let turn: QueuePlace?

    /// Makes the rights of an attempt.
    ///
    /// - Parameters:
    ///   - place: A place of the queue that the attempt has from the beginning. `nil` by default.
    ///   - turn: Where the operation lends the place of the attempt. `nil` by default.
    init(place: RequestLimiter.Slot? = nil, of turn: QueuePlace? = nil) {
        held = Locked(Held(place: place))
        self.turn = turn
    }

    /// The place of the queue.
    var place: RequestLimiter.Slot? { held.withLock { $0?.place } }

    var permit: CircuitPermit? { held.withLock { $0?.permit } }

    /// Holds a place of the queue, a slot of the configuration's limiter, or both.
    ///
    /// - Throws: `CancellationError` if the rights were given back. What it should hold is then free again.
    func hold(place: RequestLimiter.Slot? = nil, slot: RequestLimiter.Slot? = nil) throws {
        let isHeld = held.withLock { held in
            if let place { held?.place = place }
            if let slot { held?.slot = slot }
            return held != nil
        }
        guard !isHeld else {
            if let place { turn?.hold(place) }
            return
        }
        [place, slot].compactMap { $0 }.release(isUnused: true)
        throw CancellationError()
    }

    /// Holds a circuit permit. If the rights were given back, it gives the permit back at once.
    func hold(permit: CircuitPermit) {
        let isHeld = held.withLock { held in
            held?.permit = permit
            return held != nil
        }
        if !isHeld { permit.settle(.cancelled) }
    }

    /// Gives back the unused place of the queue.
    func giveUpPlace() {
        takePlace()?.release(isUnused: true)
    }

    /// Exchanges the unused place for one of another host. Holds none if that host has none free.
    func exchangePlace(for origin: Origin) throws {
        if let place = takePlace()?.exchanged(for: origin) { try hold(place: place) }
    }

    /// Gives back the unused slot of the configuration's limiter.
    func giveUpSlot() {
        take(\.slot)?.release(isUnused: true)
    }

    /// Takes the permit out if it is for another host than this one.
    func takePermit(unlessFor origin: Origin) -> CircuitPermit? {
        permit?.origin == origin ? nil : take(\.permit)
    }

    /// Gives everything back.
    ///
    /// - Parameter outcome: What the attempt shows about its host.
    func giveBack(_ outcome: @autoclosure () -> CircuitState.Outcome) {
        guard let held = takeAll() else { return }
        held.permit?.settle(outcome())
        held.slots.release()
    }

    /// Gives everything back before anything was sent.
    func giveBackUnused() {
        guard let held = takeAll() else { return }
        held.permit?.settle(.cancelled)
        held.slots.release(isUnused: true)
    }

    private func takeAll() -> Held? {
        let all = held.withLock { $0.take() }
        if let place = all?.place { turn?.forget(place) }
        return all
    }

    private func takePlace() -> RequestLimiter.Slot? {
        let place = take(\.place)
        if let place { turn?.forget(place) }
        return place
    }

    private func take<Right>(_ right: WritableKeyPath<Held, Right?>) -> Right? {
        held.withLock { $0?[keyPath: right].take() }
    }
}
