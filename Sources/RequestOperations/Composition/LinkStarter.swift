/// Starts the links of one chain.
final class LinkStarter: Sendable {
    /// The queue on which the links are started.
    let queue = DispatchQueue(label: "RequestOperations.RequestChain")
    /// The queue in which the chain has a place. The links use that place too. Otherwise an operation that a link runs
    /// on that queue would wait for the chain, and the chain for it.
    let operationQueue: OperationQueue?
    /// The holder that may have lent the chain a place of that queue.
    let placeHolder: (any PlaceHolder)?

    init(for operationQueue: OperationQueue?, lentBy placeHolder: (any PlaceHolder)? = nil) {
        self.operationQueue = operationQueue
        self.placeHolder = placeHolder
    }

    /// The starter for what the operation of the current Task runs.
    static var ofCurrentOperation: LinkStarter {
        LinkStarter(for: OperationQueue.ofCurrentOperation, lentBy: RequestQueue.placeHolder)
    }
}
