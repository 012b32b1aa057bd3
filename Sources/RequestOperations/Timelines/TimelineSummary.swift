/// The totals of many timelines. A pure value that needs the same memory for a million requests as for a thousand.
public struct TimelineSummary: Sendable {
    /// The totals of one origin.
    public struct Host: Sendable {
        /// Scheme, host and port.
        public internal(set) var origin: String
        /// How many requests ended.
        public internal(set) var requests = 0
        /// How many of them failed.
        public internal(set) var failed = 0
        /// How many attempts they made beyond their first.
        public internal(set) var retries = 0
        /// How long they took, from ready to end.
        public internal(set) var latency = LatencyHistogram()
    }

    /// What happened in one step of time.
    struct Step: Sendable {
        var ended = 0
        var failed = 0
        var retries = 0
        /// How many more requests began than ended.
        var moreInFlight = 0

        static func + (first: Step, second: Step) -> Step {
            Step(
                ended: first.ended + second.ended, failed: first.failed + second.failed,
                retries: first.retries + second.retries, moreInFlight: first.moreInFlight + second.moreInFlight)
        }
    }

    /// When the run began.
    public let start: Date
    /// How many requests succeeded.
    public private(set) var succeeded = 0
    /// How many requests failed.
    public private(set) var failed = 0
    /// How many requests were cancelled.
    public private(set) var cancelled = 0
    /// How many attempts began.
    public private(set) var attempts = 0
    /// How many of them were hedges, among the attempts that a timeline keeps.
    public private(set) var hedges = 0
    /// How long the requests took that succeeded or failed, from ready to end.
    public private(set) var latency = LatencyHistogram()
    /// How many requests ended with each status.
    public private(set) var statuses: [Int: Int] = [:]
    /// How many requests failed with each code.
    public private(set) var failures: [String: Int] = [:]
    /// How many requests were not retried, for each reason.
    public private(set) var notRetried: [String: Int] = [:]
    /// How many retries began, by what had ended the wait.
    public private(set) var retriesByWake: [String: Int] = [:]
    /// How many retries began, by the reason of the wait before them.
    public private(set) var retriesByReason: [WaitReason: Int] = [:]
    /// How many bytes of response bodies arrived, after decompression.
    public private(set) var receivedBytes: Int64 = 0
    /// How long requests waited before retries in all, by the reason of the wait.
    public private(set) var waits: [WaitReason: Duration] = [:]
    /// The time from the start to the last end.
    public private(set) var duration = Duration.zero
    private var byOrigin: [String: Host] = [:]
    private(set) var steps = [Step](repeating: Step(), count: 1)
    /// How long each of ``steps`` is.
    private(set) var stepLength = Duration.milliseconds(1)

    /// More origins, codes or reasons than this count as one.
    private static let mostKeys = 1000
    private static let mostSteps = 120
    private static let rest = "others"

    /// Makes the totals of no request.
    public init(start: Date) { self.start = start }

    /// How many requests ended.
    public var requests: Int { succeeded + failed + cancelled }
    /// How many attempts began beyond the first of each request.
    public private(set) var retries = 0
    /// The origins, the one with most requests first.
    public var hosts: [Host] {
        byOrigin.values.sorted { ($1.requests, $0.origin) < ($0.requests, $1.origin) }
    }

    /// Adds a request that has ended.
    public mutating func add(_ timeline: RequestTimeline) {
        let (taken, began) = (timeline.duration ?? .zero, Duration.seconds(timeline.startDate.timeIntervalSince(start)))
        let more = max(timeline.attemptCount - 1, 0)
        attempts += timeline.attemptCount
        retries += more
        var (isFailed, isCancelled) = (false, false)
        switch timeline.outcome {
        case .running: return
        case .succeeded: succeeded += 1
        case .cancelled: isCancelled = true
        case .failed: isFailed = true
        }
        if isCancelled { cancelled += 1 } else { latency.record(taken) }
        if isFailed {
            failed += 1
            Self.count(timeline.failureCode ?? Self.rest, in: &failures)
            if let reason = timeline.notRetried { Self.count(reason, in: &notRetried) }
        }
        if let status = timeline.status { statuses[status, default: 0] += 1 }
        for attempt in timeline.attempts {
            if attempt.isHedge { hedges += 1 }
            if let wake = attempt.wokenBy { Self.count("\(wake)", in: &retriesByWake) }
            if let reason = attempt.waitReason {
                retriesByReason[reason, default: 0] += 1
                waits[reason, default: .zero] += attempt.waited
            }
            receivedBytes += attempt.bodySize
        }
        let origin = timeline.origin
        let key = byOrigin.count < Self.mostKeys || byOrigin[origin] != nil ? origin : Self.rest
        var host = byOrigin.removeValue(forKey: key) ?? Host(origin: key)
        host.requests += 1
        host.failed += isFailed ? 1 : 0
        host.retries += more
        if !isCancelled { host.latency.record(taken) }
        byOrigin[key] = host
        change(at: began) { $0.moreInFlight += 1 }
        change(at: began + taken) { step in
            step.ended += 1
            step.failed += isFailed ? 1 : 0
            step.retries += more
            step.moreInFlight -= 1
        }
        duration = max(duration, began + taken)
    }

    private static func count(_ key: String, in counts: inout [String: Int]) {
        counts[counts.count < mostKeys || counts[key] != nil ? key : rest, default: 0] += 1
    }

    /// Changes the step of a moment. If there are too many steps, they become twice as long and half as many.
    private mutating func change(at moment: Duration, _ body: (inout Step) -> Void) {
        while max(moment, .zero) / stepLength >= Double(Self.mostSteps) {
            if steps.count % 2 == 1 { steps.append(Step()) }
            steps = stride(from: 0, to: steps.count, by: 2).map { steps[$0] + steps[$0 + 1] }
            stepLength = stepLength * 2
        }
        let index = Int(max(moment, .zero) / stepLength)
        if index >= steps.count { steps += Array(repeating: Step(), count: index + 1 - steps.count) }
        body(&steps[index])
    }
}
