import RequestOperations

/// The report of a run as JSON. Durations are in seconds. Only the names of header fields are included.
struct ReportDocument: Encodable {
    private struct Configuration: Encodable {
        let arguments: Int
        let input: String?
        let concurrency: Int
        let perHost: Int?
        let rate: Double?
        let retries: Int
        let timeout: Double
        let deadline: Double?
        let method: String?
        let headers: [String]
        let transport: String
        let cookies: Bool
        let insecure: Bool
        let http2: Bool
    }

    private struct Latency: Encodable {
        let p50: Double
        let p90: Double
        let p95: Double
        let p99: Double
        let max: Double
    }

    private let configuration: Configuration
    private let began: Date
    private let seconds: Double
    private let requests: Int
    private let succeeded: Int
    private let failed: Int
    private let cancelled: Int
    private let skipped: Int
    private let unusable: Int
    private let attempts: Int
    private let retries: Int
    private let bytes: Int64
    private let requestsPerSecond: Double
    private let statuses: [String: Int]
    private let errors: [String: Int]
    private let latency: Latency
    private let exitStatus: Int32

    /// Makes the report of a run that has ended.
    init(_ settings: RunSettings, _ tally: Tally, began: Date, duration: Duration, exitStatus: Int32) {
        configuration = Configuration(
            arguments: settings.urls.count, input: settings.input?.name, concurrency: settings.concurrency,
            perHost: settings.perHost, rate: settings.rate, retries: settings.retries,
            timeout: settings.timeout.inSeconds, deadline: settings.deadline?.inSeconds,
            method: settings.template.method, headers: settings.template.fields.map(\.name),
            transport: settings.transport.rawValue, cookies: settings.keepsCookies,
            insecure: settings.connections.trust.roots == .insecureTrustingEveryServer,
            http2: settings.connections.wantsHTTP2)
        self.began = began
        seconds = duration.inSeconds
        requests = tally.requests
        succeeded = tally.succeeded
        failed = tally.failed
        cancelled = tally.cancelled
        skipped = tally.skipped
        unusable = tally.unusable
        attempts = tally.attempts
        retries = tally.retries
        bytes = tally.bytes
        requestsPerSecond = Double(tally.completed) / max(duration.inSeconds, 1e-6)
        statuses = Dictionary(uniqueKeysWithValues: tally.statuses.map { (String($0), $1) })
        errors = tally.errors
        let percentile = { tally.latency.percentile($0).inSeconds }
        latency = Latency(
            p50: percentile(0.5), p90: percentile(0.9), p95: percentile(0.95), p99: percentile(0.99),
            max: tally.latency.maximum.inSeconds)
        self.exitStatus = exitStatus
    }

    /// The document as JSON bytes.
    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(self) + Data("\n".utf8)
    }
}
