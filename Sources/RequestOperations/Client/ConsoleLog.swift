/// Writes lines about the requests of a client. They show no credentials.
struct ConsoleLog: Sendable {
    var isEnabled = false
    /// How many bytes of a body are shown.
    var bodySize = 0
    var write: @Sendable (String) -> Void = { FileHandle.standardError.write(Data("\($0)\n".utf8)) }

    /// A line about a step, with a body if bodies are shown.
    func line(_ id: RequestID, _ text: @autoclosure () -> String, body: Data? = nil, type: String? = nil) {
        guard isEnabled else { return }
        var line = "request \(id): \(text())"
        if bodySize > 0, let body, !body.isEmpty { line += "\n" + shown(body, type) }
        write(line)
    }

    /// Writes the steps that are no secret and not too many.
    func line(_ event: RequestEvent) {
        switch event.step {
        case .attemptFailed, .redirected, .waits, .waitsForConnectivity, .abandoned, .ended:
            line(event.id, "\(event.step)")
        default: break
        }
    }

    /// The beginning of a body. Only forms and JSON can be shown without their credentials.
    private func shown(_ body: Data, _ type: String?) -> String {
        let type = type.flatMap(MediaType.init)
        let redaction = Redaction.default
        let whole: String?
        switch (type?.type, type?.subtype) {
        case ("application", "x-www-form-urlencoded"): whole = redaction.form(String(decoding: body, as: UTF8.self))
        case (_, let subtype?) where subtype == "json" || subtype.hasSuffix("+json"):
            whole = redaction.json(body).map { String(decoding: $0, as: UTF8.self) }
        default: whole = nil
        }
        guard let whole else { return "(\(body.count) bytes)" }
        guard whole.utf8.count > bodySize else { return whole }
        return String(decoding: whole.utf8.prefix(bodySize), as: UTF8.self) + "…"
    }
}
