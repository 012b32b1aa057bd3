/// A report as trace events of Chrome, which Perfetto opens. Times are in microseconds since the start of the run.
///
/// There is one process for the requests and one for each origin. A request is drawn in a lane that no other request uses
/// meanwhile: its waits and attempts are inside it, and the phases of an attempt are inside that. An origin has a lane for each
/// transfer at a time, which over HTTP/1.1 is one for each connection.
/// The source of all names is the document *Trace Event Format* of the Chromium project.
struct TraceDocument: Encodable {
    struct Event: Encodable {
        let name, ph: String
        var cat: String?
        var ts: Double?
        var dur: Double?
        let pid: Int
        var tid = 0
        var args: [String: String] = [:]
    }

    /// Slices that share a lane, the first of which contains the others.
    private struct Group {
        let process: Int
        /// Since the start of the run.
        let start: Duration
        let end: Duration
        var events: [Event] = []

        init(
            _ name: String, _ category: String, in process: Int, from start: Duration, to end: Duration,
            _ args: [String: String]
        ) {
            (self.process, self.start, self.end) = (process, start, max(start, end))
            add(name, category, from: start, to: end, args)
        }

        mutating func add(
            _ name: String, _ category: String, from start: Duration, to end: Duration, _ args: [String: String] = [:]
        ) {
            events.append(
                Event(
                    name: name, ph: "X", cat: category, ts: start / .microseconds(1),
                    dur: max(end - start, .zero) / .microseconds(1), pid: process, args: args))
        }

        mutating func add(_ attempt: Attempt, at start: Duration, to end: Duration) {
            add(attempt.title, "attempt", from: start + attempt.began, to: end, attempt.facts)
            addPhases(of: attempt, at: start)
        }

        mutating func addPhases(of attempt: Attempt, at start: Duration) {
            for phase in attempt.phases {
                let isWait = phase.kind == .backoff
                add(
                    isWait ? attempt.waitTitle : phase.kind.rawValue, isWait ? "wait" : "phase",
                    from: start + phase.start, to: start + phase.start + phase.duration)
            }
        }
    }

    let traceEvents: [Event]
    let displayTimeUnit = "ms"

    init(_ report: TimelineReport) {
        var groups: [Group] = []
        var processes = ["Requests"]
        for timeline in report.requests {
            let start = report.start(of: timeline)
            let end = timeline.duration.map { start + $0 } ?? max(report.summary.duration, start)
            var request = Group(
                "\(timeline.method) \(timeline.url)", "request", in: 1, from: start, to: end, timeline.facts)
            for attempt in timeline.attempts {
                let attemptEnd = attempt.ended.map { start + $0 } ?? end
                if attempt.isHedge {
                    // It runs beside another attempt, so it has another lane.
                    var hedge = Group(
                        attempt.title, "attempt", in: 1, from: start + attempt.began, to: attemptEnd, attempt.facts)
                    hedge.addPhases(of: attempt, at: start)
                    groups.append(hedge)
                } else {
                    request.add(attempt, at: start, to: attemptEnd)
                }
                guard let sent = attempt.sent, !timeline.origin.isEmpty else { continue }
                let name = "Transfers to \(timeline.origin)"
                if !processes.contains(name) { processes.append(name) }
                groups.append(
                    Group(
                        "\(timeline.method) of request \(timeline.id)", "transfer",
                        in: processes.firstIndex(of: name)! + 1, from: start + sent,
                        to: attempt.timings?.total.map { start + sent + $0 } ?? attemptEnd, attempt.facts))
            }
            groups.append(request)
        }
        var lanes: [Int: Lanes] = [:]
        let slices = groups.sorted { $0.start < $1.start }.flatMap { group in
            let lane = lanes[group.process, default: Lanes()].take(from: group.start, until: group.end)
            return group.events.map { event in
                var event = event
                event.tid = lane
                return event
            }
        }
        let names = processes.enumerated().map {
            Event(name: "process_name", ph: "M", pid: $0.offset + 1, args: ["name": $0.element])
        }
        traceEvents = names + slices
    }

    /// Lanes in which slices do not overlap. They are given to slices in the order of their beginning.
    private struct Lanes {
        private var ends: [Duration] = []

        /// The number of the first lane that is free, from 1.
        mutating func take(from start: Duration, until end: Duration) -> Int {
            if let free = ends.firstIndex(where: { $0 <= start }) {
                ends[free] = end
                return free + 1
            }
            ends.append(end)
            return ends.count
        }
    }
}

// What people read of a request and of an attempt. The page shows it too.

extension TimelineReport {
    /// When a request became ready, counted from the start of the run.
    func start(of timeline: RequestTimeline) -> Duration {
        max(.seconds(timeline.startDate.timeIntervalSince(summary.start)), .zero)
    }
}

extension RequestTimeline {
    var facts: [String: String] {
        var facts = ["request": "\(id)", "outcome": outcome.word]
        facts["status"] = status.map { "\($0)" }
        facts["failure"] = failure
        facts["not retried"] = notRetried
        return facts
    }
}

extension Attempt {
    var title: String { "attempt \(number)" + (isHedge ? " (hedge)" : "") }

    /// Why the operation waited before the attempt, and what ended that.
    var waitTitle: String {
        let parts = [
            "wait", waitReason.map { "for \($0)" }, wokenBy.map { $0 == .backoff ? "over" : "ended by \($0)" },
        ]
        return parts.compactMap { $0 }.joined(separator: " ")
    }

    var facts: [String: String] {
        var facts: [String: String] = [:]
        facts["status"] = status.map { "\($0)" }
        facts["error"] = failure
        facts["bytes"] = bodySize > 0 ? "\(bodySize)" : nil
        facts["HTTP version"] = timings?.httpVersion?.description
        facts["connection"] = timings?.connectionWasReused.map { $0 ? "reused" : "new" }
        facts["address"] = timings?.remoteAddress
        if !redirects.isEmpty {
            facts["redirected to"] = redirects.map { Redaction.location(of: $0) }.joined(separator: ", ")
        }
        return facts
    }
}
