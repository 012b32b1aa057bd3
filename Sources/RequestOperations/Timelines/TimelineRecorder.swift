/// Collects the timelines of a run: the totals of all requests, and the details of some.
///
/// ```swift
/// let recorder = TimelineRecorder()
/// configuration.record(in: recorder)
/// // … the run …
/// try recorder.report.write(to: URL(fileURLWithPath: "run.html"))
/// ```
///
/// Its memory is bounded. It keeps the details of the slowest requests, of failed ones and of a sample of all. An operation
/// hands over its timeline once, when it has ended. Any thread may use the recorder.
public final class TimelineRecorder: Sendable {
    private let state: Locked<TimelineRun>

    /// Makes a recorder of a run that begins now.
    ///
    /// - Parameter details: How many requests of each kind it keeps the details of: the slowest, the failed and a sample.
    ///   100 by default. Less than 1 counts as 1.
    public init(details: Int = 100) {
        state = Locked(TimelineRun(start: Date(), details: max(details, 1)))
    }

    /// Adds the timeline of a request that has ended.
    public func record(_ timeline: RequestTimeline) {
        // What is dropped leaves the lock before it is freed.
        let dropped = state.withLock { $0.add(timeline) }
        withExtendedLifetime(dropped) {}
    }

    /// The totals so far.
    public var summary: TimelineSummary { state.withLock { $0.summary } }

    /// All that was recorded so far.
    public var report: TimelineReport { state.withLock { $0.report } }
}

extension RequestConfiguration {
    /// Has a recorder take the timeline of each operation when it ends, besides those that take it already. An operation that
    /// never began has no timeline.
    public mutating func record(in recorder: TimelineRecorder) {
        var watch = RequestWatch()
        watch.ended = { recorder.record($0) }
        instruments.append(RequestInstrument { [watch] in watch })
    }
}

/// What a recorder has taken. A pure value.
struct TimelineRun: Sendable {
    private(set) var summary: TimelineSummary
    private let details: Int
    /// Sorted by duration, the shortest first.
    private var slowest: [RequestTimeline] = []
    /// The first failed ones and the last ones.
    private var firstFailed: [RequestTimeline] = []
    private var lastFailed: [RequestTimeline] = []
    /// Every `stride`-th request.
    private var sample: [RequestTimeline] = []
    private var stride = 1
    private var count = 0

    init(start: Date, details: Int) {
        summary = TimelineSummary(start: start)
        self.details = details
    }

    /// Adds a timeline. Returns what it no longer keeps.
    mutating func add(_ timeline: RequestTimeline) -> [RequestTimeline] {
        var dropped: [RequestTimeline] = []
        summary.add(timeline)
        if slowest.count < details || isSlower(timeline, slowest[0]) {
            if slowest.count == details { dropped.append(slowest.removeFirst()) }
            let index = slowest.firstIndex { isSlower($0, timeline) } ?? slowest.endIndex
            slowest.insert(timeline, at: index)
        }
        if case .failed = timeline.outcome {
            if firstFailed.count < (details + 1) / 2 {
                firstFailed.append(timeline)
            } else {
                lastFailed.append(timeline)
                if lastFailed.count > details / 2 { dropped.append(lastFailed.removeFirst()) }
            }
        }
        if count % stride == 0 {
            sample.append(timeline)
            if sample.count > details {
                // Every second one stays, so that the sample is spread evenly over the run.
                dropped += sample
                sample = sample.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
                stride *= 2
            }
        }
        count += 1
        return dropped
    }

    private func isSlower(_ first: RequestTimeline, _ second: RequestTimeline) -> Bool {
        first.duration ?? .zero > second.duration ?? .zero
    }

    var report: TimelineReport {
        TimelineReport(
            summary: summary, slowest: slowest.reversed(), failed: firstFailed + lastFailed, sample: sample)
    }
}
