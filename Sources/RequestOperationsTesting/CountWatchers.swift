/// Watchers of a count: each waits until it is reached, or until the wait is cancelled.
///
/// It is a pure value. Keep it under a lock, and resume what it gives out outside of that lock.
struct CountWatchers {
    typealias Watcher = CheckedContinuation<Void, Never>

    private var lastID = 0
    /// Those that have a number and are not cancelled.
    private var open: Set<Int> = []
    private var waiting: [Int: (count: Int, watcher: Watcher)] = [:]

    /// A number for one that is about to wait.
    mutating func newID() -> Int {
        lastID += 1
        open.insert(lastID)
        return lastID
    }

    /// Has one wait; `false` if it was cancelled before.
    mutating func add(_ watcher: Watcher, as id: Int, waitingFor count: Int) -> Bool {
        guard open.contains(id) else { return false }
        waiting[id] = (count, watcher)
        return true
    }

    /// Cancels one. Returns its watcher if it waits; `nil` if it does not, or not yet.
    mutating func cancel(_ id: Int) -> Watcher? {
        open.remove(id)
        return waiting.removeValue(forKey: id)?.watcher
    }

    /// One waits no longer, for any reason. Returns whether nobody has cancelled it.
    @discardableResult
    mutating func forget(_ id: Int) -> Bool {
        open.remove(id) != nil
    }

    /// Those whose count is reached.
    mutating func take(reachedBy count: Int) -> [Watcher] {
        guard !waiting.isEmpty else { return [] }
        let reached = waiting.filter { $0.value.count <= count }
        for id in reached.keys { waiting[id] = nil }
        return reached.values.map(\.watcher)
    }
}
