import RequestOperations

/// How a durable queue takes a request of the input.
struct Queueing: Sendable, Equatable {
    /// The lane; `nil` for the one that all requests without a lane share.
    var lane: String?
    /// The unique key; `nil` for none.
    var key: String?
    /// The earliest time.
    var notBefore: Date?
    /// When the request expires.
    var expires: Date?
}
