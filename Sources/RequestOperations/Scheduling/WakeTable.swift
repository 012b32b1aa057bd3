/// The waiters for a sign that concerns many of them, such as a network that comes back. They share one table and need
/// no Task each.
///
/// A sign releases all of its waiters once. They are spread in the order in which they came.
final class WakeTable<Key: Hashable & Sendable>: Sendable {
    /// Sets the alarm of a released waiter, and returns a closure that cancels it. It is called at most once. The range
    /// is the waiter's part of the whole. If `n` waiters are released together, the first gets `0 ..< 1/n`, and the
    /// range of the last ends with 1.
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
        /// The waiters for each sign.
        var waiting: [Key: [UInt64: Waiter]] = [:]
        /// The waiters that were released but have no alarm yet, by the number of their release.
        var releases: [UInt64: [UInt64: Waiter]] = [:]
        var released: [UInt64: Released] = [:]
    }

    private let state = Locked(State())

    /// How many waiters are released at a time. If there are more, another thread than the caller's releases them.
    private static var partSize: Int { 64 }

    /// Whether there are no waiters.
    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

    /// How many waiters wait for a sign, and how many are released and not yet removed.
    var counts: (waiting: Int, released: Int) {
        state.withLock { state in
            (
                state.waiting.values.reduce(0) { $0 + $1.count },
                state.releases.values.reduce(state.released.count) { $0 + $1.count }
            )
        }
    }

    /// Adds a waiter, until ``remove(_:)``.
    ///
    /// - Parameters:
    ///   - key: The sign.
    ///   - waiter: Called when the sign comes.
    func add(_ key: Key, _ waiter: @escaping Waiter) -> Ticket {
        state.withLock { state in
            state.lastID += 1
            let id = state.lastID
            state.waiting[key, default: [:]][id] = waiter
            return Ticket(key: key, id: id)
        }
    }

    /// Removes a waiter, and its alarm if it has one. A released waiter must be removed too.
    func remove(_ ticket: Ticket) {
        // We free the contents of the entry outside of the lock.
        let (waiter, released) = state.withLock { state in
            var waiter = state.waiting[ticket.key]?.removeValue(forKey: ticket.id)
            if state.waiting[ticket.key]?.isEmpty == true { state.waiting[ticket.key] = nil }
            if waiter == nil {
                // Usually there are no releases. (We copy the keys into an array, because the key view would hold the
                // table and cause a copy of it.)
                for release in Array(state.releases.keys) where waiter == nil {
                    waiter = state.releases[release]?.removeValue(forKey: ticket.id)
                }
            }
            return (waiter, state.released.removeValue(forKey: ticket.id))
        }
        if case .set(let cancel) = released { cancel() }
        withExtendedLifetime(waiter) {}
    }

    /// Handles a sign: sets the alarms of its waiters. With many waiters this takes long, so it is then done on another
    /// thread than the caller's.
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
            // Waiters that were removed since are missing.
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
