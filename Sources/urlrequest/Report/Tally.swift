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
    private(set) var latency = LatencyHistogram()
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

extension Duration {
    /// The duration in whole microseconds, rounded down. It traps for a duration beyond 292,000 years.
    var microseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}

/// Why a run ended before the end of its input.
enum StopReason: Equatable, Sendable {
    /// A signal asked for it.
    case signal(Int32)
    /// The reader of standard output is gone.
    case outputClosed
    /// Standard output cannot be written to.
    case outputFailed
}

/// The exit statuses of the tool.
enum ExitStatus {
    /// All requests succeeded.
    static let success: Int32 = 0
    /// Some requests failed, or their results could not be written.
    static let failure: Int32 = 1
    /// An argument or a line could not be used.
    static let unusable: Int32 = 2
    /// Standard output was closed. A shell shows the same status for a process that SIGPIPE ended.
    static let outputClosed: Int32 = 128 + SIGPIPE

    /// The status after a signal. A shell shows the same status for a process that the signal ended.
    static func signal(_ number: Int32) -> Int32 { 128 + number }

    /// The status of a whole run.
    static func of(_ tally: Tally, stopped reason: StopReason?) -> Int32 {
        switch reason {
        case .outputClosed: outputClosed
        case .outputFailed: tally.unusable > 0 ? unusable : failure
        case .signal(let number): signal(number)
        case nil: tally.unusable > 0 ? unusable : tally.failed + tally.cancelled > 0 ? failure : success
        }
    }
}
