/// What one operation depends on, and which of that is unfinished: a pure value.
///
/// Foundation's own table on Linux hangs an operation from which an unfinished dependency is removed, and is never cleared.
struct DependencyTable {
    private struct Entry {
        let operation: Operation
        let position: UInt64
        var isFinished = false
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    private var lastPosition: UInt64 = 0
    private var unfinishedCount = 0

    var isSatisfied: Bool { unfinishedCount == 0 }

    var isEmpty: Bool { entries.isEmpty }

    /// The dependencies in the order in which they were added.
    var operations: [Operation] {
        entries.values.sorted { $0.position < $1.position }.map(\.operation)
    }

    /// Adds a dependency as unfinished; whether it is new.
    mutating func add(_ operation: Operation) -> Bool {
        guard entries[ObjectIdentifier(operation)] == nil else { return false }
        lastPosition += 1
        entries[ObjectIdentifier(operation)] = Entry(operation: operation, position: lastPosition)
        unfinishedCount += 1
        return true
    }

    /// Removes a dependency; whether the table became satisfied by that.
    mutating func remove(_ operation: Operation) -> Bool {
        let entry = entries.removeValue(forKey: ObjectIdentifier(operation))
        guard let entry, !entry.isFinished else { return false }
        unfinishedCount -= 1
        return unfinishedCount == 0
    }

    /// Notes that a dependency finished; whether the table became satisfied by that. One that was removed, or is noted
    /// already, changes nothing.
    mutating func noteFinished(_ operation: ObjectIdentifier) -> Bool {
        guard entries[operation]?.isFinished == false else { return false }
        entries[operation]?.isFinished = true
        unfinishedCount -= 1
        return unfinishedCount == 0
    }

    /// Takes all dependencies out of the table.
    mutating func removeAll() -> [Operation] {
        defer { self = DependencyTable() }
        return entries.values.map(\.operation)
    }
}
