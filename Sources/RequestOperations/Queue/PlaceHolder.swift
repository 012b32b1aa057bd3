/// An object that may hold a place of a `RequestQueue`. It lends the place to operations that its stages add to that
/// queue.
///
/// Without this, a request that an adapter sends through its own queue would wait for the place of its own request.
/// That request waits for the adapter, so both would wait forever.
protocol PlaceHolder: AnyObject, Sendable {
    /// Whether it now holds a place of the queue with this limiter.
    func holdsPlace(of limiter: RequestLimiter) -> Bool
}

extension RequestQueue {
    /// The place holder whose stage runs on the current Task.
    @TaskLocal static var placeHolder: (any PlaceHolder)?
}

extension AsynchronousOperation: PlaceHolder {
    /// The holder that lends a place to what the stages of this operation add.
    var lender: any PlaceHolder { state.withLock { $0.membership.lender } ?? self }
}
