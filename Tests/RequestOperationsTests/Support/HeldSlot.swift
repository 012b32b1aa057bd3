@testable import RequestOperations

/// A slot of a limiter that no request has.
struct HeldSlot: Sendable {
    private let slot: RequestLimiter.Slot

    fileprivate init(_ slot: RequestLimiter.Slot) {
        self.slot = slot
    }

    func release() { slot.release() }
}

extension RequestLimiter {
    /// A slot for the host of a URL, or for none; `nil` if none is free.
    func hold(for url: URL? = nil) -> HeldSlot? {
        slotAtOnce(for: url.map { Origin($0) }).map(HeldSlot.init)
    }

    /// Waits for a slot, if the line is not full.
    func heldWhenFree(for url: URL?) async throws -> HeldSlot {
        HeldSlot(try await slot(for: Origin(url), at: newPlace(), mayBeRejected: true))
    }

    /// The hosts that have slots or lines, the entries of all lines, and the hosts that have a pace.
    var known: (hosts: Int, entries: Int, paced: Int) {
        let kept = keptCounts
        return (kept.hosts, kept.entries, pacedHostCount)
    }
}
