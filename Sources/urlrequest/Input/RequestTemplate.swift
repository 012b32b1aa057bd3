import RequestOperations

/// Makes a request of each argument and line: what those leave open comes from the command's options.
struct RequestTemplate: Sendable {
    /// The method of a request that names none; `nil` is POST for one with a body, else GET.
    var method: String?

    /// The fields of every request. A line that has a field of the same name replaces it.
    var fields: [HeaderField] = []

    /// The body of a request that brings none.
    var body = RequestBody.none

    /// Makes a request from a line: a URL, or a JSON object.
    ///
    /// - Returns: The request, or `nil` for an empty line.
    /// - Throws: ``UnusableInput``.
    func request(from line: LineReader.Line, id: Int) throws -> InputRequest? {
        guard case .bytes(var bytes) = line else { throw UnusableInput("the line is longer than 16 MiB") }
        while let first = bytes.first, first.isSpaceOrTab { bytes.removeFirst() }
        while let last = bytes.last, last.isSpaceOrTab { bytes.removeLast() }
        if bytes.isEmpty { return nil }
        guard let text = String(bytes: bytes, encoding: .utf8) else { throw UnusableInput("the line is not UTF-8") }
        return bytes.first == UInt8(ascii: "{")
            ? try request(fromJSON: bytes, id: id) : try request(fromURL: text, id: id)
    }

    /// Makes a request from a URL.
    func request(fromURL text: String, id: Int) throws -> InputRequest {
        try make(id: id, url: URL(requestable: text), method: nil, fields: [], body: nil)
    }

    /// Makes a request from `{"method", "url", "headers", "body"}`.
    private func request(fromJSON text: ArraySlice<UInt8>, id: Int) throws -> InputRequest {
        let line = try JSONLine(text)
        guard let url = line.url else { throw UnusableInput("the key url is missing") }
        return try make(
            id: id, url: URL(requestable: url), method: line.method, fields: line.fields, body: line.body)
    }

    private func make(
        id: Int, url: URL, method ownMethod: String?, fields ownFields: [HeaderField], body ownBody: JSONLine.Body?
    ) throws -> InputRequest {
        var request = URLRequest(url: url)
        let body = ownBody.map { RequestBody.data($0.data) } ?? self.body
        request.httpMethod = ownMethod ?? method ?? (body.isNone ? "GET" : "POST")
        let replaced = Set(ownFields.map { $0.name.lowercased() })
        let fields = self.fields.filter { !replaced.contains($0.name.lowercased()) } + ownFields
        for field in fields { request.add(field) }
        if ownBody?.isJSON == true, request.value(forHTTPHeaderField: "Content-Type") == nil {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        return InputRequest(
            id: id, request: request, body: body, ownFields: ownFields, ownBody: ownBody?.data.count ?? 0)
    }
}

/// A line that is a JSON object.
private struct JSONLine {
    /// A body that a line brings: a string as it is, an object or array as its text.
    struct Body {
        let data: Data
        let isJSON: Bool
    }

    private(set) var method: String?
    private(set) var url: String?
    private(set) var fields: [HeaderField] = []
    private(set) var body: Body?

    init(_ text: ArraySlice<UInt8>) throws {
        var keys: Set<String> = []
        var scanner = JSONScanner(text)
        try scanner.object { key, scanner in
            guard keys.insert(key).inserted else { throw UnusableInput("the key \(quoted(key)) stands twice") }
            switch key {
            case "method": method = try Self.readMethod(&scanner)
            case "url": url = try Self.readString(of: key, &scanner)
            case "headers": fields = try Self.readFields(&scanner)
            case "body": body = try Self.readBody(&scanner)
            default: throw UnusableInput("the key \(quoted(key)) is not known")
            }
        }
        try scanner.end()
    }

    private static func readMethod(_ scanner: inout JSONScanner) throws -> String {
        let method = try readString(of: "method", &scanner)
        guard RequestPreflight.isToken(method) else { throw UnusableInput("the method is not a token") }
        return method
    }

    private static func readString(of key: String, _ scanner: inout JSONScanner) throws -> String {
        guard scanner.kind == .string else { throw UnusableInput("\(key) is not a string") }
        return try scanner.string()
    }

