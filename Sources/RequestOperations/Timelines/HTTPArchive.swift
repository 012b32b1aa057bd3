/// A report as an HTTP archive, version 1.2. Times are in milliseconds.
///
/// Each attempt that was sent is an entry. Members whose names begin with an underscore are extensions, which readers ignore.
/// The source of all names is the specification of the Web Performance Working Group (HAR 1.2).
struct HTTPArchive: Encodable {
    struct Log: Encodable {
        let version = "1.2"
        let creator = Creator()
        let pages: [String] = []
        let entries: [Entry]
    }

    struct Creator: Encodable {
        let name = "RequestOperations"
        let version = ""
    }

    struct Pair: Encodable {
        let name, value: String
    }

    struct Request: Encodable {
        let method, url, httpVersion: String
        let cookies: [Pair] = []
        let headers: [Pair]
        let queryString: [Pair]
        let headersSize = -1
        let bodySize: Int64
    }

    struct Content: Encodable {
        let size: Int64
        let mimeType: String
    }

    struct Response: Encodable {
        let status: Int
        let statusText = ""
        let httpVersion: String
        let cookies: [Pair] = []
        let headers: [Pair]
        let content: Content
        let redirectURL: String
        let headersSize = -1
        let bodySize: Int64
    }

    /// -1 is a phase that did not happen or was not measured.
    struct Timings: Encodable {
        var blocked = -1.0
        var dns = -1.0
        var connect = -1.0
        var send = 0.0
        var wait = 0.0
        var receive = 0.0
        /// Part of ``connect``.
        var ssl = -1.0

        var total: Double { [blocked, dns, connect, send, wait, receive].filter { $0 > 0 }.reduce(0, +) }

        init(_ phases: [Attempt.Phase]) {
            func add(_ duration: Double, to time: inout Double) { time = max(time, 0) + duration }
            for phase in phases {
                let duration = phase.duration / .milliseconds(1)
                switch phase.kind {
                case .queued, .backoff, .prepare, .decode: break
                case .host, .slot, .blocked: add(duration, to: &blocked)
                case .lookup: add(duration, to: &dns)
                case .connect: add(duration, to: &connect)
                case .secure:
                    add(duration, to: &connect)
                    add(duration, to: &ssl)
                case .send: add(duration, to: &send)
                case .firstByte: add(duration, to: &wait)
                case .receive: add(duration, to: &receive)
                }
            }
        }
    }

    struct Cache: Encodable {}

    struct Entry: Encodable {
        let startedDateTime: Date
        let time: Double
        let request: Request
        let response: Response
        let cache = Cache()
        let timings: Timings
        let serverIPAddress: String?
        let _request: UInt64
        let _attempt: Int
        let _isHedge: Bool
        /// How long the operation waited before the attempt.
        let _waited: Double
        let _waitReason, _wokenBy, _error: String?
    }

    let log: Log

    init(_ report: TimelineReport) {
        log = Log(
            entries: report.requests.flatMap { timeline in
                timeline.attempts.filter { $0.sent != nil }.map { Entry($0, of: timeline) }
            })
    }
}

extension HTTPArchive.Entry {
    init(_ attempt: Attempt, of timeline: RequestTimeline) {
        let redaction = Redaction.default
        let phases = attempt.phases
        let timings = HTTPArchive.Timings(phases)
        let first = phases.first { ![.queued, .backoff, .prepare].contains($0.kind) }?.start ?? attempt.began
        let exchange = attempt.exchange?.value
        let url = attempt.redirects.last ?? exchange?.request?.url
        let version = attempt.timings?.httpVersion?.description ?? "HTTP/1.1"
        startedDateTime = timeline.startDate.addingTimeInterval(first.inSeconds)
        time = timings.total
        self.timings = timings
        request = HTTPArchive.Request(
            method: exchange?.request?.httpMethod ?? timeline.method, url: url.map(redaction.text) ?? timeline.url,
            httpVersion: version,
            headers: (exchange?.request?.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map {
                HTTPArchive.Pair(name: $0.key, value: Self.shown(($0.key, $0.value), redaction))
            },
            queryString: Self.query(of: url, redaction), bodySize: attempt.timings?.bytesSent ?? -1)
        let fields = exchange?.head?.fields ?? []
        response = HTTPArchive.Response(
            status: attempt.status ?? 0, httpVersion: version,
            headers: fields.map {
                HTTPArchive.Pair(name: $0.name, value: Self.shown($0, redaction))
            },
            content: HTTPArchive.Content(
                size: attempt.bodySize, mimeType: exchange?.head?.field("Content-Type") ?? ""),
            redirectURL: "", bodySize: attempt.timings?.bytesReceived ?? -1)
        serverIPAddress = attempt.timings?.remoteAddress
        (_request, _attempt, _isHedge) = (timeline.id.rawValue, attempt.number, attempt.isHedge)
        _waited = attempt.waited / .milliseconds(1)
        (_waitReason, _wokenBy) = (attempt.waitReason?.description, attempt.wokenBy?.description)
        _error = attempt.failure
    }

    private static func query(of url: URL?, _ redaction: Redaction) -> [HTTPArchive.Pair] {
        guard let query = url.flatMap({ URLReference($0.absoluteString).query }) else { return [] }
        return redaction.form(query).split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? String($0)
            }
            return HTTPArchive.Pair(name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
    }

    /// The value of a field, without credentials. A challenge and a field with several URLs may have some in any place.
    private static func shown(_ field: (name: String, value: String), _ redaction: Redaction) -> String {
        switch field.name.lowercased() {
        case "location", "content-location", "referer":
            URL(string: field.value).map { redaction.text(of: $0) } ?? Redaction.mark
        case "www-authenticate", "proxy-authenticate", "authentication-info", "proxy-authentication-info", "link",
            "refresh":
            Redaction.mark
        default: redaction.value(field.value, ofField: field.name)
        }
    }
}
