/// The operations that a `RequestQueue` keeps out of Foundation's queue, and why. A pure value.
struct WaitingOperations {
    private struct Entry {
        let operation: Operation
        /// Its place among all that wait, given when it was added. An operation that has left and is added again gets a
        /// new place.
        let place: RequestLimiter.Place
        /// The place that it runs on, if a stage added it whose operation has that place.
        let lender: QueuePlace?
        /// Where it waits for a place of the queue, with the priority that it had then.
        var waitsAt: RequestLimiter.Place?
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
    private var producers = WaitingProducers()
    private(set) var isSuspended = false

    var isEmpty: Bool { entries.isEmpty }

    var count: Int { entries.count }

    /// The waiting operation that was added first. It looks at all of them.
    var first: Operation? { entries.values.min { $0.place < $1.place }?.operation }

    /// All waiting operations, in the order in which they were added.
    var operations: [Operation] {
        entries.values.sorted { $0.place < $1.place }.map(\.operation)
    }

    /// Takes an operation in. Returns whether it is behind a barrier.
    ///
    /// - Parameters:
    ///   - place: The place after all that wait.
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
    /// - Returns: Whether the operation was still waiting, and where it waited for a place of the queue.
    mutating func remove(_ operation: Operation) -> (isNews: Bool, waitedAt: RequestLimiter.Place?) {
        guard let entry = entries.removeValue(forKey: ObjectIdentifier(operation)) else { return (false, nil) }
        return (true, entry.waitsAt)
    }

    /// The place that an operation runs on, if that is lent. The outer optional is `nil` if the operation has left.
    func lender(of operation: Operation) -> QueuePlace?? {
        entries[ObjectIdentifier(operation)].map(\.lender)
    }

    /// Records that an operation waits for a place of the queue. Returns where it waits, or `nil` if it has left.
    mutating func awaitPlace(
        _ operation: Operation, with priority: Operation.QueuePriority
    ) -> RequestLimiter.Place? {
        guard let place = entries[ObjectIdentifier(operation)]?.place.with(priority) else { return nil }
        entries[ObjectIdentifier(operation)]?.waitsAt = place
        return place
    }

    /// Whether an operation still waits at a place.
    func waits(_ operation: Operation, at place: RequestLimiter.Place) -> Bool {
        entries[ObjectIdentifier(operation)]?.waitsAt == place
    }

    /// Marks a foreign operation as entering Foundation's queue. Returns `false` if that was done before, or if it
    /// has left.
    mutating func beginEntering(_ operation: Operation) -> Bool {
        guard entries[ObjectIdentifier(operation)]?.isEntering == false else { return false }
        entries[ObjectIdentifier(operation)]?.isEntering = true
        return true
    }

    mutating func suspend(_ isSuspended: Bool) {
        self.isSuspended = isSuspended
    }

    // MARK: Producers

    /// The most operations that wait before a caller must wait to add one.
    var maximumPending: Int {
        get { producers.maximum }
        set { producers.maximum = newValue }
    }

    /// Called when a caller wants to add an operation. Returns `nil` if it may do so at once.
    mutating func enter(_ producer: Answer<Void>) -> WaitingProducers.Ticket? {
        producers.enter(producer, besides: entries.count, isSuspended: isSuspended)
    }

    /// Called when an admitted caller has added its operation, or will not add it.
    mutating func leaveProducer() {
        producers.leave()
    }

    /// Called when a waiting caller gives up. Returns `nil` if it has already been admitted.
    mutating func leave(_ ticket: WaitingProducers.Ticket) -> Answer<Void>? {
        producers.leave(ticket)
    }

    /// The callers that are admitted now.
    mutating func admitProducers() -> [Answer<Void>] {
        producers.admit(besides: entries.count, isSuspended: isSuspended)
    }

    // MARK: Barriers

    /// Adds a barrier.
    ///
    /// - Returns: The waiting operations that the barrier must wait for. `nil` if there is a barrier before it; the end of
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
    /// - Returns: The operations that were added after it and are still waiting, and the next barrier, which must wait for
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

/// The callers that wait to add an operation to a `RequestQueue` until fewer wait in it. A pure value.
struct WaitingProducers {
    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// The most operations that wait in the queue before a caller must wait.
    var maximum = 1000
    /// How many callers were admitted and have not added their operation yet.
    private var admitted = 0
    private var order = Queue<Ticket>()
    private var waiting: [Ticket: Answer<Void>] = [:]
    private var lastNumber: UInt64 = 0

    /// Whether a caller that comes now may add an operation at once.
    private func hasRoom(besides count: Int) -> Bool { count + admitted < max(maximum, 1) }

    /// Called when a caller wants to add an operation. Returns `nil` if it may do so at once.
    mutating func enter(_ answer: Answer<Void>, besides count: Int, isSuspended: Bool) -> Ticket? {
        guard isSuspended || !waiting.isEmpty || !hasRoom(besides: count) else {
            admitted += 1
            return nil
        }
        lastNumber += 1
        let ticket = Ticket(number: lastNumber)
        order.append(ticket)
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
    mutating func admit(besides count: Int, isSuspended: Bool) -> [Answer<Void>] {
        guard !waiting.isEmpty, !isSuspended else { return [] }
        var answers: [Answer<Void>] = []
        while hasRoom(besides: count), let ticket = order.popFirst() {
            guard let answer = waiting.removeValue(forKey: ticket) else { continue }
            admitted += 1
            answers.append(answer)
        }
        return answers
    }
}
