import RequestOperations

/// The outcome of one request.
struct Outcome: Sendable {
    /// Why a request failed.
    struct Failure: Sendable, Equatable {
        /// The name of the error's code.
        let code: String
        /// One line, without credentials.
        let message: String

        /// The failure of a request that was in flight or waiting when the run was ended.
        static let cancelled = Failure(code: "cancelled", message: "the run was ended")
    }

    /// The number of the argument or line, from 1.
    let id: Int

    /// The URL that was requested.
    let url: String

    /// The status of the last attempt's response; `nil` if none came.
    let status: Int?

    /// The number of bytes of the last attempt's body, after decoding.
    let bytes: Int64

    /// How many attempts began.
    let attempts: Int

    /// The time from when the request got a place until it ended.
    let seconds: Duration

    /// How it ended.
    let ending: Ending

    /// The name of the file that the body was saved in, or of the file that was kept; `nil` for none.
    let file: String?

    /// The attempts, if the format shows them.
    var timeline: RequestTimeline?

    /// The body of a success, if the format shows bodies.
    var body = Data()

    /// Why it failed; `nil` for a success.
    var error: Failure? { if case .failed(let failure) = ending { failure } else { nil } }
}

extension Outcome {
    /// How a request ended.
    enum Ending: Sendable, Equatable {
        case succeeded
        /// The request was not sent, since its file already existed.
        case skipped
        case failed(Failure)
    }

    /// Makes the outcome of an operation that has ended. Returns `nil` for an operation that never began.
    init?(of operation: InputOperation, _ result: Result<Int64, any Error>, for format: OutcomeFormat? = nil) {
        guard let seconds = operation.duration else { return nil }
        let attempts = operation.attempts
        id = operation.input.id
        url = operation.input.url
        self.attempts = operation.begunAttempts
        self.seconds = seconds
        // The last attempt may have ended before it was sent.
        status = attempts.last { $0.status != nil }?.status
        if format?.showsAttempts == true { timeline = operation.timeline }
        switch result {
        case .success(let size):
            bytes = size
            ending = .succeeded
            file = operation.savedName
            body = operation.body
        case .failure(let failure as RequestError):
            bytes = max(operation.received, attempts.last?.bodySize ?? 0)
            ending = .failed(Failure(code: failure.code.description, message: toolText(failure)))
            file = nil
        case .failure:
            bytes = operation.received
            ending = .failed(.cancelled)
            file = nil
        }
    }

    /// Makes the outcome of a request that was not sent, since its file already existed.
    init(skipping request: InputRequest, keeping file: String) {
        self.init(
            id: request.id, url: request.url, status: nil, bytes: 0, attempts: 0, seconds: .zero, ending: .skipped,
            file: file)
    }
}

/// How a result is printed: one line for each request.
enum OutcomeFormat: Sendable {
    /// `status url bytes attempts seconds ending`. A missing status is `-`. The ending is `ok`, `skipped`, or `failed:`
    /// and the code of the error.
    case text
    /// A JSON object.
    case json
    /// The text that `--write-out` describes.
    case writeOut(WriteOut)
    /// The body of a success, and nothing for a failure.
    case body

    /// Whether a result shows more of its attempts than their number.
    var showsAttempts: Bool {
        switch self {
        case .text, .body: false
        case .json, .writeOut: true
        }
    }

    /// What is printed for a result: a line with its end, or the bytes of a body.
    func bytes(_ outcome: Outcome) -> Data {
        if case .body = self { outcome.body } else { Data(line(outcome).utf8) }
    }

    /// The line of a result, with its line end.
    func line(_ outcome: Outcome) -> String {
        let seconds = outcome.seconds.decimalSeconds
        switch self {
        case .body: return String(decoding: outcome.body, as: UTF8.self)
        case .writeOut(let format): return format.line(outcome)
        case .text:
            let status = outcome.status.map(String.init) ?? "-"
            return "\(status) \(outcome.url) \(outcome.bytes) \(outcome.attempts) \(seconds) \(outcome.ending.word)\n"
        case .json:
            let status = outcome.status.map(String.init) ?? "null"
            let error = outcome.error.map { #"{"code":\#(jsonText($0.code)),"message":\#(jsonText($0.message))}"# }
            let file = outcome.file.map(jsonText) ?? "null"
            let attempts = (outcome.timeline?.attempts ?? []).map(members).joined(separator: ",")
            let members = [
                #""id":\#(outcome.id)"#, #""url":\#(jsonText(outcome.url))"#, #""status":\#(status)"#,
                #""bytes":\#(outcome.bytes)"#, #""attempts":\#(outcome.attempts)"#, #""seconds":\#(seconds)"#,
                #""file":\#(file)"#, #""error":\#(error ?? "null")"#, #""timeline":[\#(attempts)]"#,
            ]
            return "{\(members.joined(separator: ","))}\n"
        }
    }
}

/// An attempt as JSON. Times are in seconds; those of phases that did not happen or were not measured are missing.
private func members(_ attempt: Attempt) -> String {
    var members = [#""attempt":\#(attempt.number)"#]
    if let status = attempt.status { members.append(#""status":\#(status)"#) }
    if let failure = attempt.failure { members.append(#""error":\#(jsonText(failure))"#) }
    if let reason = attempt.waitReason { members.append(#""waitedFor":\#(jsonText("\(reason)"))"#) }
    if let wake = attempt.wokenBy { members.append(#""wokenBy":\#(jsonText("\(wake)"))"#) }
    members += attempt.phases.map { #""\#($0.kind.rawValue)":\#($0.duration.decimalSeconds)"# }
    return "{\(members.joined(separator: ","))}"
}

extension Outcome.Ending {
    fileprivate var word: String {
        switch self {
        case .succeeded: "ok"
        case .skipped: "skipped"
        case .failed(let failure): "failed:\(failure.code)"
        }
    }
}

extension Duration {
    /// The seconds with six decimals, such as `0.012345`.
    var decimalSeconds: String {
        let microseconds = max(microseconds, 0)
        let fraction = String(microseconds % 1_000_000)
        return "\(microseconds / 1_000_000).\(String(repeating: "0", count: 6 - fraction.count))\(fraction)"
    }
}

/// A JSON string. Characters that some programs read as a line end are escaped, so that a line stays one line.
func jsonText(_ text: String) -> String {
    var json = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": json += "\\\""
        case "\\": json += "\\\\"
        case "\n": json += "\\n"
        case "\r": json += "\\r"
        case "\t": json += "\\t"
        case "\u{00}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
            let digits = String(scalar.value, radix: 16)
            json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: json.unicodeScalars.append(scalar)
        }
    }
    return json + "\""
}
