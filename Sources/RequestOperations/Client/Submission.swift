/// What a ``RequestClient`` knows about one request, batch, chain or group. Hooks and observers get it. The functions that cancel
/// return it.
public struct Submission: Sendable, Identifiable {
    /// The identifier. It stays the same for all attempts, and no other submission of the process has it.
    public let id: RequestID
    /// The method of a request. `nil` for anything else.
    public let method: HTTPMethod?
    /// The path of a request as its call or its endpoint gave it, before its variables were replaced. `nil` for anything else.
    public let path: String?
    /// The URL of a request, before hooks and adapters changed it. `nil` if it could not be made, and for anything else.
    ///
    /// This is the URL for a request that is started alone. The same applies to ``userInfo``, and to the host for
    /// ``RequestClient/cancelAll(host:)``. A ``RequestHook/defaults(_:_:)`` hook may set other values for a member of a batch, a
    /// chain or a group.
    public let url: URL?
    /// The type of the endpoint. `nil` for a request without one.
    public let endpointType: Any.Type?
    /// The name for cancelling several submissions together.
    public let tag: String?
    /// The user info of the request and of its client.
    public let userInfo: [String: any Sendable]

    /// The operation. `nil` once nothing refers to it any more.
    public private(set) weak var operation: Operation?

    /// Makes the submission of an operation. Only a request of the client has a method and the properties after it.
    init(
        _ operation: Operation, id: RequestID, tag: String?, method: HTTPMethod? = nil,
        path: String? = nil, url: URL? = nil, endpointType: Any.Type? = nil, userInfo: [String: any Sendable] = [:]
    ) {
        (self.operation, self.id, self.tag) = (operation, id, tag)
        (self.method, self.path, self.url, self.endpointType) = (method, path, url, endpointType)
        self.userInfo = userInfo
    }
}

extension Submission: CustomStringConvertible, OpaqueReflectable {
    /// One line: identifier, method and path without query.
    public var description: String {
        let line = [method?.rawValue, url.map { Redaction.location(of: $0) }].compactMap { $0 }.joined(separator: " ")
        return line.isEmpty ? "submission \(id)" : "request \(id): \(line)"
    }
}

/// The submissions of a client that have not ended. A pure value.
struct SubmissionTable: Sendable {
    private enum Phase {
        case open
        /// Nothing new is accepted, except members of accepted submissions.
        case draining
        /// Nothing is accepted.
        case closed
    }

    private struct Entry {
        let call: ClientCall
        /// Whether it was given to the client's queue, or has begun.
        var isActive = false
    }

    private var phase = Phase.open
    private var entries: [RequestID: Entry] = [:]
    /// How many entries are active.
    private var activeCount = 0
    /// The submissions that have ended and whose callbacks have not all returned.
    private var calling: Set<RequestID> = []
    /// Whether nothing waits for the active entries any more.
    private var hasGivenUp = false
    /// What waits until nothing is active.
    private var answers: [Answer<Void>] = []
    /// The ends since the client was told to shut down, and what nobody had submitted when it was closed.
    private var finishedCount = 0
    private var cancelledCount = 0

    var isOpen: Bool { phase == .open }

    var calls: [ClientCall] { entries.values.map(\.call) }

    /// Those that were given to the client's queue, or have begun.
    var activeCalls: [ClientCall] { entries.values.filter(\.isActive).map(\.call) }

    func call(_ id: RequestID) -> ClientCall? { entries[id]?.call }

    mutating func add(_ call: ClientCall) {
        entries[call.submission.id] = Entry(call: call)
    }

    /// Records that a submission will run. Returns `false` if the client no longer accepts it.
    ///
    /// - Parameters:
    ///   - id: The submission.
    ///   - isMember: Whether a batch, a chain or a group starts it.
    mutating func activate(_ id: RequestID, isMember: Bool = false) -> Bool {
        let entry = entries[id]
        if let entry, entry.isActive { return true }
        guard phase == .open || phase == .draining && isMember else { return false }
        if entry != nil {
            entries[id]?.isActive = true
            activeCount += 1
        }
        return true
    }

    /// Records the end of a submission. Returns it, so that the caller frees it outside the lock. Freeing its user info may run
    /// the user's code.
    ///
    /// Until ``calledBack(_:)``, the table is not idle.
    mutating func end(_ id: RequestID, isCancelled: Bool = false) -> ClientCall? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        guard entry.isActive else { return entry.call }
        activeCount -= 1
        calling.insert(id)
        if phase != .open {
            if isCancelled { cancelledCount += 1 } else { finishedCount += 1 }
        }
        return entry.call
    }

    /// Records that all callbacks of a submission have returned. Returns the waiters that the caller must resume because the
    /// table is idle.
    mutating func calledBack(_ id: RequestID) -> [Answer<Void>] {
        calling.remove(id) == nil ? [] : takeAnswersIfIdle()
    }

    /// Stops the wait for active submissions. The wait for callbacks goes on. Returns as ``calledBack(_:)`` does.
    mutating func giveUp() -> [Answer<Void>] {
        hasGivenUp = true
        return takeAnswersIfIdle()
    }

    /// How the submissions ended since ``drain(_:)``. Submissions that have not ended by now count as cancelled.
    var counts: RequestClient.ShutdownCounts {
        RequestClient.ShutdownCounts(finished: finishedCount, cancelled: cancelledCount + activeCount)
    }

    /// Accepts only members from now on. Returns `false` if the table is not idle, so that the caller must wait for the answer.
    mutating func drain(_ answer: Answer<Void>) -> Bool {
        if phase == .open { phase = .draining }
        return wait(answer)
    }

    /// Accepts nothing more. Returns `false` if the table is not idle, so that the caller must wait for the answer.
    ///
    /// The caller cancels everything. Requests that nobody has submitted may never end, so they count here.
    mutating func close(_ answer: Answer<Void>) -> Bool {
        if phase != .closed { cancelledCount += entries.count - activeCount }
        phase = .closed
        return wait(answer)
    }

    private mutating func wait(_ answer: Answer<Void>) -> Bool {
        if !isIdle { answers.append(answer) }
        return isIdle
    }

    private var isIdle: Bool { (activeCount == 0 || hasGivenUp) && calling.isEmpty }

    private mutating func takeAnswersIfIdle() -> [Answer<Void>] {
        guard isIdle else { return [] }
        defer { answers = [] }
        return answers
    }
}
