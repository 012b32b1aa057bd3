/// The dependencies of one operation, and which of them are unfinished. A pure value.
///
/// We do not use Foundation's table. On Linux an operation hangs when an unfinished dependency is removed from it, and
/// the table is never cleared.
struct DependencyTable {
    private struct Entry {
        let operation: Operation
        let position: UInt64
        var isFinished = false
    }

    /// All dependencies in the order in which they were added, while they are few. An array takes a fraction of a
    /// dictionary's memory.
    private var few: [Operation] = []
    /// Which of the few have finished, as one bit for each position.
    private var finishedOfFew: UInt32 = 0
    /// The hold counts as one of them.
    private var unfinishedCount = 0
    /// Whether something must be checked when all dependencies have finished.
    private var isHeld = false
    /// All dependencies, once there have been more than a few.
    private var many: [ObjectIdentifier: Entry] = [:]
    private var lastPosition: UInt64 = 0

    private static var mostOfFew: Int { 16 }

    /// Whether all dependencies have finished and nothing holds the operation.
    var isSatisfied: Bool { unfinishedCount == 0 }

    /// Whether all dependencies have finished, and only the hold is left.
    var isOnlyHeld: Bool { isHeld && unfinishedCount == 1 }

    var isEmpty: Bool { few.isEmpty && many.isEmpty }

    /// The dependencies in the order in which they were added.
    var operations: [Operation] {
        many.isEmpty ? few : many.values.sorted { $0.position < $1.position }.map(\.operation)
    }

    /// Adds a dependency as unfinished. Returns whether it is new.
    mutating func add(_ operation: Operation) -> Bool {
        let id = ObjectIdentifier(operation)
        guard place(of: id) == nil, many[id] == nil else { return false }
        unfinishedCount += 1
        if many.isEmpty, few.count < Self.mostOfFew {
            few.append(operation)
        } else {
            moveToMany()
            insert(operation)
        }
        return true
    }

    /// Holds the operation until ``release()``.
    mutating func hold() {
        guard !isHeld else { return }
        isHeld = true
        unfinishedCount += 1
    }

    /// Ends the hold. Returns whether that satisfied the table.
    mutating func release() -> Bool {
        guard isHeld else { return false }
        isHeld = false
        return countOneFinished()
    }

    /// Removes a dependency. Returns whether that satisfied the table, or left only the hold.
    mutating func remove(_ operation: Operation) -> Bool {
        let id = ObjectIdentifier(operation)
        if let place = place(of: id) {
            let wasFinished = isFinished(place)
            few.remove(at: place)
            let before = finishedOfFew & (1 << UInt32(place) - 1)
            finishedOfFew = before | (finishedOfFew >> UInt32(place + 1)) << UInt32(place)
            return wasFinished ? false : countOneFinished()
        }
        guard let entry = many.removeValue(forKey: id), !entry.isFinished else { return false }
        return countOneFinished()
    }

    /// Records that a dependency finished. Returns whether that satisfied the table, or left only the hold. A dependency
    /// that was removed or recorded before changes nothing.
    mutating func noteFinished(_ operation: ObjectIdentifier) -> Bool {
        guard waits(for: operation) else { return false }
        if let place = place(of: operation) {
            finishedOfFew |= 1 << UInt32(place)
        } else {
            many[operation]?.isFinished = true
        }
        return countOneFinished()
    }

    /// Whether this dependency is in the table and unfinished.
    func waits(for operation: ObjectIdentifier) -> Bool {
        if let place = place(of: operation) { !isFinished(place) } else { many[operation]?.isFinished == false }
    }

    /// Takes all dependencies out of the table.
    mutating func removeAll() -> [Operation] {
        defer { self = DependencyTable() }
        return many.isEmpty ? few : many.values.map(\.operation)
    }

    // MARK: Few and many

    private func place(of operation: ObjectIdentifier) -> Int? {
        few.firstIndex { ObjectIdentifier($0) == operation }
    }

    private func isFinished(_ place: Int) -> Bool {
        finishedOfFew & (1 << UInt32(place)) != 0
    }

    private mutating func countOneFinished() -> Bool {
        unfinishedCount -= 1
        return isSatisfied || isOnlyHeld
    }

    private mutating func moveToMany() {
        for (place, operation) in few.enumerated() { insert(operation, isFinished: isFinished(place)) }
        few = []
        finishedOfFew = 0
    }

    private mutating func insert(_ operation: Operation, isFinished: Bool = false) {
        lastPosition += 1
        many[ObjectIdentifier(operation)] = Entry(operation: operation, position: lastPosition, isFinished: isFinished)
    }
}
