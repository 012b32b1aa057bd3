/// Joins operations with values of different types into one, whose value is the tuple of theirs.
///
/// ```swift
/// let both = all(of: URLRequestOperation(me, decoder: .json(User.self)), URLRequestOperation(feed, decoder: .json(Feed.self)))
/// queue.addOperation(both)
/// let (user, feed) = try await both.value
/// ```
///
/// The members run like those of a concurrent ``RequestGroup``: the first error is that of the whole and cancels the
/// others. To cancel the whole cancels its members. Members may be in a queue already.
///
/// - Parameter operation: The members.
/// - Returns: An operation, to be added to a queue.
public func all<each Value: Sendable>(
    of operation: repeat AsynchronousOperation<each Value>
) -> AsynchronousOperation<(repeat each Value)> {
    var members: [Operation] = []
    repeat members.append(each operation)
    return JoinedOperation(members) { (repeat try (each operation).finishedValue) }
}

/// Operations that run at once, and what is made of their values.
// Unchecked like its superclass. Its properties are constants.
private final class JoinedOperation<Value: Sendable>: AsynchronousOperation<Value>, @unchecked Sendable {
    private let members: [Operation]
    private let join: @Sendable () throws -> Value

    init(_ members: [Operation], _ join: @escaping @Sendable () throws -> Value) {
        self.members = members
        self.join = join
        super.init()
        members.claimAll()
    }

    override func run() async throws -> Value {
        let group = RequestGroup(members, order: .concurrent)
        await group.runAsLink(by: .ofCurrentOperation)
        try group.finishedValue
        return try join()
    }

    override var placeDemand: PlaceDemand { .none }

    override func willAnnounce(_ ending: OperationLifecycle.Ending) {
        // It may have ended before its start.
        for member in members where !member.isFinished { member.discard() }
    }
}

extension AsynchronousOperation {
    /// The value of an operation that has finished.
    fileprivate var finishedValue: Success {
        get throws {
            guard let result else { throw CancellationError() }
            return try result.get()
        }
    }
}
