#if CommandLineTool
    import FlyingFox
    import OfflineRequests
    import RequestOperations

    /// The page of a queue: answers the requests of a browser.
    struct QueuePage: HTTPHandler {
        let queue: OfflineRequestQueue
        let access: PageGuard
        let change = BulkChange()

        func handleRequest(_ request: HTTPRequest) async -> HTTPResponse {
            var response: HTTPResponse
            switch access.verdict(on: request) {
            case .allowed(let path):
                do { response = try await answer(request, at: path) } catch let error as UnusableInput {
                    response = .text(.badRequest, error.reason)
                } catch {
                    response = .text(.internalServerError, errorText(error))
                }
            case .welcome(let cookie, let address):
                response = HTTPResponse(
                    statusCode: .seeOther, headers: HTTPHeaders([.location: address, .setCookie: cookie]))
            case .refused(let reason): response = .text(.forbidden, reason)
            }
            for (name, value) in Self.fields { response.headers[HTTPHeader(name)] = value }
            return response
        }

        /// Nothing comes from elsewhere, no other page may show this one, and nothing stays in a cache.
        private static let fields = [
            "Cache-Control": "no-store",
            "Content-Security-Policy": """
            default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
            base-uri 'none'; form-action 'none'; frame-ancestors 'none'
            """,
            "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
        ]

        private func answer(_ request: HTTPRequest, at path: String) async throws -> HTTPResponse {
            switch (request.method, path) {
            case (.GET, ""): return .text(.ok, Self.markup, "text/html")
            case (.GET, "page.css"): return .text(.ok, Self.style, "text/css")
            case (.GET, "page.js"): return .text(.ok, Self.script, "text/javascript")
            case (.GET, "records"): return try await list(Selection(request.query))
            case (.GET, "record"): return try await show(request.query)
            case (.GET, "events"):
                return HTTPResponse(
                    statusCode: .ok, headers: [.contentType: "text/event-stream"],
                    body: HTTPBodySequence(from: LiveEvents(page: self)))
            case (.POST, "pause"): queue.pause()
            case (.POST, "resume"): queue.resume()
            case (.POST, "stop"): change.stop()
            case (.POST, "retry"): return try await begin(.retry, request)
            case (.POST, "remove"): return try await begin(.remove, request)
            default: return .text(.notFound, "There is nothing here.")
            }
            return HTTPResponse(statusCode: .accepted)
        }

        // MARK: Looking

        private struct Row: Encodable {
            let id: String
            let kind: String
            let state: String
            let subject: String
            let attempts: Int
            let lane: String
            let failure: String?

            init(_ record: OfflineRecord) {
                id = "\(record.id)"
                kind = "\(record.state.kind)"
                state = record.stateText
                subject = lineText(record.subject)
                attempts = record.attempts
                lane = lineText(record.lane ?? "")
                failure = record.lastFailure.map(lineText)
            }
        }

        private struct List: Encodable {
            let records: [Row]
            let next: String?
            let looked: Int
        }

        private func list(_ selection: Selection) async throws -> HTTPResponse {
            let page = try await queue.page(try selection.query())
            return try .json(
                List(records: page.records.map(Row.init), next: page.next.map { "\($0)" }, looked: page.looked))
        }

        private struct Details: Encodable {
            let kind: String
            let facts: [[String]]
            var lane: String?
            var host: String?
            var hasShortBody = false
            var body: String?
        }

        /// A longer body is not shown. In bytes.
        private static let longestBody: Int64 = 256 << 10

        private func show(_ query: [HTTPRequest.QueryItem]) async throws -> HTTPResponse {
            let id = try QueueValue.id(query["id"] ?? "")
            guard let record = try await queue.record(id) else {
                do {
                    let outcome = try await queue.outcome(of: id)
                    return try .json(Details(kind: "ended", facts: [["outcome", outcome.line]]))
                } catch OfflineQueueError.Code.unknownRecord {
                    return .text(.notFound, "There is no such record.")
                }
            }
            var facts = record.facts.map { [$0.name, $0.value] }
            if record.bodySize > Self.longestBody {
                facts.append(["body here", "too long, queue show --body prints it"])
            }
            var details = Details(
                kind: "\(record.state.kind)", facts: facts, lane: record.lane ?? "",
                host: record.host,
                hasShortBody: (1...Self.longestBody).contains(record.bodySize))
            if query["show"] == "body" {
                guard record.bodySize <= Self.longestBody else {
                    throw UnusableInput("the body is too long for the page: urlrequest queue show --body prints it")
                }
                details.body = try await queue.body(of: id).map { String(decoding: $0, as: UTF8.self) }
            }
            return try .json(details)
        }

        // MARK: Changing

        /// The records that match, or the given ones. A list begins before an id, and so does a change: the page sends the one
        /// after the newest that it shows.
        private struct Selection: Decodable {
            var ids: [String]?
            var state: String?
            var lane: String?
            var host: String?
            var text: String?
            var before: String?

            init(_ query: [HTTPRequest.QueryItem]) {
                (state, lane, host) = (query["state"], query["lane"], query["host"])
                (text, before) = (query["text"], query["before"])
            }

            func query() throws -> RecordQuery {
                let kinds = try state.map { Set([try QueueValue.state($0)]) } ?? Set(RecordFilter.Kind.allCases)
                var query = RecordQuery(RecordFilter(kinds, lane: lane), host: host, text: text)
                query.before = try before.map(QueueValue.id)
                return query
            }
        }

        private func begin(_ verb: BulkChange.Verb, _ request: HTTPRequest) async throws -> HTTPResponse {
            // An id has at most 19 digits; a list sends the selected ones of what it shows.
            guard let length = request.bodySequence.count else {
                throw UnusableInput("the request does not say how long its body is")
            }
            guard length <= 1 << 20 else { throw UnusableInput("the body is too long") }
            let selection: Selection
            do { selection = try JSONDecoder().decode(Selection.self, from: try await request.bodyData) } catch {
                throw UnusableInput("the body is not the JSON of a selection")
            }
            let target: BulkChange.Target =
                if let ids = selection.ids { .ids(try ids.map(QueueValue.id)) } else { .query(try selection.query()) }
            guard change.begin(verb, target, in: queue) else {
                return .text(.conflict, "Another change is under way.")
            }
            return HTTPResponse(statusCode: .accepted)
        }

        // MARK: Live

        /// What changes when there is something new to show.
        struct Mark: Equatable {
            let version: StoreVersion
            let isPaused: Bool
            let change: BulkChange.Progress?
        }

        func mark() async throws -> Mark {
            Mark(version: try await queue.storeVersion(), isPaused: queue.isPaused, change: change.progress)
        }

        private struct Live: Encodable {
            let name: String
            let counts: [String: Int]
            let mostCounted: Int
            let lanes: [QueueOverview.Group]
            let hosts: [QueueOverview.Group]
            let delivered: [Int]
            let failed: [Int]
            let isPaused: Bool
            let change: BulkChange.Progress?
        }

        /// The queue as a whole, as JSON in one line.
        func state() async throws -> Data {
            let overview = try await queue.overview()
            let counts = overview.counts
            let live = Live(
                name: lineText(queue.name),
                counts: [
                    "": counts.undelivered + counts.dead, "pending": counts.pending, "waiting": counts.waiting,
                    "inFlight": counts.inFlight, "dead": counts.dead,
                ],
                mostCounted: QueueOverview.mostCounted, lanes: overview.lanes, hosts: overview.hosts,
                delivered: overview.minutes.map(\.delivered), failed: overview.minutes.map(\.failed),
                isPaused: queue.isPaused, change: change.progress)
            return try JSONEncoder().encode(live)
        }
    }

    extension OfflineRecord.State {
        fileprivate var kind: RecordFilter.Kind {
            switch self {
            case .pending: .pending
            case .waiting: .waiting
            case .inFlight: .inFlight
            case .dead: .dead
            }
        }
    }

    extension HTTPResponse {
        fileprivate static func text(
            _ status: HTTPStatusCode, _ text: String, _ type: String = "text/plain"
        ) -> HTTPResponse {
            HTTPResponse(
                statusCode: status, headers: [.contentType: "\(type); charset=utf-8"], body: Data("\(text)\n".utf8))
        }

        fileprivate static func json(_ value: some Encodable) throws -> HTTPResponse {
            HTTPResponse(
                statusCode: .ok, headers: [.contentType: "application/json"], body: try JSONEncoder().encode(value))
        }
    }
#endif
