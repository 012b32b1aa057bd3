public import Foundation
public import RequestOperations

/// How a queue delivers: a value that the queue copies when it is opened.
public struct OfflineConfiguration: Sendable {
    /// How requests are made: transport, adapters, validation, time limits.
    /// `RequestConfiguration.default` by default.
    ///
    /// The queue keeps the count and the time of retries itself: ``backoff``, ``maximumAttempts`` and ``classifier``
    /// replace the retry policy's own limits. The policy's budget and circuit breaker apply.
    public var request: RequestConfiguration = .default
    /// How many attempts run at the same time. 16 by default; at least 1 and at most 10,000.
    ///
    /// Three quarters of them at most go to one scheme, host and port. So one host that does not answer leaves room for
    /// the others.
    public var width = 16
    static let largestWidth = 10_000
    /// The delays after failed attempts. Failures before a restart count too. 1 s, doubled up to one hour, with full
    /// jitter by default.
    public var backoff = Backoff.exponential(initial: .seconds(1), factor: 2, maximum: .seconds(3600), jitter: .full)
    /// How many attempts of a record the server or a handler may refuse before it becomes a dead letter. 100 by
    /// default.
    ///
    /// Attempts that did not reach the server do not count. `nil` means no limit.
    public var maximumAttempts: Int? = 100
    /// The longest `Retry-After` that is honoured. A longer one is shortened to this time. 24 hours by default.
    public var maximumRetryAfter: Duration = .seconds(86_400)
    /// Says what a failed attempt means. ``OutcomeClassifier/standard`` by default.
    public var classifier = OutcomeClassifier.standard
    /// When a lane is paused because its receiver wants no more or fails for too long. `nil`, never, by default.
    public var lanePause: LanePausePolicy?
    /// The longest time that a handler of messages may take. 60 s by default; `nil` means no limit.
    public var handlerTimeLimit: Duration? = .seconds(60)
    /// Whether the queue begins paused (``OfflineRequestQueue/pause()``). `false` by default.
    public var startsPaused = false
    /// How much the queue holds at most. No bounds by default.
    public var bounds = OfflineBounds()
    /// Says whether constraints of your own are met. Empty by default: such a constraint is then not met.
    ///
    /// Each closure is called whenever the queue looks for records to send, up to several times a second, so it must be
    /// quick. A closure that takes longer than 10 s counts as `false`. Call
    /// ``OfflineRequestQueue/constraintsChanged()`` when an answer changes.
    public var conditions: [OfflineConstraint: @Sendable () async -> Bool] = [:]
    /// Bodies in memory that are longer go to a file that the queue owns. In bytes; 256 KiB by default.
    public var inlineBodyLimit = 256 << 10
    /// How long this process may show no sign of life while it sends, before another process takes over. 15 s by
    /// default; at least 0.1 s and at most one day.
    ///
    /// A process that has ended is replaced at once. This limit is for a process that was stopped. The limit is stored
    /// with the lease, so each process may have its own.
    public var leaseDuration: Duration = .seconds(15)
    static let leaseDurations = Duration.milliseconds(100)...Duration.seconds(86_400)
    /// How long the outcome of a record is kept after its end. 30 days by default.
    ///
    /// An outcome takes some 100 bytes on disk.
    public var outcomeRetention: Duration = .seconds(30 * 86_400)
    /// The time of the calendar. The system's time by default.
    ///
    /// Times that must survive a restart use it. Waits run on the clock of ``request``.
    public var date: @Sendable () -> Date = { Date() }

    /// Makes a configuration with the defaults given at each property.
    public init() {}

    /// The configuration with numbers and dates that a queue can calculate with.
    var bounded: OfflineConfiguration {
        var bounded = self
        bounded.leaseDuration = min(max(leaseDuration, Self.leaseDurations.lowerBound), Self.leaseDurations.upperBound)
        bounded.date = { [date] in Date(storedSeconds: date().timeIntervalSince1970) }
        return bounded
    }
}
