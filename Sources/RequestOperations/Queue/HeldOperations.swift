/// The operations that a `RequestQueue` keeps out of Foundation's queue, and why. A pure value.
struct HeldOperations {
    private struct Entry {
        let operation: Operation
        /// Its place in the line, given when it was added. An operation that has left and is added again gets a new
        /// place.
        let place: RequestLimiter.Place
        /// The place that it runs on, if a stage added it whose operation holds that place.
        let lender: QueuePlace?
        /// Where it stands in the line, with the priority that it had when it joined.
        var inLine: RequestLimiter.Place?
        /// Whether a foreign operation is entering Foundation's queue. An operation of ours knows this itself.
        var isEntering = false
    }

    /// What was added after a barrier. It does not keep the operations alive: a cancelled one may finish before the
    /// barrier.
    private struct Following {
        let barrier: QueueBarrier
        /// In the order in which they were added.
        var operations: [(id: ObjectIdentifier, place: RequestLimiter.Place)] = []
        var next: QueueBarrier?
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// How many operations have been added so far.
    private(set) var addedCount = 0
    /// The last barrier, if it has not ended.
    private var lastBarrier: QueueBarrier?
    /// What was added after each barrier that has not ended.
    private var followings: [ObjectIdentifier: Following] = [:]
    /// The callers that wait to add an operation.
    private var producers = ProducerLine()
    private(set) var isSuspended = false

    var isEmpty: Bool { entries.isEmpty }

    /// All held operations, in the order in which they were added.
    var operations: [Operation] {
        entries.values.sorted { $0.place < $1.place }.map(\.operation)
    }

    /// Takes an operation in. Returns whether it is behind a barrier.
    ///
    /// - Parameters:
    ///   - place: The end of the line.
    ///   - lender: The place that it runs on. `nil` by default.
    mutating func insert(
        _ operation: Operation, at place: RequestLimiter.Place, lentBy lender: QueuePlace? = nil
    ) -> Bool {
        insertEntry(Entry(operation: operation, place: place, lender: lender))
        guard let lastBarrier else { return false }
        followings[ObjectIdentifier(lastBarrier)]?.operations.append((ObjectIdentifier(operation), place))
        return true
    }

    private mutating func insertEntry(_ entry: Entry) {
        addedCount += 1
        let former = entries.updateValue(entry, forKey: ObjectIdentifier(entry.operation))
        // Foundation makes its own check only when the operation enters its queue.
        precondition(former == nil, "An operation that is in a queue cannot be added to a queue.")
    }

    /// Removes an operation that is in Foundation's queue or has finished elsewhere.
    ///
    /// - Returns: Whether the operation was still held, and where it stood in the line.
    mutating func remove(_ operation: Operation) -> (isNews: Bool, inLine: RequestLimiter.Place?) {
        guard let entry = entries.removeValue(forKey: ObjectIdentifier(operation)) else { return (false, nil) }
        return (true, entry.inLine)
    }

    /// The place of an operation, and the one that it runs on if that is lent. `nil` if the operation is not held.
    func terms(of operation: Operation) -> (place: RequestLimiter.Place, lender: QueuePlace?)? {
        entries[ObjectIdentifier(operation)].map { ($0.place, $0.lender) }
    }

    /// Puts an operation in the line. Returns its place there, or `nil` if it is not held.
    mutating func standInLine(
        _ operation: Operation, with priority: Operation.QueuePriority
    ) -> RequestLimiter.Place? {
        guard let place = entries[ObjectIdentifier(operation)]?.place.with(priority) else { return nil }
        entries[ObjectIdentifier(operation)]?.inLine = place
        return place
    }

    /// Whether an operation still stands at a place of the line.
    func stands(_ operation: Operation, at place: RequestLimiter.Place) -> Bool {
        entries[ObjectIdentifier(operation)]?.inLine == place
    }

    /// Marks a foreign operation as entering Foundation's queue. Returns `false` if that was done before, or if it is
    /// not held.
    mutating func beginEntering(_ operation: Operation) -> Bool {
        guard entries[ObjectIdentifier(operation)]?.isEntering == false else { return false }
        entries[ObjectIdentifier(operation)]?.isEntering = true
        return true
    }

    mutating func suspend(_ isSuspended: Bool) {
        self.isSuspended = isSuspended
    }

    // MARK: Producers

    /// The most operations that are held before a caller must wait to add one.
    var maximumPending: Int {
        get { producers.maximum }
        set { producers.maximum = newValue }
    }

    /// Called when a caller wants to add an operation. Returns `nil` if it may do so at once.
    mutating func enter(_ producer: Answer<Void>) -> ProducerLine.Ticket? {
        producers.enter(producer, besides: entries.count, isSuspended: isSuspended)
    }

