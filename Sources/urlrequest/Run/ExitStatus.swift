import RequestOperations

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
