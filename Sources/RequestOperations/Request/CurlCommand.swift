/// Writes a request as a command of the program curl, for a POSIX shell.
struct CurlCommand {
    private let request: URLRequest
    private let redaction: Redaction?

    init(_ request: URLRequest, redaction: Redaction?) {
        self.request = request
        self.redaction = redaction
    }

    /// The command, on several lines.
    func text(body: RequestBody) -> String {
        var words = ["curl --globoff --path-as-is"]
        words.append(option(ofMethod: request.httpMethod ?? "GET", hasBody: !body.isNone))
        words.append("--url \(url.quoted)")
        for (name, value) in fields {
            // curl sends an empty field only if a semicolon follows the name. With a colon it leaves the field out.
            words.append("--header \((value.isEmpty ? "\(name);" : "\(name): \(value)").quoted)")
        }
        var source = ""
        switch body {
        case .none: break
        case .data(let data): (source, words) = adding(shown(data), to: words)
        case .file(let file): words.append("--data-binary \("@\(file.path)".quoted)")
        case .stream: words.append("--data-binary @-")
        }
        if !body.isNone, !fields.contains(where: { $0.name.lowercased() == "content-type" }) {
            // curl would add the content type of a form by itself.
            words.append("--header 'Content-Type:'")
        }
        return source + words.joined(separator: " \\\n    ")
    }

    /// curl has a special option for HEAD. Without that option, curl waits for a body. With it, curl sends no body.
    private func option(ofMethod method: String, hasBody: Bool) -> String {
        method == "HEAD" && !hasBody ? "--head" : "--request \(method.quoted)"
    }

    private var url: String {
        guard let url = request.url else { return "" }
        return redaction?.text(of: url) ?? url.absoluteString
    }

    /// The fields that can be sent. curl would read a name that begins with `@` as the name of a file.
    private var fields: [(name: String, value: String)] {
        (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
            .filter { RequestPreflight.isToken($0.key) && RequestPreflight.isFieldValue($0.value) }
            .map { name, value in (name, redaction?.value(value, ofField: name) ?? value) }
    }

    /// The limit for one word of the command, in bytes. Linux passes on words of at most 128 KiB.
    private static let longestWord = 64 << 10

    /// Adds a body: as one word if a shell can pass it, otherwise as the output of a `printf`.
    private func adding(_ body: Data, to words: [String]) -> (String, [String]) {
        if body.count < Self.longestWord, !body.contains(0), let text = String(validating: body, as: UTF8.self) {
            let word = text.quoted
            if word.utf8.count < Self.longestWord { return ("", words + ["--data-raw \(word)"]) }
        }
        // The body is cut into pieces because some shells limit the length of a command.
        let prints = stride(from: 0, to: body.count, by: 8 << 10).map { start in
            "printf '\(body.dropFirst(start).prefix(8 << 10).map(\.inFormat).joined())'"
        }
        return ("{ \(prints.joined(separator: "; ")); } | ", words + ["--data-binary @-"])
    }

    /// The body after redaction. A body that cannot be redacted in part is replaced as a whole.
    private func shown(_ body: Data) -> Data {
        guard let redaction, !body.isEmpty else { return body }
        return redaction.body(body, type: request.value(forHTTPHeaderField: "Content-Type"))
            ?? Data(Redaction.mark.utf8)
    }
}

extension Redaction {
    /// A body without what is hidden. `nil` for a body that is neither a form nor JSON.
    func body(_ body: Data, type: String?) -> Data? {
        let type = type.flatMap(MediaType.init)
        switch (type?.type, type?.subtype) {
        case ("application", "x-www-form-urlencoded"): return Data(form(String(decoding: body, as: UTF8.self)).utf8)
        case (_, let subtype?) where subtype == "json" || subtype.hasSuffix("+json"): return json(body)
        default: return nil
        }
    }
}

extension String {
    /// The text as one word of a POSIX shell. Between apostrophes, every character except an apostrophe stands for
    /// itself. The text is split between bytes, because an apostrophe plus a combining mark is a different `Character`.
    fileprivate var quoted: String {
        let pieces = utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + pieces.map { String(Substring($0)) }.joined(separator: #"'\''"#) + "'"
    }
}

extension UInt8 {
    /// The byte as written in the format of `printf`, between apostrophes.
    fileprivate var inFormat: String {
        switch Unicode.Scalar(self) {
        case "%": return "%%"
        // A hyphen at the beginning would start an option.
        case "'", "\\", "-": break
        case " "..."~": return String(Unicode.Scalar(self))
        default: break
        }
        let digits = String(self, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }
}

extension URLRequest {
    /// The request as a command for the program curl. A POSIX shell runs it unchanged, even if the values contain
    /// special characters.
    ///
    /// A system limits the length of a command that is passed as an argument, as in `sh -c`: 128 KiB on Linux. Run a
    /// longer command from a file, or from the standard input of a shell. The command leaves out fields that no
    /// transport sends: a name that is not a token, or a value with a line break. For a HEAD with a body, curl waits
    /// for a response body until the server closes the connection.
    ///
    /// - Parameters:
    ///   - redaction: What is left out of the URL, the fields, and a body that is a form or JSON. Any other body is
    ///     left out as a whole, because its parts cannot be told apart. ``Redaction/default`` if not given. With `nil`
    ///     nothing is left out, and the command sends an equal request.
    /// - Returns: A command of several lines. It reads a streamed body from the standard input.
    public func curlCommand(redaction: Redaction? = .default) -> String {
        CurlCommand(self, redaction: redaction).text(body: RequestBody(of: self))
    }
}
