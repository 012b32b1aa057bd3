/// The failures of a request so far, as the next retry decision counts them. A pure value.
struct FailureCount: Sendable {
    /// How many attempts failed since the backoff last restarted.
    private(set) var backoffStep = 0
    /// How many attempts a circuit breaker refused.
    private(set) var refusals = 0
    /// How many attempts were answered 429 with a `Retry-After`.
    private(set) var tooManyRequests = 0
    /// How many attempts a decision took out of the count.
    private(set) var forgiven = 0
    /// The last attempt whose failure was decided upon. `nil` before the first failure.
    private(set) var lastFailed: Int?
    /// Whether the last failure was the loss of a reused connection. The next attempt then makes its own connection.
    private(set) var lostReusedConnection = false

    /// Counts a failed attempt.
    ///
    /// - Parameters:
    ///   - attempt: The state of the attempt.
    ///   - transfer: How the transfer failed, if it was the transfer that failed.
    ///   - date: When the failure was noticed.
    mutating func add(_ attempt: AttemptState, _ transfer: TransferFailure?, at date: Date) {
        lastFailed = attempt.number
        backoffStep += 1
        if attempt.wasRefused {
            refusals += 1
        } else {
            lostReusedConnection = transfer?.lostReusedConnection ?? false
        }
        if let head = attempt.head, head.status == 429, head.retryAfter(at: date) != nil { tooManyRequests += 1 }
    }

    mutating func restartBackoff() {
        backoffStep = 0
    }

    /// Takes all attempts so far out of the count for the maximum of retries.
    mutating func restartCount(after failure: AttemptFailure) {
        forgiven += failure.attempt - failure.uncounted
        tooManyRequests = 0
    }

    /// Takes the last failure out of the backoff, so that the same delay follows once more.
    mutating func repeatBackoff() {
        backoffStep = max(backoffStep - 1, 0)
    }
}
