import RequestOperations

/// How a result is printed: one line for each request.
enum OutcomeFormat: Sendable {
    /// `status url bytes attempts seconds ending`. A missing status is `-`. The ending is `ok`, `skipped`, or `failed:`
    /// and the code of the error.
    case text
    /// A JSON object.
    case json

    /// The line of a result, with its line end.
    func line(_ outcome: Outcome) -> String {
        let seconds = outcome.seconds.decimalSeconds
        switch self {
        case .text:
            let status = outcome.status.map(String.init) ?? "-"
            return "\(status) \(outcome.url) \(outcome.bytes) \(outcome.attempts) \(seconds) \(outcome.ending.word)\n"
        case .json:
            let status = outcome.status.map(String.init) ?? "null"
            let error = outcome.error.map { #"{"code":\#(jsonText($0.code)),"message":\#(jsonText($0.message))}"# }
            let file = outcome.file.map(jsonText) ?? "null"
            return
                #"{"id":\#(outcome.id),"url":\#(jsonText(outcome.url)),"status":\#(status),"bytes":\#(outcome.bytes),"#
                + #""attempts":\#(outcome.attempts),"seconds":\#(seconds),"file":\#(file),"#
                + #""error":\#(error ?? "null")}"# + "\n"
        }
    }
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