    /// Called when an admitted caller has added its operation, or will not add it.
    mutating func leaveProducer() {
        producers.leave()
    }

    /// Called when a waiting caller gives up. Returns `nil` if it has already been admitted.
    mutating func leave(_ ticket: ProducerLine.Ticket) -> Answer<Void>? {
        producers.leave(ticket)
    }

    /// The callers that are admitted now.
    mutating func admitProducers() -> [Answer<Void>] {
        producers.admit(besides: entries.count, isSuspended: isSuspended)
    }

    // MARK: Barriers

    /// Adds a barrier.
    ///
    /// - Returns: The held operations that the barrier must wait for. `nil` if there is a barrier before it; the end of
    ///   that one then returns them.
    mutating func add(_ barrier: QueueBarrier, at place: RequestLimiter.Place) -> [Operation]? {
        let predecessors = lastBarrier == nil ? operations : nil
        insertEntry(Entry(operation: barrier, place: place, lender: nil))
        if let lastBarrier { followings[ObjectIdentifier(lastBarrier)]?.next = barrier }
        followings[ObjectIdentifier(barrier)] = Following(barrier: barrier)
        lastBarrier = barrier
        return predecessors
    }

    /// Ends a barrier.
    ///
    /// - Returns: The operations that were added after it and are still held, and the next barrier, which must wait for
    ///   them.
    mutating func end(_ barrier: QueueBarrier) -> (followers: [Operation], next: QueueBarrier?) {
        if lastBarrier === barrier { lastBarrier = nil }
        guard let following = followings.removeValue(forKey: ObjectIdentifier(barrier)) else { return ([], nil) }
        // An operation that left may have been freed. Another one may then have its identity.
        let followers = following.operations.compactMap { id, place in
            entries[id].flatMap { $0.place == place ? $0.operation : nil }
        }
        return (followers, following.next)
    }

    /// Prepares to cancel all operations. This ends all barriers that have not begun. So an operation that is added
    /// later waits only for a barrier that is about to run or runs.
    ///
    /// - Returns: All operations, in the order in which they were added. `enters` marks those that the caller must let
    ///   enter Foundation's queue, since nothing else does.
    mutating func cancelAll() -> [(operation: Operation, enters: Bool)] {
        let all = operations.map { ($0, enters: !($0 is any StartableOperation) && beginEntering($0)) }
        for case (let barrier as QueueBarrier, enters: true) in all {
            followings[ObjectIdentifier(barrier)] = nil
        }
        // At most one barrier is left, which has begun. The next barrier begins only when that one has ended.
        lastBarrier = followings.values.first?.barrier
        if let lastBarrier { followings[ObjectIdentifier(lastBarrier)]?.next = nil }
        return all
    }
}

/// The callers that wait to add an operation to a `RequestQueue` until it holds fewer. A pure value.
struct ProducerLine {
    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// The most operations that the queue holds before a caller must wait.
    var maximum = 1000
    /// How many callers were admitted and have not added their operation yet.
    private var admitted = 0
    private var line = Line<Ticket>()
    private var waiting: [Ticket: Answer<Void>] = [:]
    private var lastNumber: UInt64 = 0

    /// Whether a caller that comes now may add an operation at once.
    private func hasRoom(besides held: Int) -> Bool { held + admitted < max(maximum, 1) }

    /// Called when a caller wants to add an operation. Returns `nil` if it may do so at once.
    mutating func enter(_ answer: Answer<Void>, besides held: Int, isSuspended: Bool) -> Ticket? {
        guard isSuspended || !waiting.isEmpty || !hasRoom(besides: held) else {
            admitted += 1
            return nil
        }
        lastNumber += 1
        let ticket = Ticket(number: lastNumber)
        line.append(ticket)
        waiting[ticket] = answer
        return ticket
    }

    /// Called when an admitted caller has added its operation, or will not add it.
    mutating func leave() {
        admitted -= 1
    }

    /// Called when a waiting caller gives up. Returns `nil` if it has already been admitted.
    mutating func leave(_ ticket: Ticket) -> Answer<Void>? {
        waiting.removeValue(forKey: ticket)
    }

    /// Admits the callers that may add an operation now, in the order in which they came.
    mutating func admit(besides held: Int, isSuspended: Bool) -> [Answer<Void>] {
        guard !waiting.isEmpty, !isSuspended else { return [] }
        var answers: [Answer<Void>] = []
        while hasRoom(besides: held), let ticket = line.popFirst() {
            guard let answer = waiting.removeValue(forKey: ticket) else { continue }
            admitted += 1
            answers.append(answer)
        }
        return answers
    }
}
