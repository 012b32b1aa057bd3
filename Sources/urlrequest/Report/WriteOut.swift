import RequestOperations

/// The format of `--write-out`: a text with variables such as `%{http_code}`, which have the names that curl gives them.
///
/// `%%` is a percent sign; `\n`, `\r`, `\t` and `\\` are what they are in C. Times are in seconds.
struct WriteOut: Sendable, Equatable {
    /// What a variable stands for.
    enum Variable: String, Sendable, CaseIterable {
        case errorMessage = "errormsg"
        case code = "http_code"
        case version = "http_version"
        case method
        case attempts = "num_attempts"
        case retries = "num_retries"
        case connects = "num_connects"
        case redirects = "num_redirects"
        case address = "remote_ip"
        case status = "response_code"
        case size = "size_download"
        case timeToSecure = "time_appconnect"
        case timeToConnect = "time_connect"
        case timeToLookUp = "time_namelookup"
        case timeToSend = "time_pretransfer"
        case timeToFirstByte = "time_starttransfer"
        case time = "time_total"
        case waited = "time_waited"
        case url
        case number = "urlnum"
    }

    private enum Part: Sendable, Equatable {
        case text(String)
        case variable(Variable)
    }

    private let parts: [Part]

    /// Reads a format.
    ///
    /// - Throws: ``UnusableInput`` for a variable that does not exist.
    init(_ format: String) throws {
        var parts: [Part] = []
        var text = ""
        var rest = Substring(format)
        while let character = rest.popFirst() {
            switch (character, rest.first) {
            case ("%", "{"):
                guard let end = rest.firstIndex(of: "}") else { throw UnusableInput("a variable has no }") }
                let name = String(rest[..<end].dropFirst())
                guard let variable = Variable(rawValue: name) else {
                    let names = Variable.allCases.map(\.rawValue).joined(separator: ", ")
                    throw UnusableInput("\(name) is no variable; they are \(names)")
                }
                if !text.isEmpty { parts.append(.text(text)) }
                text = ""
                parts.append(.variable(variable))
                rest = rest[rest.index(after: end)...]
            case ("%", "%"), ("\\", "\\"): text.append(rest.removeFirst())
            case ("\\", "n"): text.append(Self.replace(&rest, "\n"))
            case ("\\", "r"): text.append(Self.replace(&rest, "\r"))
            case ("\\", "t"): text.append(Self.replace(&rest, "\t"))
            default: text.append(character)
            }
        }
        if !text.isEmpty { parts.append(.text(text)) }
        self.parts = parts
    }

    private static func replace(_ rest: inout Substring, _ character: Character) -> Character {
        rest.removeFirst()
        return character
    }

    /// The text for a result.
    func line(_ outcome: Outcome) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .variable(let variable): Self.value(variable, outcome)
            }
        }.joined()
    }

    private static func value(_ variable: Variable, _ outcome: Outcome) -> String {
        let last = outcome.timeline?.attempts.last
        let timings = last?.timings
        let time = { (duration: Duration?) in (duration ?? .zero).decimalSeconds }
        switch variable {
        case .errorMessage: return outcome.error?.message ?? ""
        case .code, .status: return outcome.status.map(String.init) ?? "000"
        case .version: return timings?.httpVersion.map { "\($0)".replacingOccurrences(of: "HTTP/", with: "") } ?? "0"
        case .method: return outcome.timeline?.method ?? ""
        case .attempts: return "\(outcome.attempts)"
        case .retries: return "\(max(outcome.attempts - 1, 0))"
        case .connects:
            return "\(outcome.timeline?.attempts.count { $0.timings?.connectionWasReused == false } ?? 0)"
        case .redirects: return "\(last?.redirects.count ?? 0)"
        case .address: return timings?.remoteAddress ?? ""
        case .size: return "\(outcome.bytes)"
        case .timeToSecure: return time(timings?.secureConnect)
        case .timeToConnect: return time(timings?.connect)
        case .timeToLookUp: return time(timings?.nameLookup)
        case .timeToSend: return time(timings?.requestSent)
        case .timeToFirstByte: return time(timings?.firstByte)
        case .time: return outcome.seconds.decimalSeconds
        case .waited: return time(outcome.timeline?.attempts.reduce(.zero) { $0 + $1.waited })
        case .url: return outcome.url
        case .number: return "\(outcome.id - 1)"
        }
    }
}
