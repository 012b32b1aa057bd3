/// Watchers of a count. Each waits until its count is reached, or until its wait is cancelled.
///
/// It is a pure value. Keep it under a lock, and resume the watchers that it returns outside of that lock.
struct CountWatchers {
    typealias Watcher = CheckedContinuation<Void, Never>

    private var lastID = 0
    /// The numbers given out, for waits that are not over or cancelled.
    private var open: Set<Int> = []
    private var waiting: [Int: (count: Int, watcher: Watcher)] = [:]

    /// Returns a number for a watcher that is about to wait.
    mutating func newID() -> Int {
        lastID += 1
        open.insert(lastID)
        return lastID
    }

    /// Makes a watcher wait. Returns `false` if its wait was cancelled before.
    mutating func add(_ watcher: Watcher, as id: Int, waitingFor count: Int) -> Bool {
        guard open.contains(id) else { return false }
        waiting[id] = (count, watcher)
        return true
    }

    /// Cancels a wait. Returns its watcher if it waits already, otherwise `nil`.
    mutating func cancel(_ id: Int) -> Watcher? {
        open.remove(id)
        return waiting.removeValue(forKey: id)?.watcher
    }

    /// Ends a wait, for any reason. Returns whether the wait was not cancelled.
    @discardableResult
    mutating func forget(_ id: Int) -> Bool {
        open.remove(id) != nil
    }

    /// Takes out the watchers whose count is reached.
    mutating func take(reachedBy count: Int) -> [Watcher] {
        guard !waiting.isEmpty else { return [] }
        let reached = waiting.filter { $0.value.count <= count }
        for id in reached.keys { waiting[id] = nil }
        return reached.values.map(\.watcher)
    }
}
