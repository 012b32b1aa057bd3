/// Those who wait for a sign that concerns many, such as the recovery of a host: entries in one table, without a Task each.
///
/// A sign releases all who wait for it, once; they are spread in the order in which they came.
final class WakeTable<Key: Hashable & Sendable>: Sendable {
    /// Sets the alarm of one who is released, at most once, and returns what cancels it. It is given its part of the whole: of
    /// `n` who are released together the first gets `0 ..< 1/n`, the last one what ends with 1.
    typealias Waiter = @Sendable (Range<Double>) -> Cancel
    typealias Cancel = @Sendable () -> Void

    struct Ticket: Sendable, Hashable {
        fileprivate let key: Key
        fileprivate let id: UInt64
    }

    private enum Released {
        case unset
        case set(Cancel)
    }

    private struct State {
        var lastID: UInt64 = 0
        /// Those who wait for each sign.
        var waiting: [Key: [UInt64: Waiter]] = [:]
        /// Those who were released and whose alarms are still to be set, by the number of their release.
        var releases: [UInt64: [UInt64: Waiter]] = [:]
        var released: [UInt64: Released] = [:]
    }

    private let state = Locked(State())

    /// So many are released by whoever gives the sign, and at a time; with more of them another thread goes on.
    private static var partSize: Int { 64 }

    /// Whether nobody waits.
    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

    /// How many wait for a sign, and how many are released and have not gone.
    var counts: (waiting: Int, released: Int) {
        state.withLock { state in
            (
                state.waiting.values.reduce(0) { $0 + $1.count },
                state.releases.values.reduce(state.released.count) { $0 + $1.count }
            )
        }
    }

    /// Adds one who waits, until ``remove(_:)``.
    ///
    /// - Parameters:
    ///   - key: The sign.
    ///   - waiter: Is called when the sign is there.
    func add(_ key: Key, _ waiter: @escaping Waiter) -> Ticket {
        state.withLock { state in
            state.lastID += 1
            let id = state.lastID
            state.waiting[key, default: [:]][id] = waiter
            return Ticket(key: key, id: id)
        }
    }

    /// Removes one, and the alarm if there is one. Whoever was released is removed, too.
    func remove(_ ticket: Ticket) {
        // What the entry holds is freed outside of the lock.
        let (waiter, released) = state.withLock { state in
            var waiter = state.waiting[ticket.key]?.removeValue(forKey: ticket.id)
            if state.waiting[ticket.key]?.isEmpty == true { state.waiting[ticket.key] = nil }
            if waiter == nil {
                // Mostly there is none of them. (The keys themselves would hold the table, which would be copied.)
                for release in Array(state.releases.keys) where waiter == nil {
                    waiter = state.releases[release]?.removeValue(forKey: ticket.id)
                }
            }
            return (waiter, state.released.removeValue(forKey: ticket.id))
        }
        if case .set(let cancel) = released { cancel() }
        withExtendedLifetime(waiter) {}
    }

    /// The sign is there: sets the alarms of those who wait. Of many that takes long, and is done elsewhere: whoever gives
    /// the sign has other things to do.
    func release(_ key: Key) {
        let release: (number: UInt64, count: Int)? = state.withLock { state in
            guard let waiters = state.waiting.removeValue(forKey: key) else { return nil }
            state.lastID += 1
            state.releases[state.lastID] = waiters
            return (state.lastID, waiters.count)
        }
        guard let (number, count) = release else { return }
        guard count > Self.partSize else { return setAlarms(ofRelease: number) }
        DispatchQueue.global().async { self.setAlarms(ofRelease: number) }
    }

    private func setAlarms(ofRelease number: UInt64) {
        let ids = state.withLock { state in state.releases[number].map { Array($0.keys) } ?? [] }.sorted()
        let part = 1 / Double(ids.count)
        for start in stride(from: 0, to: ids.count, by: Self.partSize) {
            let indices = start..<min(start + Self.partSize, ids.count)
            // Who was removed meanwhile is missing.
            let waiters = state.withLock { state in
                indices.compactMap { index -> (Int, Waiter)? in
                    let waiter = state.releases[number]?.removeValue(forKey: ids[index])
                    if waiter != nil { state.released[ids[index]] = .unset }
                    return waiter.map { (index, $0) }
                }
            }
            for (index, waiter) in waiters {
                set(waiter(Double(index) * part..<Double(index + 1) * part), of: ids[index])
            }
        }
        state.withLock { $0.releases[number] = nil }
    }

    private func set(_ cancel: @escaping Cancel, of id: UInt64) {
        let isRemoved = state.withLock { state in
            guard state.released[id] != nil else { return true }
            state.released[id] = .set(cancel)
            return false
        }
        if isRemoved { cancel() }
    }
}
