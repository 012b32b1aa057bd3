/// Starts operations without adding them to a queue: those that another operation runs as its members.
final class MemberStarter: Sendable {
    /// The queue on which the members are started.
    let queue = DispatchQueue(label: "RequestOperations.MemberStarter")
    /// The queue in which the running operation has a place. The members use that place too. Otherwise an operation
    /// that a member adds to that queue would wait for the running operation, and the running operation for it.
    let operationQueue: OperationQueue?
    /// The holder that may have lent the running operation a place of that queue.
    let placeHolder: (any PlaceHolder)?

    init(for operationQueue: OperationQueue?, lentBy placeHolder: (any PlaceHolder)? = nil) {
        self.operationQueue = operationQueue
        self.placeHolder = placeHolder
    }

    /// The starter for what the operation of the current Task runs.
    static var ofCurrentOperation: MemberStarter {
        MemberStarter(for: OperationQueue.ofCurrentOperation, lentBy: RequestQueue.placeHolder)
    }
}
