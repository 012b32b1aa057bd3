/// The results of a batch so far, and whether it goes on. A pure value.
struct BatchState<Value: Sendable>: Sendable {
    typealias Policy = RequestBatch<Value>.Policy

    let policy: Policy
    /// How many members there are at least. A sequence may have more.
    private let expectedCount: Int
    /// In input order. A member that has not ended counts as cancelled. There may be a million, so there is one array of them,
    /// and one error for all.
    private var outcomes: [Result<Value, any Error>] = []
    private let cancelled = Result<Value, any Error>.failure(CancellationError())
    private var successCount = 0
    /// The error that came first.
    private(set) var firstError: (any Error)?
    /// Whether no further member begins and those that run are cancelled.
    private(set) var isDecided = false

    init(_ policy: Policy, expecting expectedCount: Int) {
        self.policy = policy
        self.expectedCount = expectedCount
        outcomes.reserveCapacity(expectedCount)
        if case .quorum(...0) = policy { isDecided = true }
    }

    /// Begins the next member. Returns its place, or `nil` if the batch is decided.
    mutating func begin() -> Int? {
        guard !isDecided else { return nil }
        outcomes.append(cancelled)
        return outcomes.count - 1
    }

    /// Records the result of a member. Returns whether this decides the batch.
    mutating func end(_ place: Int, _ result: Result<Value, any Error>) -> Bool {
        outcomes[place] = result
        let wasDecided = isDecided
        switch (result, policy) {
        case (.success, .quorum(let needed)):
            successCount += 1
            if successCount >= needed { isDecided = true }
        case (.success, _): successCount += 1
        // One that was left out did not fail.
        case (.failure(let error), _) where RequestError.Code.skipped ~= error: break
        case (.failure(let error), _):
            firstError = firstError ?? error
            if policy == .failFast { isDecided = true }
        }
        return isDecided && !wasDecided
    }

    /// One result for each member, in input order. A member that did not run counts as cancelled.
    var results: [Result<Value, any Error>] {
        let missing = expectedCount - outcomes.count
        return missing > 0 ? outcomes + repeatElement(cancelled, count: missing) : outcomes
    }

    /// Why the batch fails, if it does.
    var failure: (any Error)? {
        switch policy {
        case .failFast: firstError
        case .collectAll: nil
        case .quorum(let needed): successCount >= needed ? nil : firstError ?? RequestBatchError.tooFewMembers
        }
    }
}
