extension RequestLimiter {
    /// The right to be in flight. It is given back once, by ``release(isUnused:)`` or when nothing refers to it any
    /// more.
    final class Slot: Sendable {
        private enum Holding {
            case slot(for: Origin?)
            /// A place of the total, while it waits for one at another host.
            case total
            case nothing
        }

        private let limiter: RequestLimiter
        /// The position in the line at which it was taken. `nil` means the end of the line.
        private let place: Place?
        private let holding: Locked<Holding>

        /// Makes the slot that was taken from a limiter.
        init(of limiter: RequestLimiter, for origin: Origin?, at place: Place? = nil) {
            self.limiter = limiter
            self.place = place
            holding = Locked(.slot(for: origin))
        }

        deinit { release() }

        /// Whether it is for attempts to this origin.
        func isFor(_ origin: Origin) -> Bool {
            holding.withLock { if case .slot(let present) = $0 { present == origin } else { false } }
        }

        /// Whether it has not been given back.
        var isHeld: Bool {
            holding.withLock { if case .nothing = $0 { false } else { true } }
        }

        /// Gives the slot back. A second call does nothing.
        ///
        /// - Parameter isUnused: Whether nothing was sent, so that the rate does not count it.
        func release(isUnused: Bool = false) {
            for waiter in giveUp(isUnused: isUnused) { waiter.wasAdmitted() }
        }

        /// Gives the slot back. Returns the waiters that the caller must tell.
        func giveUp(isUnused: Bool) -> [any SlotWaiter] {
            let former = holding.withLock { holding in
                defer { holding = .nothing }
                return holding
            }
            return switch former {
            case .slot(let origin):
                limiter.waitersAdmitted { table, now in table.release(origin, isUnused: isUnused, now: now) }
            case .total: limiter.waitersAdmitted { table, _ in table.releaseTotal() }
            case .nothing: []
            }
        }

        // MARK: Redirects

        /// Gives back the place at its host and keeps the place of the total, unless it is for this host. Returns the
        /// waiters that the caller must tell.
        func giveUpHost(for origin: Origin) -> [any SlotWaiter] {
            let former: Origin?? = holding.withLock { holding in
                guard case .slot(let present) = holding, present != origin else { return nil }
                holding = .total
                return present
            }
            guard let former else { return [] }
            return limiter.waitersAdmitted { table, _ in table.releaseHost(former) }
        }

        /// Takes a place at a host, at the old position in the line, unless it has one. After an error it holds the
        /// place of the total until it is released.
        ///
        /// - Throws: `CancellationError`.
        func takeHost(_ origin: Origin) async throws {
            guard holding.withLock({ if case .total = $0 { true } else { false } }) else { return }
            try await limiter.takeHost(origin, at: place)
            let isHeld = holding.withLock { holding in
                guard case .total = holding else { return false }
                holding = .slot(for: origin)
                return true
            }
            // The attempt was left behind meanwhile.
            if !isHeld { limiter.giveBackHost(origin) }
        }
    }
}

extension [RequestLimiter.Slot] {
    /// Gives all of them back before any waiter is told. A waiter that needs several then finds them.
    func release(isUnused: Bool = false) {
        for waiter in flatMap({ $0.giveUp(isUnused: isUnused) }) { waiter.wasAdmitted() }
    }

    /// Exchanges the places at one host for places at another one. Keeps the places of the totals.
    ///
    /// Only one call may run at a time.
    ///
    /// - Throws: `CancellationError`.
    func exchangeHosts(for origin: Origin) async throws {
        for waiter in flatMap({ $0.giveUpHost(for: origin) }) { waiter.wasAdmitted() }
        // The order is always the same, with the queue first. So two attempts that need both places cannot each hold
        // one.
        for slot in self { try await slot.takeHost(origin) }
    }
}

/// Waits for a slot. It is called on the thread that gives the slot, without any lock.
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
