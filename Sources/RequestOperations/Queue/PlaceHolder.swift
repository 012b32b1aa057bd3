/// Whoever may hold a place of a `RequestQueue`, and lends it to what its stages add to that queue.
///
/// A request that an adapter sends through its own queue would otherwise wait for the place of the request that waits for it.
protocol PlaceHolder: AnyObject, Sendable {
    /// Whether it holds a place of the queue with this limiter now.
    func holdsPlace(of limiter: RequestLimiter) -> Bool
}

extension RequestQueue {
    /// The holder of a place whose stage the current Task runs.
    @TaskLocal static var placeHolder: (any PlaceHolder)?
}

extension AsynchronousOperation: PlaceHolder {
    /// Who lends a place to what its stages add.
    var lender: any PlaceHolder { state.withLock { $0.membership.lender } ?? self }
}
