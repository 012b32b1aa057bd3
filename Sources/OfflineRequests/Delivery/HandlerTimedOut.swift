/// A handler of a message, or a condition, took too long.
struct HandlerTimedOut: Error, CustomStringConvertible {
    let limit: Duration
    var description: String { "the handler did not return within \(limit)" }
}
