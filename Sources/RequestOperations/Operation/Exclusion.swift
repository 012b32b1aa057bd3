extension AsynchronousOperation {
    /// Makes the operation run only while no other operation with the same key does.
    ///
    /// ```swift
    /// for operation in operations { operation.addMutualExclusion("com.example.sign-in") }
    /// ```
    ///
    /// Keys hold for the whole process, across all queues. An operation takes its keys when its dependencies have
    /// finished, before its conditions are evaluated. It releases them when it has finished. Until then, other operations
    /// with the key are not ready, so they take no place in a queue. They get the key in the order in which they began to
    /// wait for it. A cancel ends the wait.
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

/// Who holds each key of a mutual exclusion, and who waits for it. A pure value.
///
/// A member takes its keys one after the other, in their order as strings. All members do so, so they cannot wait for
/// each other in a circle. Members get each key in the order in which they began to wait for it.
struct ExclusionTable {
    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct Member {
        let keys: [String]
        /// How many of the keys it holds. It waits for the next one.
        var heldCount = 0
        let wake: @Sendable () -> Void
    }

    private var members: [Ticket: Member] = [:]
    /// Who waits for each key that is held. It still has the tickets of members that have left.
    private var waiters: [String: Queue<Ticket>] = [:]
    private var lastNumber: UInt64 = 0

    /// Whether nobody holds a key.
    var isEmpty: Bool { members.isEmpty && waiters.isEmpty }

    /// Takes a member in. Returns its ticket, and whether it holds all of its keys.
    ///
    /// - Parameters:
    ///   - keys: The keys. None is needed twice.
    ///   - wake: Returned by ``leave(_:)`` when the member holds all keys, if it had to wait.
    mutating func enter(_ keys: Set<String>, _ wake: @escaping @Sendable () -> Void) -> (Ticket, holdsAll: Bool) {
        lastNumber += 1
        let ticket = Ticket(number: lastNumber)
        members[ticket] = Member(keys: keys.sorted(), wake: wake)
        return (ticket, advance(ticket))
    }

    /// Releases what a member holds, or removes the member. A second call changes nothing.
    ///
    /// - Returns: The closures of the members that hold all of their keys now.
    mutating func leave(_ ticket: Ticket) -> [@Sendable () -> Void] {
        guard let member = members.removeValue(forKey: ticket) else { return [] }
        return member.keys[..<member.heldCount].compactMap { passOn($0) }
    }

    /// Takes keys until one is held by another member. Returns whether the member holds all of them.
    private mutating func advance(_ ticket: Ticket) -> Bool {
        while let member = members[ticket], member.heldCount < member.keys.count {
            let key = member.keys[member.heldCount]
            guard waiters[key] == nil else {
                waiters[key]?.append(ticket)
                return false
            }
            waiters[key] = Queue()
            members[ticket]?.heldCount += 1
        }
        return true
    }

    /// Gives a key to the next member that waits for it. Returns that member's closure if it now holds all of its keys.
    private mutating func passOn(_ key: String) -> (@Sendable () -> Void)? {
        while let next = waiters[key]?.popFirst() {
            guard let member = members[next] else { continue }
            members[next]?.heldCount += 1
            return advance(next) ? member.wake : nil
        }
        waiters[key] = nil
        return nil
    }
}

/// The keys of this process.
extension ExclusionTable {
    private static let shared = Locked(ExclusionTable())

    /// Takes keys, or waits for them.
    ///
    /// - Parameter body: Called once, when all keys are held: at once, or by the member that releases the last of them.
    static func enter(_ keys: Set<String>, _ body: @escaping @Sendable () -> Void) -> Ticket {
        let (ticket, holdsAll) = shared.withLock { $0.enter(keys, body) }
        if holdsAll { body() }
        return ticket
    }

    /// Releases the keys, or stops waiting for them. A second call changes nothing.
    static func release(_ ticket: Ticket) {
        for wake in shared.withLock({ $0.leave(ticket) }) { wake() }
    }
}
