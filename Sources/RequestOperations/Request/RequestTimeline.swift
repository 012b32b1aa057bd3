/// What happened to one request: its attempts, its waits and its end. A value that stands alone.
///
/// ``RetryingOperation/timeline`` has that of an operation so far. A ``TimelineRecorder`` collects those of many.
public struct RequestTimeline: Sendable, Identifiable {
    /// How a request ended.
    public enum Outcome: Sendable {
        /// It has not ended.
        case running
        /// It has its value.
        case succeeded
        /// It failed for good. The error is redacted when the timeline is exported.
        case failed(any Error)
        /// It was cancelled.
        case cancelled
    }

    /// The request.
    public let id: RequestID

    /// The method of the request, or the name of other work.
    public let method: String

    /// The URL of the request, with the default ``Redaction``. Empty for work without one.
    public var url: String { original.map { Redaction.default.text(of: $0) } ?? "" }

    /// Scheme, host and port of the URL. Empty for work without one.
    public var origin: String { Origin(original).text }

    /// When the operation became ready, by the clock of the system.
    public let startDate: Date

    /// The time from then until its end. `nil` while it runs.
    public let duration: Duration?

    /// The attempts in order. Of more than 100, the first 10 and the last 90.
    public let attempts: [Attempt]

    /// How many attempts began.
    public let attemptCount: Int

    /// How it ended.
    public let outcome: Outcome

    /// The URL of the request, with its credentials.
    package let original: URL?

    /// Whether its attempts are requests, and not other work of a ``RetryingOperation``.
    package let isRequest: Bool

    /// The status of the last response.
    public var status: Int? { attempts.last { $0.status != nil }?.status }

    /// The code of the failure, such as `timedOut`, or the name of an error's type that is not of this package. `nil` unless it
    /// failed.
    public var failureCode: String? {
        guard case .failed(let error) = outcome else { return nil }
        return (error as? RequestError).map { "\($0.code)" } ?? "\(type(of: error))"
    }

    /// The failure in one line without credentials. `nil` unless it failed.
    public var failure: String? {
        if case .failed(let error) = outcome { error.redacted } else { nil }
    }

    /// Why no further attempt followed, such as `3 of 3 attempts`. `nil` unless it failed.
    public var notRetried: String? {
        if case .failed(let error as RequestError) = outcome { error.notRetried } else { nil }
    }
}

extension RequestTimeline: CustomStringConvertible, OpaqueReflectable {
    /// One line: the request, the outcome, the number of attempts and the duration. It shows no credentials.
    public var description: String {
        let end = failure.map { "failed: \($0)" } ?? "\(outcome.word)"
        let time = duration.map { " after \($0)" } ?? ""
        return "request \(id), \(method) \(url), \(attemptCount) attempts, \(end)\(time)"
    }
}

extension RequestTimeline.Outcome {
    /// - Parameter error: `nil` for a success.
    init(_ error: (any Error)?) {
        self = error.map { $0 is CancellationError ? .cancelled : .failed($0) } ?? .succeeded
    }

    /// One word for it.
    package var word: String {
        switch self {
        case .running: "running"
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .cancelled: "cancelled"
        }
    }
}

extension RetryingOperation {
    /// What happened so far. It may be read at any time, and is complete once the operation has ended.
    public final var timeline: RequestTimeline? {
        switch state.withLock({ $0.ending }) {
        case nil: runner.timeline(.running)
        case .succeeded: runner.timeline(.succeeded)
        case .failed(let error): runner.timeline(RequestTimeline.Outcome(error))
        }
    }
}

extension RequestRunner {
    /// What happened so far. `nil` if the request has not begun.
    func timeline(_ outcome: RequestTimeline.Outcome) -> RequestTimeline? {
        requestState.withLock { $0.timeline(of: id, outcome) }
    }
}
