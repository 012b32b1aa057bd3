import RequestOperations

/// The totals of a run. It needs the same memory for a million requests as for one.
struct Tally {
    private(set) var succeeded = 0
    private(set) var failed = 0
    private(set) var cancelled = 0
    private(set) var skipped = 0
    private(set) var attempts = 0
    private(set) var bytes: Int64 = 0
    private(set) var statuses: [Int: Int] = [:]
    private(set) var errors: [String: Int] = [:]
    private(set) var latency = Histogram()
    /// Whether a request failed since the root of a server is unknown.
    private(set) var hasUnknownRoot = false

    /// How many retries began.
    var retries = 0

    /// How many arguments and lines could not be used.
    var unusable = 0

    /// The number of requests that ended by themselves: they succeeded or failed.
    var completed: Int { succeeded + failed }

    /// The number of requests that have a result.
    var requests: Int { completed + cancelled + skipped }

    /// Adds a result.
    mutating func add(_ outcome: Outcome) {
        attempts += outcome.attempts
        bytes += outcome.bytes
        switch outcome.ending {
        case .skipped:
            skipped += 1
            return
        case .failed(.cancelled):
            cancelled += 1
            return
        case .failed(let failure):
            failed += 1
            errors[failure.code, default: 0] += 1
            if failure.message.contains(rootsAdvice) { hasUnknownRoot = true }
        case .succeeded: succeeded += 1
        }
        if let status = outcome.status { statuses[status, default: 0] += 1 }
        latency.record(outcome.seconds)
    }
}
