/// Many operations with the same type of value, run as one operation.
///
/// ```swift
/// let batch = RequestBatch(urls.map { URLRequestOperation($0, decoder: .json(User.self)) }, policy: .collectAll)
/// queue.addOperation(batch)
/// for result in await batch.results { print(result) }
/// ```
///
/// The results are in the order of the members, no matter in which order the members end. The batch is an operation: it can be
/// awaited, cancelled, depended upon, and put into a chain, a group or another batch. Do not add its members to a queue.
///
/// - In a ``RequestQueue`` the batch holds no place. Each attempt of its members takes one, like that of any request in the
///   queue.
/// - Cancelling the batch cancels all members. No further member begins.
/// - A member that you cancel counts as failed. A member that is skipped because of a dependency does not.
/// - A member that depends on a later one counts as running while it waits. With a `maximumConcurrency` of 1 it waits forever.
/// - The completion handlers of the members are called as usual.
// Unchecked like its superclass. All state of this class is in `batch` and `source`.
open class RequestBatch<Value: Sendable>: AsynchronousOperation<[Result<Value, any Error>]>, @unchecked Sendable {
    /// What the failure of a member means for the batch.
    public enum Policy: Sendable, Hashable {
        /// The first failure cancels the other members, and the batch fails with it.
        case failFast
        /// All members end, and the batch succeeds.
        case collectAll
        /// This many successes are enough. The other members are then cancelled. With fewer, the batch fails with the first
        /// error.
        case quorum(Int)
    }

    private enum Source {
        case operations(ArraySlice<AsynchronousOperation<Value>>)
        case sequence(Members)
    }

    /// The members of a sequence, and the actor on which its closures may have been made.
    // Unchecked: only the Task of the batch uses the iterator, on that actor.
    private struct Members: @unchecked Sendable {
        let iterator: AnyIterator<AsynchronousOperation<Value>>
        let actor: (any Actor)?

        func next(isolation actor: isolated (any Actor)?) -> AsynchronousOperation<Value>? { iterator.next() }
    }

    /// The most members that run at once.
    final let maximumConcurrency: Int

    /// Counts the members that have ended. The total is the number of members, or negative for a sequence of unknown length.
    /// Cancelling the progress cancels the batch.
    ///
    /// Each running member is a child, so `fractionCompleted` follows the bytes of requests, and nested members too. For that,
    /// read this property before the member begins.
    public final var progress: Progress { counter.tree { [weak self] in self?.cancel() } }

    /// How many members have ended, and how far running members have come, at each change. A slow reader gets only the newest
    /// update. The stream ends with the batch, and its last element is the final count. Each access makes its own stream.
    public final var progressUpdates: AsyncStream<ProgressUpdate> { counter.updates }

    // Set only by initialisers.
    private var counter: OperationProgress
    private let batch: Locked<BatchState<Value>>
    private let source: Locked<Source>

    /// Makes a batch of operations.
    ///
    /// - Parameters:
    ///   - operations: The members, which must not be in a queue.
    ///   - policy: What the failure of a member means. ``Policy/failFast`` by default.
    ///   - maximumConcurrency: The most members that run at once. 64 by default. Less than 1 counts as 1.
    public init(
        _ operations: [AsynchronousOperation<Value>], policy: Policy = .failFast, maximumConcurrency: Int = 64
    ) {
        self.maximumConcurrency = max(maximumConcurrency, 1)
        batch = Locked(BatchState(policy, expecting: operations.count))
        source = Locked(.operations(operations[...]))
        counter = OperationProgress(ProgressState(ofMembers: operations.count))
        super.init()
        operations.claimAll()
    }

