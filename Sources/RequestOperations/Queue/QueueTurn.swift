/// How a request stands in its queue: where its attempts take their places, and at which place of the line.
struct QueueTurn: Sendable {
    let limiter: RequestLimiter
    /// That of the operation: all of its attempts stand there.
    let place: RequestLimiter.Place
}
