#if CommandLineTool
    import OfflineRequests
    import RequestOperations

    /// A record as `list` and `show` print it, without credentials. What came from outside cannot begin a line.
    extension OfflineRecord {
        /// One line.
        var line: String { "\(id) \(stateText) \(attempts) \(lane.map(columnText) ?? "-") \(subject)" }

        /// Several lines.
        var details: String {
            var lines = [
                "id: \(id)", "state: \(stateText)", "request: \(subject)", "added: \(added.formatted(.iso8601))",
                "idempotency key: \(lineText(idempotencyKey))", "attempts: \(attempts)", "body: \(bodySize) bytes",
            ]
            if let lane { lines.append("lane: \(lineText(lane))") }
            if let tag { lines.append("tag: \(lineText(tag))") }
            if let uniqueKey { lines.append("key: \(lineText(uniqueKey))") }
            if let expires { lines.append("expires: \(expires.formatted(.iso8601))") }
            if let lastFailure { lines.append("last failure: \(lineText(lastFailure))") }
            if case .request(let request) = content {
                for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
                    let value = Redaction.default.value(value, ofField: name)
                    lines.append("\(lineText(name)): \(lineText(value))")
                }
            }
            return lines.joined(separator: "\n")
        }

        /// The state in one or a few words.
        private var stateText: String {
            switch state {
            case .pending: "pending"
            case .waiting(let until?, _): "waiting until \(until.formatted(.iso8601))"
            case .waiting(nil, let reason): "waiting for a \(reason)"
            case .inFlight: "in flight"
            case .dead(let reason): "dead (\(lineText("\(reason)")))"
            }
        }

        private var subject: String {
            switch content {
            case .message(let name): "message \(lineText(name))"
            case .request(let request):
                lineText(
                    "\(request.httpMethod ?? "GET") \(request.url.map { Redaction.default.text(of: $0) } ?? "")")
            }
        }
    }
#endif
