/// The submissions of a client that have not ended. A pure value.
struct SubmissionTable: Sendable {
    private enum Phase: Sendable {
        case open
        /// Nothing new is accepted, except members of what was. The answers are given when nothing is active.
        case draining([Answer<Void>])
        /// Nothing is accepted.
        case closed([Answer<Void>])

        var answers: [Answer<Void>] {
            get {
                switch self {
                case .open: []
                case .draining(let answers), .closed(let answers): answers
                }
            }
            set {
                switch self {
                case .open: break
                case .draining: self = .draining(newValue)
                case .closed: self = .closed(newValue)
                }
            }
        }
    }

    private struct Entry: Sendable {
        let submission: Submission
        /// Whether it was given to the client's queue, or has begun.
        var isActive: Bool
    }

    private var phase = Phase.open
    private var entries: [RequestID: Entry] = [:]
    /// How many active submissions there are, and how many have ended.
    private(set) var activeCount = 0
    private(set) var endedCount = 0

    var isOpen: Bool { accepts(members: false) }

    private func accepts(members: Bool) -> Bool {
        switch phase {
        case .open: true
        case .draining: members
        case .closed: false
        }
    }

    /// All submissions, oldest first.
    var submissions: [Submission] {
        entries.values.map(\.submission).sorted { $0.id.rawValue < $1.id.rawValue }
    }

    func submission(_ id: RequestID) -> Submission? { entries[id]?.submission }

    mutating func add(_ submission: Submission) {
        entries[submission.id] = Entry(submission: submission, isActive: false)
    }

    /// Records that a submission is to be carried out. Returns `false` if it comes too late.
    ///
    /// - Parameters:
    ///   - id: The submission.
    ///   - isMember: Whether a batch, a chain or a group starts it.
    mutating func activate(_ id: RequestID, isMember: Bool = false) -> Bool {
        guard let entry = entries[id] else { return accepts(members: isMember) }
        guard !entry.isActive else { return true }
        guard accepts(members: isMember) else { return false }
        entries[id]?.isActive = true
        activeCount += 1
        return true
    }

    /// What follows from the end of a submission.
    struct End {
        /// Freed outside of the lock, because its user info may run the user's code.
        let submission: Submission
        /// What the caller must tell that nothing is active.
        var idle: [Answer<Void>] = []
    }

    /// Records the end of a submission. Returns `nil` if it had ended.
    mutating func end(_ id: RequestID) -> End? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        var end = End(submission: entry.submission)
        guard entry.isActive else { return end }
        activeCount -= 1
        endedCount += 1
        guard activeCount == 0 else { return end }
        end.idle = phase.answers
        phase.answers = []
        return end
    }

    /// Accepts nothing more but members. Returns `false` if something is active, so that the caller must wait for the
    /// answer.
    mutating func drain(_ answer: Answer<Void>) -> Bool {
        if case .open = phase { phase = .draining([]) }
        return wait(answer)
    }

    /// Accepts nothing more. Returns `false` if something is active, so that the caller must wait for the answer.
    mutating func close(_ answer: Answer<Void>) -> Bool {
        phase = .closed(phase.answers)
        return wait(answer)
    }

    private mutating func wait(_ answer: Answer<Void>) -> Bool {
        if activeCount > 0 { phase.answers.append(answer) }
        return activeCount == 0
    }
}
