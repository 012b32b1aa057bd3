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