    private static func readFields(_ scanner: inout JSONScanner) throws -> [HeaderField] {
        guard scanner.kind == .object else { throw UnusableInput("headers is not an object") }
        var fields: [HeaderField] = []
        try scanner.object { name, scanner in
            switch scanner.kind {
            case .string:
                fields.append(try HeaderField(name: name, value: scanner.string()))
            case .array:
                try scanner.array { scanner in
                    fields.append(try HeaderField(name: name, value: readString(of: "a value of headers", &scanner)))
                }
            case .object, .other:
                throw UnusableInput("a value of headers is neither a string nor an array of strings")
            }
        }
        return fields
    }

    private static func readBody(_ scanner: inout JSONScanner) throws -> Body {
        switch scanner.kind {
        case .string: Body(data: Data(try scanner.string().utf8), isJSON: false)
        case .object, .array: Body(data: Data(try scanner.value()), isJSON: true)
        case .other: throw UnusableInput("body is not a string, an object or an array")
        }
    }
}

extension URLRequest {
    /// Adds a field, to those of its name that are there. Values are joined by a comma (RFC 9110, section 5.3), cookies by a
    /// semicolon (RFC 6265, section 4.2.1).
    fileprivate mutating func add(_ field: HeaderField) {
        if field.name.lowercased() == "cookie", let other = value(forHTTPHeaderField: field.name) {
            setValue("\(other); \(field.value)", forHTTPHeaderField: field.name)
        } else {
            addValue(field.value, forHTTPHeaderField: field.name)
        }
    }
}

extension UInt8 {
    fileprivate var isSpaceOrTab: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

/// A key of the input as it can be printed: short, and without what a terminal would obey.
private func quoted(_ key: String) -> String {
    let safe = key.unicodeScalars.prefix(40).map { $0.properties.isGraphic ? Character($0) : "?" }
    return "“\(String(safe))”"
}

extension Unicode.Scalar.Properties {
    fileprivate var isGraphic: Bool {
        switch generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

extension URL {
    /// A URL that a request can be sent to.
    ///
    /// Strict in ASCII (RFC 3986), so that nothing is sent that was not asked for; other characters are percent-encoded
    /// as UTF-8 (RFC 3987).
    ///
    /// - Throws: ``UnusableInput``.
    init(requestable text: String) throws {
        let isMalformed = text.utf8.contains { $0 <= 0x20 || $0 == 0x7F || "\"<>\\^`{|}".utf8.contains($0) }
        guard !isMalformed, let url = URL(strict: text) else { throw UnusableInput("malformed URL") }
        guard let scheme = url.scheme?.lowercased() else { throw UnusableInput("malformed URL: it has no scheme") }
        guard scheme == "http" || scheme == "https" else {
            throw UnusableInput("the scheme \(scheme) is neither http nor https")
        }
        guard let host = url.host, !host.isEmpty else { throw UnusableInput("malformed URL: it has no host") }
        guard (1...65535).contains(url.port ?? 1) else { throw UnusableInput("malformed URL: its port is not valid") }
        self = url
    }
    /// A URL whose text is one, but for characters beyond ASCII.
    private init?(strict text: String) {
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        // Foundation knows how a name of a host beyond ASCII is sent; all else is strict all the same.
        if parts.count > 2, parts[1].isEmpty, !parts[2].utf8.allSatisfy({ $0 < 0x80 }) {
            let named = (parts[..<2] + ["host"] + parts[3...]).joined(separator: "/")
            guard URL(string: named.percentEncodedBeyondASCII, encodingInvalidCharacters: false) != nil else {
                return nil
            }
            self.init(string: text, encodingInvalidCharacters: true)
        } else {
            self.init(string: text.percentEncodedBeyondASCII, encodingInvalidCharacters: false)
        }
    }
}

extension String {
    /// The text with its characters beyond ASCII percent-encoded as UTF-8 (RFC 3987, section 3.1).
    fileprivate var percentEncodedBeyondASCII: String {
        guard !utf8.allSatisfy({ $0 < 0x80 }) else { return self }
        return addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: "\u{0}"..."\u{7F}")) ?? self
    }
}
