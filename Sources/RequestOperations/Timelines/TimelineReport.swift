/// What a ``TimelineRecorder`` has recorded, ready to be written. No format shows credentials: queries are shown with the
/// default ``Redaction``, fields that hold credentials have no value, and bodies are left out.
public struct TimelineReport: Sendable {
    /// The totals of all requests.
    public let summary: TimelineSummary
    /// The slowest requests, the slowest first.
    public let slowest: [RequestTimeline]
    /// Failed requests, the first ones and the last ones.
    public let failed: [RequestTimeline]
    /// A sample of all requests, spread evenly over the run.
    public let sample: [RequestTimeline]

    /// The forms of a report.
    public enum Format: String, Sendable, CaseIterable {
        /// A page for people, in one file that loads nothing.
        case html
        /// An HTTP archive, version 1.2, for the developer tools of browsers.
        case har
        /// Trace events of Chrome, for Perfetto.
        case trace
        /// The totals and the details as JSON.
        case json

        /// The format that the name of a file asks for: `.html`, `.har`, `.trace.json` or `.json`. `nil` for other names.
        public init?(fileName: String) {
            let name = fileName.lowercased()
            switch name {
            case _ where name.hasSuffix(".html") || name.hasSuffix(".htm"): self = .html
            case _ where name.hasSuffix(".har"): self = .har
            case _ where name.hasSuffix(".trace.json"): self = .trace
            case _ where name.hasSuffix(".json"): self = .json
            default: return nil
            }
        }
    }

    /// All requests whose details are kept, each once, in the order of their beginning.
    public var requests: [RequestTimeline] {
        var seen: Set<RequestID> = []
        return (slowest + failed + sample).filter { seen.insert($0.id).inserted }
            .sorted { ($0.startDate, $0.id.rawValue) < ($1.startDate, $1.id.rawValue) }
    }

    /// The report in one of its forms, as UTF-8.
    ///
    /// - Throws: The error of the encoder. It has no known cause.
    public func encoded(as format: Format) throws -> Data {
        switch format {
        case .html: Data(TimelinePage(self).html.utf8)
        case .har: try JSONEncoder.ofReports.encode(HTTPArchive(self))
        case .trace: try JSONEncoder.ofReports.encode(TraceDocument(self))
        case .json: try JSONEncoder.ofReports.encode(self)
        }
    }

    /// Writes the report to a file, which it replaces. The name of the file says the format (``Format/init(fileName:)``).
    ///
    /// - Throws: `CocoaError` if the file cannot be written, or its name says no format.
    public func write(to file: URL) throws {
        guard let format = Format(fileName: file.lastPathComponent) else {
            throw CocoaError(.fileWriteInvalidFileName, userInfo: [NSFilePathErrorKey: file.path])
        }
        try encoded(as: format).write(to: file, options: .atomic)
    }
}

extension TimelineReport: Encodable {
    /// Encodes what ``Format/json`` has. Times are in seconds.
    public func encode(to encoder: any Encoder) throws { try TimelineDocument(self).encode(to: encoder) }
}

/// The JSON of a report.
private struct TimelineDocument: Encodable {
    struct Latency: Encodable {
        let p50, p90, p99, max: Double

        init(_ histogram: LatencyHistogram) {
            let percentile = { histogram.percentile($0).inSeconds }
            (p50, p90, p99, max) = (percentile(0.5), percentile(0.9), percentile(0.99), histogram.maximum.inSeconds)
        }
    }

    struct Host: Encodable {
        let origin: String
        let requests, failed, retries: Int
        let latency: Latency
    }

    struct Phase: Encodable {
        let kind: Attempt.Kind
        let start, duration: Double
    }

    struct AttemptRecord: Encodable {
        let number: Int
        let began: Double
        let duration: Double?
        let status: Int?
        let error: String?
        let waited: Double
        let waitReason, wokenBy: String?
        let isHedge: Bool
        let phases: [Phase]

        init(_ attempt: Attempt) {
            number = attempt.number
            began = attempt.began.inSeconds
            duration = attempt.duration?.inSeconds
            status = attempt.status
            error = attempt.failure
            waited = attempt.waited.inSeconds
            waitReason = attempt.waitReason?.description
            wokenBy = attempt.wokenBy?.description
            isHedge = attempt.isHedge
            phases = attempt.phases.map {
                Phase(kind: $0.kind, start: $0.start.inSeconds, duration: $0.duration.inSeconds)
            }
        }
    }

    struct Request: Encodable {
        let id: UInt64
        let method, url: String
        let began: Date
        let duration: Double?
        let outcome: String
        let status: Int?
        let failure, notRetried: String?
        let attempts: [AttemptRecord]

        init(_ timeline: RequestTimeline) {
            id = timeline.id.rawValue
            (method, url, began) = (timeline.method, timeline.url, timeline.startDate)
            duration = timeline.duration?.inSeconds
            outcome = timeline.outcome.word
            (status, failure, notRetried) = (timeline.status, timeline.failure, timeline.notRetried)
            attempts = timeline.attempts.map(AttemptRecord.init)
        }
    }

    let began: Date
    let duration: Double
    let requests, succeeded, failed, cancelled, attempts, retries, hedges: Int
    let latency: Latency
    let statuses: [String: Int]
    let failures, notRetried, retriesByWake: [String: Int]
    let waits: [String: Double]
    let hosts: [Host]
    let details: [Request]

    init(_ report: TimelineReport) {
        let summary = report.summary
        (began, duration) = (summary.start, summary.duration.inSeconds)
        (requests, succeeded, failed) = (summary.requests, summary.succeeded, summary.failed)
        (cancelled, attempts, retries) = (summary.cancelled, summary.attempts, summary.retries)
        hedges = summary.hedges
        latency = Latency(summary.latency)
        statuses = Dictionary(uniqueKeysWithValues: summary.statuses.map { (String($0), $1) })
        (failures, notRetried, retriesByWake) = (summary.failures, summary.notRetried, summary.retriesByWake)
        waits = Dictionary(uniqueKeysWithValues: summary.waits.map { ($0.description, $1.inSeconds) })
        hosts = summary.hosts.map {
            Host(
                origin: $0.origin, requests: $0.requests, failed: $0.failed, retries: $0.retries,
                latency: Latency($0.latency))
        }
        details = report.requests.map(Request.init)
    }
}
