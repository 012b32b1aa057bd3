/// The operations that a `RequestQueue` keeps out of Foundation's queue, and why: a pure value.
struct HeldOperations {
    private struct Entry {
        let operation: Operation
        let number: UInt64
        /// Whether a foreign operation is on the way into Foundation's queue. (One of ours knows that itself.)
        var isEntering = false
    }

    /// Who comes first when there is a place. It holds nothing: that could be freed under the queue's lock.
    private struct InLine: Comparable {
        let id: ObjectIdentifier
        let number: UInt64
        let place: RequestLimiter.Place

        static func < (first: InLine, second: InLine) -> Bool {
            first.place < second.place
        }
    }

    /// What was added after a barrier. Of operations it holds nothing: they may finish before, if they are cancelled.
    private struct Following {
        let barrier: QueueBarrier
        /// In the order in which they were added.
        var operations: [(id: ObjectIdentifier, number: UInt64)] = []
        var next: QueueBarrier?
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    private(set) var lastNumber: UInt64 = 0
    /// The last barrier, if it is not over.
    private var lastBarrier: QueueBarrier?
    /// What was added after each barrier that is not over.
    private var followings: [ObjectIdentifier: Following] = [:]
    private var line = Heap<InLine>()
    /// The place in the limiter's line at which the queue waits for a slot, until it has given that away.
    private var taking: RequestLimiter.Place?
    private(set) var isSuspended = false

    var isEmpty: Bool { entries.isEmpty }

    /// How many entries the line has, those included that left.
    var keptInLine: Int { line.count }

    /// All of them, in the order in which they were added.
    var operations: [Operation] {
        entries.values.sorted { $0.number < $1.number }.map(\.operation)
    }

    /// Takes an operation in; whether it is behind a barrier.
    mutating func insert(_ operation: Operation) -> Bool {
        insertEntry(operation)
        guard let lastBarrier else { return false }
        followings[ObjectIdentifier(lastBarrier)]?.operations.append((ObjectIdentifier(operation), lastNumber))
        return true
    }

    private mutating func insertEntry(_ operation: Operation) {
        lastNumber += 1
        let entry = Entry(operation: operation, number: lastNumber)
        let former = entries.updateValue(entry, forKey: ObjectIdentifier(operation))
        // Foundation's own check comes when the operation enters.
        precondition(former == nil, "An operation that is in a queue cannot be added to a queue.")
    }

    /// The operation is in Foundation's queue, or has finished elsewhere; whether that is news.
    mutating func remove(_ operation: Operation) -> Bool {
        entries.removeValue(forKey: ObjectIdentifier(operation)) != nil
    }

    /// A foreign operation is to enter Foundation's queue; whether it is the first time that somebody says so.
    mutating func beginEntering(_ operation: Operation) -> Bool {
        guard entries[ObjectIdentifier(operation)]?.isEntering == false else { return false }
        entries[ObjectIdentifier(operation)]?.isEntering = true
        return true
    }

    // MARK: Barriers

    /// Adds a barrier.
    ///
    /// - Returns: What it has to wait for, as far as that is held; `nil` if there is a barrier before it, whose end says it.
    mutating func add(_ barrier: QueueBarrier) -> [Operation]? {
        let predecessors = lastBarrier == nil ? operations : nil
        insertEntry(barrier)
        if let lastBarrier { followings[ObjectIdentifier(lastBarrier)]?.next = barrier }
        followings[ObjectIdentifier(barrier)] = Following(barrier: barrier)
        lastBarrier = barrier
        return predecessors
    }

    /// A barrier is over.
    ///
    /// - Returns: What was added after it and is still held, and the next barrier, which has to wait for that.
    mutating func end(_ barrier: QueueBarrier) -> (followers: [Operation], next: QueueBarrier?) {
        if lastBarrier === barrier { lastBarrier = nil }
        guard let following = followings.removeValue(forKey: ObjectIdentifier(barrier)) else { return ([], nil) }
        // Whoever left may be freed, and another operation have its identity.
        let followers = following.operations.compactMap { id, number in
            entries[id].flatMap { $0.number == number ? $0.operation : nil }
        }
        return (followers, following.next)
    }

    /// All operations are to be cancelled. Barriers that have not begun are over with that: what is added from now on waits for
    /// one only that is about to run, or runs.
    ///
    /// - Returns: All operations, in the order in which they were added, and which of them the caller lets enter Foundation's
    ///   queue; nobody else does.
    mutating func cancelAll() -> [(operation: Operation, enters: Bool)] {
        let all = operations.map { ($0, enters: !($0 is any QueueMember) && beginEntering($0)) }
        for case (let barrier as QueueBarrier, enters: true) in all {
            followings[ObjectIdentifier(barrier)] = nil
        }
        // The next one begins when this one is over.
        lastBarrier = followings.values.first?.barrier
        if let lastBarrier { followings[ObjectIdentifier(lastBarrier)]?.next = nil }
        return all
    }

    // MARK: Places in the line, and slots

    mutating func suspend(_ isSuspended: Bool) {
        self.isSuspended = isSuspended
    }

    mutating func standInLine(_ operation: Operation, at place: RequestLimiter.Place) {
        guard let entry = entries[ObjectIdentifier(operation)] else { return }
        // Those that left stay until they come up, or are the most.
        if line.count > 2 * entries.count + 16 { line.removeAll { entries[$0.id]?.number != $0.number } }
        line.push(InLine(id: ObjectIdentifier(operation), number: entry.number, place: place))
    }

    /// Begins to wait for a slot at the place of the first in the line, unless the queue does, or there is nobody to take it.
    ///
    /// - Returns: That place, and a worse one at which the queue has waited so far.
    mutating func beginTaking() -> (place: RequestLimiter.Place, former: RequestLimiter.Place?)? {
        guard !isSuspended, let (_, place) = firstInLine else { return nil }
        if let taking, taking <= place { return nil }
        defer { taking = place }
        return (place, taking)
    }

    /// There is a slot: who is offered it. With nobody any more it is over with the taking.
    mutating func nextInLine() -> Operation? {
        guard !isSuspended, let (first, _) = firstInLine else {
            taking = nil
            return nil
        }
        _ = line.popFirst()
        return first
    }

    /// Whether the queue is to wait at a better place than one that was taken before.
    func isTaking(betterThan place: RequestLimiter.Place) -> Bool {
        taking.map { $0 < place } ?? false
    }

    /// The slot is taken, or is not waited for any longer.
    mutating func endTaking() {
        taking = nil
    }

    /// The first in the line that is still there.
    private var firstInLine: (operation: Operation, place: RequestLimiter.Place)? {
        mutating get {
            while let first = line.first {
                if let entry = entries[first.id], entry.number == first.number { return (entry.operation, first.place) }
                _ = line.popFirst()
            }
            return nil
        }
    }
}
