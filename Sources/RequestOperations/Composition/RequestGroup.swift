/// Operations of any kind, run as one operation: one after the other, or all at once.
///
/// ```swift
/// let group = [login, profile, avatar].serialGroup()
/// queue.addOperation(group)
/// try await group.value
/// ```
///
/// A group is an operation: it can be awaited, cancelled, depended upon, and put into another group, a chain or a batch. Do
/// not add its members to a queue. A group without members succeeds.
///
/// - The first error of a member is the error of the group. By default, the running members are then cancelled, and no further
///   member begins.
/// - In a serial group, a member that depends on a later one waits forever.
/// - Cancelling the group cancels its members. A member that you cancel counts as failed with a `CancellationError`.
/// - An ``AsynchronousOperation`` starts when its dependencies have finished. An operation of another kind runs in a private
///   queue, and fails only if it is cancelled.
/// - In a ``RequestQueue`` the group holds no place. Each attempt of its requests takes one, like that of any request in the
///   queue.
// Unchecked like its superclass. All state of this class is in `group`.
open class RequestGroup: AsynchronousOperation<Void>, @unchecked Sendable {
    /// In which order the members run.
    public enum Order: Sendable, Hashable {
        /// One after the other, in the order in which they were added.
        case serial
        /// All at once.
        case concurrent
    }

    /// What the failure of a member means for the others.
    public enum Policy: Sendable, Hashable {
        /// The others are cancelled if they run, and do not begin if they have not begun.
        case failFast
        /// The others run to their ends.
        case runAll
    }

    private struct State {
        /// The members that have not begun.
        var members: ArraySlice<Operation>
        /// Whether it is too late to add members.
        var hasBegun = false
        /// The error of the first member that failed.
        var firstError: (any Error)?
    }

    /// In which order the members run.
    final let order: Order

    /// What the failure of a member means for the others.
    final let policy: Policy

    private let group: Locked<State>
    private let counter: OperationProgress

    /// Makes a group.
    ///
    /// - Parameters:
    ///   - operations: The first members. None by default.
    ///   - order: In which order they run.
    ///   - policy: What the failure of a member means. ``Policy/failFast`` by default.
    public init(_ operations: [Operation] = [], order: Order, policy: Policy = .failFast) {
        self.order = order
        self.policy = policy
        group = Locked(State(members: operations[...]))
        counter = OperationProgress(ProgressState(ofMembers: operations.count))
        super.init()
        operations.claimAll()
    }

    /// Counts the members that have ended. Cancelling the progress cancels the group.
    ///
    /// Each running member is a child, so `fractionCompleted` follows the bytes of requests, and nested members too. For that,
    /// read this property before the member begins.
    public final var progress: Progress { counter.tree { [weak self] in self?.cancel() } }

    /// How many members have ended, and how far running members have come, at each change. A slow reader gets only the newest
    /// update. The stream ends with the group, and its last element is the final count. Each access makes its own stream.
    public final var progressUpdates: AsyncStream<ProgressUpdate> { counter.updates }

    /// Adds a member at the end.
    ///
    /// - Throws: A ``RequestError`` with the code ``RequestError/Code/unsupported`` once the group runs.
    public final func add(_ operation: Operation) throws {
        // It counts before it can end.
        counter.change { $0.expect(1) }
        let isAdded = group.withLock { state in
            if !state.hasBegun { state.members.append(operation) }
            return !state.hasBegun
        }
        guard isAdded else {
            counter.change { $0.expect(-1) }
            throw RequestError(.unsupported, stage: .start, reason: "the group has begun, so no member can be added")
        }
        [operation].claimAll()
    }

    /// The work of the group. The superclass calls this; do not call or override it.
    public final override func run() async throws {
        group.withLock { $0.hasBegun = true }
        let starter = MemberStarter.ofCurrentOperation
        await runMembers(atMost: order == .serial ? 1 : .max, next: takeMember) { await self.run($0, by: starter) }
        try Task.checkCancellation()
        if let error = group.withLock({ $0.firstError }) { throw error }
    }

    /// Runs a member to its end. Returns whether it stops the others.
    private func run(_ member: Operation, by starter: MemberStarter) async -> Bool {
        await counter.count(member) { await member.runAsMember(by: starter) }
        // A member that was skipped did not fail.
        guard let error = member.failureOfFinished, !(RequestError.Code.skipped ~= error) else { return false }
        group.withLock { $0.firstError = $0.firstError ?? error }
        return policy == .failFast
    }

    private func takeMember() -> Operation? {
        group.withLock { $0.members.popFirst() }
    }

    final override var takesPlace: Bool { false }

    final override func willAnnounce(_ ending: OperationLifecycle.Ending) {
        group.withLock { $0.hasBegun = true }
        // Members that did not begin.
        while let member = takeMember() { member.discard() }
        counter.change { $0.end() }
    }
}

extension Sequence where Element: Operation {
    /// Makes a group that runs these operations one after the other.
    ///
    /// - Parameter policy: What the failure of a member means. ``RequestGroup/Policy/failFast`` by default.
    public func serialGroup(policy: RequestGroup.Policy = .failFast) -> RequestGroup {
        RequestGroup(Array(self), order: .serial, policy: policy)
    }

    /// Makes a group that runs these operations all at once.
    ///
    /// - Parameter policy: What the failure of a member means. ``RequestGroup/Policy/failFast`` by default.
    public func concurrentGroup(policy: RequestGroup.Policy = .failFast) -> RequestGroup {
        RequestGroup(Array(self), order: .concurrent, policy: policy)
    }
}

/// Joins operations with values of different types into one operation. Its value is the tuple of their values.
///
/// ```swift
/// let both = all(of: URLRequestOperation(me, decoder: .json(User.self)), URLRequestOperation(feed, decoder: .json(Feed.self)))
/// queue.addOperation(both)
/// let (user, feed) = try await both.value
/// ```
///
/// The members run like those of a concurrent ``RequestGroup``: the first error becomes the error of the whole and cancels the
/// others. Cancelling the whole cancels its members. Members may be in a queue already.
///
/// - Parameter operation: The members.
/// - Returns: An operation, to be added to a queue.
public func all<each Value: Sendable>(
    of operation: repeat AsynchronousOperation<each Value>
) -> AsynchronousOperation<(repeat each Value)> {
    var members: [Operation] = []
    repeat members.append(each operation)
    return JoinedOperation(members) { (repeat try (each operation).finalResult.get()) }
}

/// Operations that run at once, and what is made of their values.
// Unchecked like its superclass. Its properties are constants.
private final class JoinedOperation<Value: Sendable>: AsynchronousOperation<Value>, @unchecked Sendable {
    private let group: RequestGroup
    private let join: @Sendable () throws -> Value

    init(_ members: [Operation], _ join: @escaping @Sendable () throws -> Value) {
        group = RequestGroup(members, order: .concurrent)
        self.join = join
        super.init()
    }

    override func run() async throws -> Value {
        await group.runAsLink(by: .ofCurrentOperation)
        try group.finalResult.get()
        return try join()
    }

    override var takesPlace: Bool { false }

    override func willAnnounce(_ ending: OperationLifecycle.Ending) {
        // The operation may have ended before its start.
        if !group.isFinished { group.discard() }
    }
}
