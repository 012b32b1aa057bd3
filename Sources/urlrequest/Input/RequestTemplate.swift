import RequestOperations

/// Makes a request from each argument and line. The command's options fill in what those do not say.
struct RequestTemplate: Sendable {
    /// The method of a request that names none. With `nil` it is POST if there is a body, otherwise GET.
    var method: String?

    /// The fields of every request. A line that has a field of the same name replaces it.
    var fields: [HeaderField] = []

    /// The body of a request that has none of its own.
    var body = RequestBody.none

    /// Whether lines may say how a durable queue takes them.
    var isForQueue = false

    /// Makes a request from a line, which is a URL or a JSON object.
    ///
    /// - Returns: The request, or `nil` for an empty line or a comment.
    /// - Throws: ``UnusableInput``.
    func request(from line: LineReader.Line, id: Int) throws -> InputRequest? {
        guard case .bytes(let bytes) = line else { throw UnusableInput("the line is longer than 16 MiB") }
        guard let first = bytes.first(where: { !$0.isSpaceOrTab }), first != UInt8(ascii: "#") else { return nil }
        guard let text = String(bytes: bytes, encoding: .utf8) else { throw Self.notUTF8(bytes) }
        return first == UInt8(ascii: "{") ? try request(fromJSON: bytes, id: id) : try request(fromURL: text, id: id)
    }

    /// Makes a request from a URL. Space around the URL is allowed.
    func request(fromURL text: String, id: Int) throws -> InputRequest {
        let spaces = text.utf8.prefix(while: \.isSpaceOrTab).count
        let hasSpaces = spaces > 0 || text.utf8.last?.isSpaceOrTab == true
        let trimmed = hasSpaces ? text.trimmingCharacters(in: .whitespaces) : text
        do {
            return try make(id: id, url: URL(requestable: trimmed), method: nil, fields: [], body: nil)
        } catch let error as UnusableInput {
            throw error.beginning(at: spaces + 1)
        }
    }

    /// Makes a request from `{"method", "url", "headers", "body"}`.
    private func request(fromJSON text: ArraySlice<UInt8>, id: Int) throws -> InputRequest {
        let line = try JSONLine(text, isForQueue: isForQueue)
        guard let url = line.url else { throw UnusableInput("the key url is missing") }
        var request = try make(id: id, url: url, method: line.method, fields: line.fields, body: line.body)
        request.queueing = line.queueing
        return request
    }

    private static func notUTF8(_ bytes: ArraySlice<UInt8>) -> UnusableInput {
        var (decoder, rest, column, byte) = (UTF8(), bytes.makeIterator(), 1, bytes.startIndex)
        while case .scalarValue(let scalar) = decoder.decode(&rest) {
            column += 1
            byte += UTF8.width(scalar)
        }
        return UnusableInput(
            "the byte 0x\(String(bytes[byte], radix: 16, uppercase: true)) belongs to no text in UTF-8", column: column)
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

extension UInt8 {
    fileprivate var isSpaceOrTab: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

/// One request of the input.
struct InputRequest: Sendable {
    /// The number of the argument or line, from 1. The lines are counted after the arguments.
    let id: Int

    /// Method, URL and fields.
    let request: URLRequest

    /// The body to send.
    let body: RequestBody

    /// How a durable queue takes it.
    var queueing = Queueing()

    /// How many of the ``OpenPlaces`` the request takes: one, and one more for each 8 KiB that the request itself
    /// needs, but no more than there are.
    let places: Int

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - ownFields: The fields that the line itself has.
    ///   - ownBody: The number of body bytes that the line itself has.
    init(
        id: Int, request: URLRequest, body: RequestBody, ownFields: [HeaderField] = [], ownBody: Int = 0
    ) {
        self.id = id
        self.request = request
        self.body = body
        // A body or field that all requests share is in memory only once. A field needs about 256 bytes besides its
        // text.
        let fields = ownFields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 256 }
        let size = (request.url?.absoluteString.utf8.count ?? 0) + fields + ownBody
        places = min(1 + size / (8 << 10), OpenPlaces.fewest)
    }

    /// The URL as it is printed, without a user name and password.
    var url: String {
        let text = request.url?.absoluteString ?? ""
        guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
        guard let start = text.range(of: "://")?.upperBound else { return text }
        let authority = text[start...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return String(text[..<start] + text[text.index(after: at)...])
    }
}

/// How a durable queue takes a request of the input.
struct Queueing: Sendable, Equatable {
    /// The lane; `nil` for the one that all requests without a lane share.
    var lane: String?
    /// The unique key; `nil` for none.
    var key: String?
    /// The earliest time.
    var notBefore: Date?
    /// When the request expires.
    var expires: Date?
}

/// One field of a request, checked so that it can be sent.
struct HeaderField: Equatable, Sendable {
    /// The name, a token (RFC 9110, section 5.1).
    let name: String

    /// The value, without surrounding space.
    let value: String

    /// Makes a field from its name and value.
    ///
    /// - Throws: ``UnusableInput`` for a name that is not a token. The same for a value with a control character: a CR
    ///   or LF in it would begin another field (RFC 9110, section 5.5). The same for the fields that say where a body
    ///   ends, since the body that is sent decides that.
    init(name: String, value: String) throws {
        let name = name.trimmingCharacters(in: .whitespaces)
        let value = value.trimmingCharacters(in: .whitespaces)
        guard RequestPreflight.isToken(name) else {
            let other = name.unicodeScalars.first { !RequestPreflight.isToken(String($0)) }
            throw UnusableInput(
                other.map { "\(named($0)) cannot stand in the name of a header field" } ?? "a header field has no name")
        }
        guard !["content-length", "transfer-encoding"].contains(name.lowercased()) else {
            throw UnusableInput("the header field \(name) is made from the body")
        }
        if let control = value.unicodeScalars.first(where: { $0 != "\t" && ($0.value < 0x20 || $0.value == 0x7F) }) {
            throw UnusableInput("\(named(control)) cannot stand in the value of the header field \(name)")
        }
        self.name = name
        self.value = value
    }

    /// Makes a field from `Name: value`.
    init(line: String) throws {
        guard let colon = line.firstIndex(of: ":") else { throw UnusableInput("a header field has no colon") }
        try self.init(name: String(line[..<colon]), value: String(line[line.index(after: colon)...]))
    }
}

extension URLRequest {
    /// Adds a field to the fields of the same name. Values are joined by a comma (RFC 9110, section 5.3), cookies by a
    /// semicolon (RFC 6265, section 4.2.1).
    mutating func add(_ field: HeaderField) {
        if field.name.lowercased() == "cookie", let other = value(forHTTPHeaderField: field.name) {
            setValue("\(other); \(field.value)", forHTTPHeaderField: field.name)
        } else {
            addValue(field.value, forHTTPHeaderField: field.name)
        }
    }
}
