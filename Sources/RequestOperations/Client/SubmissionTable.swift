/// The submissions of a client that have not ended. A pure value.
struct SubmissionTable: Sendable {
    private enum Phase: Sendable {
        case open
        /// Nothing new is accepted. The answers are given when nothing is active.
        case shutDown([Answer<Void>])
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

    var isOpen: Bool {
        if case .open = phase { true } else { false }
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
    mutating func activate(_ id: RequestID) -> Bool {
        guard let entry = entries[id] else { return isOpen }
        guard !entry.isActive else { return true }
        guard isOpen else { return false }
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
        guard activeCount == 0, case .shutDown(let answers) = phase else { return end }
        phase = .shutDown([])
        end.idle = answers
        return end
    }

    /// Accepts nothing more. Returns `false` if something is active, so that the caller must wait for the answer.
    mutating func shutDown(_ answer: Answer<Void>) -> Bool {
        var answers: [Answer<Void>] = []
        if case .shutDown(let others) = phase { answers = others }
        let isIdle = activeCount == 0
        phase = .shutDown(isIdle ? answers : answers + [answer])
        return isIdle
    }
}
