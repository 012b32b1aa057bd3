/// The limiter of a request's queue, and the request's position in its line.
struct QueueTurn: Sendable {
    let limiter: RequestLimiter
    /// The position of the operation. All of its attempts stand there.
    let place: RequestLimiter.Place
}
