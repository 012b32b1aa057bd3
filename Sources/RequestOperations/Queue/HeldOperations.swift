/// The operations that a `RequestQueue` keeps out of Foundation's queue, and why: a pure value.
struct HeldOperations {
    private struct Entry {
        let operation: Operation
        /// Its place in the line, which is that of its adding. Whoever has left and comes again has another.
        let place: RequestLimiter.Place
        /// The holder of a place that it runs on, if it was added by a stage of that one.
        let lender: (any PlaceHolder)?
        /// Where it stands in the line, with the priority that it had then.
        var inLine: RequestLimiter.Place?
        /// Whether a foreign operation is on the way into Foundation's queue. (One of ours knows that itself.)
        var isEntering = false
    }

    /// What was added after a barrier. Of operations it holds nothing: they may finish before, if they are cancelled.
    private struct Following {
        let barrier: QueueBarrier
        /// In the order in which they were added.
        var operations: [(id: ObjectIdentifier, place: RequestLimiter.Place)] = []
        var next: QueueBarrier?
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// How many operations were ever added.
    private(set) var addedCount = 0
    /// The last barrier, if it is not over.
    private var lastBarrier: QueueBarrier?
    /// What was added after each barrier that is not over.
    private var followings: [ObjectIdentifier: Following] = [:]
    /// Those who wait to add another.
    private var producers = ProducerLine()
    private(set) var isSuspended = false

    var isEmpty: Bool { entries.isEmpty }

    /// All of them, in the order in which they were added.
    var operations: [Operation] {
        entries.values.sorted { $0.place < $1.place }.map(\.operation)
    }

    /// Takes an operation in; whether it is behind a barrier.
    ///
    /// - Parameters:
    ///   - place: The end of the line.
    ///   - lender: The holder of a place that it runs on.
    mutating func insert(
        _ operation: Operation, at place: RequestLimiter.Place, lentBy lender: (any PlaceHolder)? = nil
    ) -> Bool {
        insertEntry(Entry(operation: operation, place: place, lender: lender))
        guard let lastBarrier else { return false }
        followings[ObjectIdentifier(lastBarrier)]?.operations.append((ObjectIdentifier(operation), place))
        return true
    }

    private mutating func insertEntry(_ entry: Entry) {
        addedCount += 1
        let former = entries.updateValue(entry, forKey: ObjectIdentifier(entry.operation))
        // Foundation's own check comes when the operation enters.
        precondition(former == nil, "An operation that is in a queue cannot be added to a queue.")
    }

    /// The operation is in Foundation's queue, or has finished elsewhere.
    ///
    /// - Returns: Whether that is news, and where it stands in the line.
    mutating func remove(_ operation: Operation) -> (isNews: Bool, inLine: RequestLimiter.Place?) {
        guard let entry = entries.removeValue(forKey: ObjectIdentifier(operation)) else { return (false, nil) }
        return (true, entry.inLine)
    }

    /// The place of an operation, and the holder of the place that it runs on; `nil` if it is not held.
    func terms(of operation: Operation) -> (place: RequestLimiter.Place, lender: (any PlaceHolder)?)? {
        entries[ObjectIdentifier(operation)].map { ($0.place, $0.lender) }
    }

    /// An operation is to stand in the line; where. `nil` if it is not held.
    mutating func standInLine(
        _ operation: Operation, with priority: Operation.QueuePriority
    ) -> RequestLimiter.Place? {
        guard let place = entries[ObjectIdentifier(operation)]?.place.with(priority) else { return nil }
        entries[ObjectIdentifier(operation)]?.inLine = place
        return place
    }

    /// Whether an operation is to stand at a place of the line still.
    func stands(_ operation: Operation, at place: RequestLimiter.Place) -> Bool {
        entries[ObjectIdentifier(operation)]?.inLine == place
    }

    /// A foreign operation is to enter Foundation's queue; whether it is the first time that somebody says so.
    mutating func beginEntering(_ operation: Operation) -> Bool {
        guard entries[ObjectIdentifier(operation)]?.isEntering == false else { return false }
        entries[ObjectIdentifier(operation)]?.isEntering = true
        return true
    }

    mutating func suspend(_ isSuspended: Bool) {
        self.isSuspended = isSuspended
    }

    // MARK: Producers

    /// How many operations are held at most before somebody has to wait.
    var maximumPending: Int {
        get { producers.maximum }
        set { producers.maximum = newValue }
    }

    /// Somebody comes to add an operation; `nil` if it may do so at once.
    mutating func enter(_ producer: Answer<Void>) -> ProducerLine.Ticket? {
        producers.enter(producer, besides: entries.count, isSuspended: isSuspended)
    }

    /// Somebody who was let in has added its operation, or will not.
    mutating func leaveProducer() {
        producers.leave()
    }

    /// Somebody who waits is not to be let in; `nil` if it was.
    mutating func leave(_ ticket: ProducerLine.Ticket) -> Answer<Void>? {
        producers.leave(ticket)
    }

    /// Those who are let in now.
    mutating func admitProducers() -> [Answer<Void>] {
        producers.admit(besides: entries.count, isSuspended: isSuspended)
    }

    // MARK: Barriers

    /// Adds a barrier.
    ///
    /// - Returns: What it has to wait for, as far as that is held; `nil` if there is a barrier before it, whose end says it.
    mutating func add(_ barrier: QueueBarrier, at place: RequestLimiter.Place) -> [Operation]? {
        let predecessors = lastBarrier == nil ? operations : nil
        insertEntry(Entry(operation: barrier, place: place, lender: nil))
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
        let followers = following.operations.compactMap { id, place in
            entries[id].flatMap { $0.place == place ? $0.operation : nil }
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
}
