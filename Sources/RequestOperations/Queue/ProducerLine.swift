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
