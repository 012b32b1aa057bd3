extension RequestLimiter {
    /// The right to be in flight, given back once: by ``release(isUnused:)``, or when nobody holds it any longer.
    final class Slot: Sendable {
        private enum Holding {
            case slot(for: Origin?)
            /// A place of the total, while it waits for one of another host.
            case total
            case nothing
        }

        private let limiter: RequestLimiter
        /// The place in the line at which it was taken; `nil` is the end of the line.
        private let place: Place?
        private let holding: Locked<Holding>

        /// Makes the slot that was taken of a limiter.
        init(of limiter: RequestLimiter, for origin: Origin?, at place: Place? = nil) {
            self.limiter = limiter
            self.place = place
            holding = Locked(.slot(for: origin))
        }

        deinit { release() }

        /// Whether it is one for attempts to this origin.
        func isFor(_ origin: Origin) -> Bool {
            holding.withLock { if case .slot(let present) = $0 { present == origin } else { false } }
        }

        /// Whether it was not given back.
        var isHeld: Bool {
            holding.withLock { if case .nothing = $0 { false } else { true } }
        }

        /// Gives the slot back; a second call does nothing.
        ///
        /// - Parameter isUnused: Whether nothing was sent, so that it counts for no rate.
        func release(isUnused: Bool = false) {
            for waiter in giveUp(isUnused: isUnused) { waiter.wasAdmitted() }
        }

        /// Gives the slot back. Returns those who are to be told.
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

        /// Gives back the place of its host, unless that is this one, and keeps that of the total. Returns those who are to be
        /// told.
        func giveUpHost(for origin: Origin) -> [any SlotWaiter] {
            let former: Origin?? = holding.withLock { holding in
                guard case .slot(let present) = holding, present != origin else { return nil }
                holding = .total
                return present
            }
            guard let former else { return [] }
            return limiter.waitersAdmitted { table, _ in table.releaseHost(former) }
        }

        /// Takes the place of a host, at its old place in the line, unless it has one. After an error it holds the place of the
        /// total until it is released.
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
    /// Gives all of them back before anybody is told of one: who needs several finds them.
    func release(isUnused: Bool = false) {
        for waiter in flatMap({ $0.giveUp(isUnused: isUnused) }) { waiter.wasAdmitted() }
    }

    /// Exchanges the places at a host for those at another one. The places of the totals are kept.
    ///
    /// For one call at a time.
    ///
    /// - Throws: `CancellationError`.
    func exchangeHosts(for origin: Origin) async throws {
        for waiter in flatMap({ $0.giveUpHost(for: origin) }) { waiter.wasAdmitted() }
        // Always in the same order, that of the queue first. So two that need both cannot each hold one of them.
        for slot in self { try await slot.takeHost(origin) }
    }
}
