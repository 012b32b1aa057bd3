extension RequestLimiter {
    /// The right to be in flight. It is given back once, by ``release(isUnused:)`` or when nothing refers to it any
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

        /// Whether it has not been given back.
        var isHeld: Bool { state.withLock { $0 } }

        /// Gives the slot back. A second call does nothing.
        ///
        /// - Parameter isUnused: Whether nothing was sent, so that the rate does not count it.
        func release(isUnused: Bool = false) {
            for waiter in giveUp(isUnused: isUnused) { waiter.wasAdmitted() }
        }

        /// Gives the slot back. Returns the waiters that the caller must tell.
        fileprivate func giveUp(isUnused: Bool) -> [any SlotWaiter] {
            guard takeRight() else { return [] }
            return limiter.waitersAdmitted { $0.release(origin, isUnused: isUnused, now: $1) }
        }

        /// Gives the unused slot back for one of another host, ahead of all who wait. Returns `nil` if there is none.
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
    /// Gives all of them back before any waiter is told. A waiter that needs several then finds them.
    func release(isUnused: Bool = false) {
        for waiter in flatMap({ $0.giveUp(isUnused: isUnused) }) { waiter.wasAdmitted() }
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
