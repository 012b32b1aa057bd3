/// Those who wait to add an operation to a `RequestQueue` until it holds fewer. A pure value.
struct ProducerLine {
    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// How many operations the queue holds at most before somebody has to wait.
    var maximum = 1000
    /// Those who may add one, and have not done so yet.
    private var admitted = 0
    private var line = Line<Ticket>()
    private var waiting: [Ticket: Answer<Void>] = [:]
    private var lastNumber: UInt64 = 0

    /// Whether somebody who comes now may add an operation at once.
    private func hasRoom(besides held: Int) -> Bool { held + admitted < max(maximum, 1) }

    /// Somebody comes; `nil` if it may add an operation at once.
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

    /// Somebody who may add an operation has done so, or does not want to any more.
    mutating func leave() {
        admitted -= 1
    }

    /// Somebody does not wait any longer; `nil` if it may add an operation already.
    mutating func leave(_ ticket: Ticket) -> Answer<Void>? {
        waiting.removeValue(forKey: ticket)
    }

    /// Those who may add an operation now, in the order in which they came.
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
