/// A report as an HTTP archive, version 1.2. Times are in milliseconds.
///
/// Each attempt that was sent is an entry, and so is each earlier hop of one that was redirected. Members whose names begin
/// with an underscore are extensions, which readers ignore.
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
                // The earlier hops of a redirect have entries of their own.
                case .queued, .backoff, .prepare, .redirect, .decode: break
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
        /// What a reader must know to read the entry right.
        let _note: String?
    }

    let log: Log

    init(_ report: TimelineReport) {
        log = Log(
            entries: report.requests.flatMap { timeline in
                timeline.attempts.filter { $0.sent != nil }.flatMap { attempt in
                    let hops = zip(attempt.hops.dropLast(), attempt.redirects).enumerated()
                    return hops.map { number, hop in
                        Entry(hop.0, to: hop.1, isFirst: number == 0, in: attempt, of: timeline)
                    } + [Entry(attempt, of: timeline)]
                }
            })
    }
}

extension HTTPArchive.Entry {
    /// Makes the entry of the last hop of an attempt.
    init(_ attempt: Attempt, of timeline: RequestTimeline) {
        let hop = attempt.hops.last
        // What was before an earlier hop is part of the entry of that hop.
        let sent = attempt.sent ?? attempt.began
        let phases = attempt.hops.count > 1 ? attempt.phases.filter { $0.start >= sent } : attempt.phases
        let start = phases.first { ![.queued, .backoff, .prepare, .redirect].contains($0.kind) }?.start
        let version = attempt.timings?.httpVersion?.description ?? "HTTP/1.1"
        self.init(
            attempt, of: timeline, from: start ?? sent, HTTPArchive.Timings(phases),
            HTTPArchive.Request(
                hop?.request, url: hop?.request?.url ?? attempt.redirects.last, of: timeline, version: version,
                bodySize: attempt.timings?.bytesSent ?? -1),
            HTTPArchive.Response(
                hop?.head, status: attempt.status ?? 0, version: version, size: attempt.bodySize,
                bodySize: attempt.timings?.bytesReceived ?? -1),
            address: attempt.timings?.remoteAddress, error: attempt.failure)
    }

    /// Makes the entry of an earlier hop. Its phases were not measured, so all its time is that of the wait. The first hop has the
    /// waits for the host and for a slot, too.
    init(_ hop: Attempt.Hop, to target: URL?, isFirst: Bool, in attempt: Attempt, of timeline: RequestTimeline) {
        let span = hop.span ?? attempt.began..<attempt.began
        let waits = isFirst ? attempt.phases.filter { $0.kind == .host || $0.kind == .slot } : []
        var timings = HTTPArchive.Timings(waits)
        timings.wait = (span.upperBound - span.lowerBound) / .milliseconds(1)
        let version = hop.head?.version?.description ?? "HTTP/1.1"
        self.init(
            attempt, of: timeline, from: waits.first?.start ?? span.lowerBound, timings,
            HTTPArchive.Request(hop.request, url: hop.request?.url, of: timeline, version: version),
            HTTPArchive.Response(hop.head, status: hop.head?.status ?? 0, version: version, redirectedTo: target),
            note: "A redirect. The phases of this hop are unknown: wait is the time from sending it to following it.")
    }

    private init(
        _ attempt: Attempt, of timeline: RequestTimeline, from start: Duration, _ timings: HTTPArchive.Timings,
        _ request: HTTPArchive.Request, _ response: HTTPArchive.Response, address: String? = nil,
        error: String? = nil, note: String? = nil
    ) {
        startedDateTime = timeline.startDate.addingTimeInterval(start.inSeconds)
        time = timings.total
        (self.timings, self.request, self.response, _note) = (timings, request, response, note)
        (serverIPAddress, _error) = (address, error)
        (_request, _attempt, _isHedge) = (timeline.id.rawValue, attempt.number, attempt.isHedge)
        _waited = attempt.waited / .milliseconds(1)
        (_waitReason, _wokenBy) = (attempt.waitReason?.description, attempt.wokenBy?.description)
    }
}

extension HTTPArchive.Request {
    init(_ request: URLRequest?, url: URL?, of timeline: RequestTimeline, version: String, bodySize: Int64 = -1) {
        let redaction = Redaction.default
        self.init(
            method: request?.httpMethod ?? timeline.method, url: url.map(redaction.text) ?? timeline.url,
            httpVersion: version,
            headers: (request?.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map {
                HTTPArchive.Pair(name: $0.key, value: HTTPArchive.shown(($0.key, $0.value), redaction))
            },
            queryString: Self.query(of: url, redaction), bodySize: bodySize)
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
}

extension HTTPArchive.Response {
    init(
        _ head: ResponseHead?, status: Int, version: String, redirectedTo target: URL? = nil, size: Int64 = 0,
        bodySize: Int64 = -1
    ) {
        self.init(
            status: status, httpVersion: version,
            headers: (head?.fields ?? []).map {
                HTTPArchive.Pair(name: $0.name, value: HTTPArchive.shown($0, .default))
            },
            content: HTTPArchive.Content(size: size, mimeType: head?.field("Content-Type") ?? ""),
            redirectURL: target.map { Redaction.default.text(of: $0) } ?? "", bodySize: bodySize)
    }
}

extension HTTPArchive {
    /// The value of a field, without credentials. A challenge and a field with several URLs may have some in any place.
    fileprivate static func shown(_ field: (name: String, value: String), _ redaction: Redaction) -> String {
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
