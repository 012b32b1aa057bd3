/// Who holds each key of a mutual exclusion, and who waits for it. A pure value.
///
/// A member takes its keys one after the other, in their order as strings. All members do so, so they cannot wait for
/// each other in a circle. For each key, the members are served in the order in which they came to it.
struct ExclusionLines {
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
    private var lines: [String: Line<Ticket>] = [:]
    private var lastNumber: UInt64 = 0

    /// Whether nobody holds a key.
    var isEmpty: Bool { members.isEmpty && lines.isEmpty }

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

    /// Gives back what a member holds, or takes it out of the line. A second time changes nothing.
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
            guard lines[key] == nil else {
                lines[key]?.append(ticket)
                return false
            }
            lines[key] = Line()
            members[ticket]?.heldCount += 1
        }
        return true
    }

    /// Gives a key to the next member in its line. Returns the closure of that one if it now holds all of its keys.
    private mutating func passOn(_ key: String) -> (@Sendable () -> Void)? {
        while let next = lines[key]?.popFirst() {
            guard let member = members[next] else { continue }
            members[next]?.heldCount += 1
            return advance(next) ? member.wake : nil
        }
        lines[key] = nil
        return nil
    }
}
