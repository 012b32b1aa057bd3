/// Those who wait until a count is reached, or until they are cancelled. A pure value, to be kept under a lock; what it
/// gives out is resumed outside of that.
struct CountWatchers {
    typealias Watcher = CheckedContinuation<Void, Never>

    private var lastID = 0
    private var waiting: [Int: (count: Int, watcher: Watcher)] = [:]
    /// Those that were cancelled before they began to wait.
    private var cancelled: Set<Int> = []

    /// A number for one that is about to wait.
    mutating func newID() -> Int {
        lastID += 1
        return lastID
    }

    /// Has one wait; `false` if it was cancelled before.
    mutating func add(_ watcher: Watcher, as id: Int, waitingFor count: Int) -> Bool {
        if cancelled.remove(id) != nil { return false }
        waiting[id] = (count, watcher)
        return true
    }

    /// The one that waits no longer, if it has begun to.
    mutating func cancel(_ id: Int) -> Watcher? {
        if let entry = waiting.removeValue(forKey: id) { return entry.watcher }
        cancelled.insert(id)
        return nil
    }

    /// One waits no longer, for whatever reason.
    mutating func forget(_ id: Int) {
        cancelled.remove(id)
    }

    /// Those whose count is reached.
    mutating func take(reachedBy count: Int) -> [Watcher] {
        guard !waiting.isEmpty else { return [] }
        let reached = waiting.filter { $0.value.count <= count }
        for id in reached.keys { waiting[id] = nil }
        return reached.values.map(\.watcher)
    }
}
