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

    private enum State {
        case holds(Held)
        case givenBack
    }

    private let state: Locked<State>

    /// Makes the rights of an attempt.
    ///
    /// - Parameter place: A place of the queue that the attempt has from the beginning. `nil` by default.
    init(place: RequestLimiter.Slot? = nil) {
        state = Locked(.holds(Held(place: place)))
    }

    /// The place of the queue.
    var place: RequestLimiter.Slot? { held?.place }

    var permit: CircuitPermit? { held?.permit }

    /// The place and the slot, in that order.
    var slots: [RequestLimiter.Slot] { held?.slots ?? [] }

    private var held: Held? {
        state.withLock { if case .holds(let held) = $0 { held } else { nil } }
    }

    /// Holds a place of the queue.
    ///
    /// - Throws: `CancellationError` if the rights were given back. The place is then free again.
    func hold(place: RequestLimiter.Slot) throws {
        guard change({ $0.place = place }) else {
            place.release(isUnused: true)
            throw CancellationError()
        }
    }

    /// Holds a slot of the configuration's limiter.
    ///
    /// - Throws: `CancellationError` if the rights were given back. The slot is then free again.
    func hold(slot: RequestLimiter.Slot) throws {
        guard change({ $0.slot = slot }) else {
            slot.release(isUnused: true)
            throw CancellationError()
        }
    }

    /// Holds both at once.
    ///
    /// - Throws: `CancellationError` if the rights were given back. Both are then free again.
    func hold(place: RequestLimiter.Slot, slot: RequestLimiter.Slot) throws {
        let isHeld = change { held in
            held.place = place
            held.slot = slot
        }
        guard !isHeld else { return }
        [place, slot].release(isUnused: true)
        throw CancellationError()
    }

    /// Holds a circuit permit. If the rights were given back, it gives the permit back at once.
    func hold(permit: CircuitPermit) {
        if !change({ $0.permit = permit }) { permit.settle(.cancelled) }
    }

    /// Gives back the unused place of the queue.
    func giveUpPlace() {
        take { held in
            defer { held.place = nil }
            return held.place
        }?.release(isUnused: true)
    }

    /// Gives back the unused slot of the configuration's limiter.
    func giveUpSlot() {
        take { held in
            defer { held.slot = nil }
            return held.slot
        }?.release(isUnused: true)
    }

    /// Takes the permit out if it is for another host than this one.
    func takePermit(unlessFor origin: Origin) -> CircuitPermit? {
        take { held in
            guard held.permit?.origin != origin else { return nil }
            defer { held.permit = nil }
            return held.permit
        }
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
        let former = state.withLock { state in
            defer { state = .givenBack }
            return state
        }
        return if case .holds(let held) = former { held } else { nil }
    }

    /// Changes what is held. Returns whether anything is held at all.
    private func change(_ change: (inout Held) -> Void) -> Bool {
        take { held in change(&held) } != nil
    }

    private func take<Right>(_ take: (inout Held) -> Right?) -> Right? {
        state.withLock { state in
            guard case .holds(var held) = state else { return nil }
            defer { state = .holds(held) }
            return take(&held)
        }
    }
}