    /// Makes a batch of operations that a sequence makes one by one, so that a million of them need not exist at once.
    ///
    /// The next operation is made when it can begin. The sequence makes it on the actor where the batch was made, if any, because
    /// its closures may belong to that actor. So await the batch there, and do not block that actor's thread with
    /// `waitUntilFinished`. An array is read on the Task of the batch.
    ///
    /// - Parameters:
    ///   - operations: The sequence of the members. A lazy sequence is not evaluated earlier.
    ///   - policy: What the failure of a member means. ``Policy/failFast`` by default.
    ///   - maximumConcurrency: The most members that run at once. 64 by default. Less than 1 counts as 1.
    ///   - actor: Where the sequence makes the operations. The actor of the caller by default.
    public convenience init<Operations: Sequence>(
        each operations: sending Operations, policy: Policy = .failFast, maximumConcurrency: Int = 64,
        isolation actor: (any Actor)? = #isolation
    ) where Operations.Element: AsynchronousOperation<Value> {
        // Not a designated initialiser: Swift 6.3 crashes over a subclass of another module that inherits one with
        // `#isolation`.
        let count = operations.underestimatedCount
        let isStored = operations is [Operations.Element]
        var iterator = operations.makeIterator()
        let members = Members(iterator: AnyIterator { iterator.next() }, actor: isStored ? nil : actor)
        self.init([], policy: policy, maximumConcurrency: maximumConcurrency)
        batch.withLock { $0 = BatchState(policy, expecting: count) }
        source.withLock { $0 = .sequence(members) }
        counter = OperationProgress(ProgressState(ofMembers: count == 0 ? nil : count))
    }

    /// One result for each member in input order, awaited. A member that did not run has a `CancellationError`.
    ///
    /// If the Task that awaits is cancelled, the batch is cancelled as ``AsynchronousOperation/value`` says, and this returns the
    /// results so far.
    public final var results: [Result<Value, any Error>] {
        get async {
            // The failure of the batch is that of a member, which has its result.
            _ = try? await value
            return batch.withLock { $0.results }
        }
    }

    /// The values of the members in input order, awaited. A skipped member (``FailedDependencyRule/skip``) has no value. With a
    /// quorum, these are the values of the members that succeeded.
    ///
    /// - Throws: The error that came first.
    public final var values: [Value] {
        get async throws {
            let results = try await value
            if case .quorum = policy {} else if let error = batch.withLock({ $0.firstError }) { throw error }
            return results.compactMap { try? $0.get() }
        }
    }

    /// The policy that the batch was made with.
    final var policy: Policy { batch.withLock { $0.policy } }

    /// The work of the batch. The superclass calls this; do not call or override it.
    public final override func run() async throws -> [Result<Value, any Error>] {
        let starter = MemberStarter.ofCurrentOperation
        await runMembers(atMost: maximumConcurrency, next: beginMember) {
            await self.run($0.member, at: $0.place, by: starter)
        }
        try Task.checkCancellation()
        if let failure = batch.withLock({ $0.failure }) { throw failure }
        return batch.withLock { $0.results }
    }

    /// Runs a member to its end. Returns whether its result decides the batch.
    private func run(
        _ member: AsynchronousOperation<Value>, at place: Int, by starter: MemberStarter
    ) async -> Bool {
        await counter.count(member) { await member.runAsLink(by: starter) }
        return batch.withLock { $0.end(place, member.finalResult) }
    }

    /// Begins the next member. Only the Task of the batch calls this, outside of the lock if a sequence makes the member.
    private func beginMember() async -> (member: AsynchronousOperation<Value>, place: Int)? {
        let next: AsynchronousOperation<Value>?
        if case .sequence(let members) = source.withLock({ $0 }) {
            next = await members.next(isolation: members.actor)
        } else {
            next = takeMember()
        }
        guard let member = next else { return nil }
        if let place = batch.withLock({ $0.begin() }) { return (member, place) }
        member.discard()
        return nil
    }

    /// Takes the next member of an array.
    private func takeMember() -> AsynchronousOperation<Value>? {
        source.withLock { source in
            guard case .operations(var operations) = source else { return nil }
            defer { source = .operations(operations) }
            return operations.popFirst()
        }
    }

    final override var takesPlace: Bool { false }

    final override func willAnnounce(_ ending: OperationLifecycle.Ending) {
        // Members that did not begin.
        while let member = takeMember() { member.discard() }
        counter.change { $0.end() }
    }
}

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
        switch result {
        case .success:
            successCount += 1
            if case .quorum(let needed) = policy, successCount >= needed { isDecided = true }
        // A member that was skipped did not fail.
        case .failure(let error) where RequestError.Code.skipped ~= error: break
        case .failure(let error):
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

    private static var tooFewMembers: RequestError {
        RequestError(.unsupported, stage: .start, reason: "the quorum is larger than the number of members")
    }

    /// Why the batch fails, if it does.
    var failure: (any Error)? {
        switch policy {
        case .failFast: firstError
        case .collectAll: nil
        case .quorum(let needed): successCount >= needed ? nil : firstError ?? Self.tooFewMembers
        }
    }
}
