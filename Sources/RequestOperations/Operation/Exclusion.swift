/// The mutual exclusion of operations by keys.
final class ExclusionTable: Sendable {
    /// The keys of this process.
    static let shared = ExclusionTable()

    private let lines = Locked(ExclusionLines())

    init() {}

    /// Whether nobody holds a key.
    var isEmpty: Bool { lines.withLock { $0.isEmpty } }

    /// Enters the lines for keys.
    ///
    /// - Parameter body: Called once, when all keys are held: at once or by the one who gives the last of them back.
    func enter(_ keys: Set<String>, _ body: @escaping @Sendable () -> Void) -> Exclusion {
        let (ticket, holdsAll) = lines.withLock { $0.enter(keys, body) }
        let exclusion = Exclusion(ticket, of: self)
        if holdsAll { body() }
        return exclusion
    }

    fileprivate func leave(_ ticket: ExclusionLines.Ticket) {
        for wake in lines.withLock({ $0.leave(ticket) }) { wake() }
    }
}

/// The keys of one operation, which it holds or waits for.
final class Exclusion: Sendable {
    private let ticket: ExclusionLines.Ticket
    private let table: ExclusionTable

    fileprivate init(_ ticket: ExclusionLines.Ticket, of table: ExclusionTable) {
        self.ticket = ticket
        self.table = table
    }

    deinit {
        // The operation was freed without having been started.
        giveBack()
    }

    /// Gives the keys back, or leaves the lines. A second time changes nothing.
    func giveBack() {
        table.leave(ticket)
    }
}

extension AsynchronousOperation {
    /// Makes the operation run only while no other operation with the same key does.
    ///
    /// ```swift
    /// for operation in operations { operation.addMutualExclusion("com.example.sign-in") }
    /// ```
    ///
    /// Keys hold for the whole process, across all queues. An operation takes its keys when its dependencies have
    /// finished, before its conditions are evaluated. It gives them back once, when it has finished. Meanwhile others with
    /// the key are not ready, so they take no place of a queue. They are served in the order in which they came to it. To
    /// cancel one that waits takes it out of the line.
    ///
    /// Several keys are taken in a fixed order, so that operations cannot wait for each other in a circle. But the work
    /// of an operation, and a member of a group, must not wait for another operation with the same key.
    ///
    /// Add keys before you add the operation to a queue, as you add conditions.
    ///
    /// - Parameter key: The key. Use a prefix of your own.
    public final func addMutualExclusion(_ key: String) {
        addPrecondition { $0.keys.insert(key) }
    }
}
