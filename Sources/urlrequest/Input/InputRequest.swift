import RequestOperations

/// One request of the input.
struct InputRequest: Sendable {
    /// The number of the argument or line, from 1; lines are counted after the arguments.
    let id: Int

    /// Method, URL and fields.
    let request: URLRequest

    /// The body to send.
    let body: RequestBody

    /// The scheme, host and port, which share the places of one host.
    let host: String

    /// About how many bytes the request keeps in memory for itself: a body or field of all requests is there once.
    let size: Int

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - ownFields: The fields that the line brings.
    ///   - ownBody: The bytes of the body that the line brings.
    init(
        id: Int, url: URL, request: URLRequest, body: RequestBody, ownFields: [HeaderField] = [], ownBody: Int = 0
    ) {
        self.id = id
        self.request = request
        self.body = body
        let scheme = url.scheme?.lowercased() ?? ""
        host = "\(scheme)://\(url.host?.lowercased() ?? ""):\(url.port ?? (scheme == "https" ? 443 : 80))"
        // What keeps a field or a request together takes memory, too.
        let fields = ownFields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + Self.overhead }
        size = Self.overhead + url.absoluteString.utf8.count + fields + ownBody
    }

    /// What a request, or a field, takes besides its text, in bytes; rather too much than too little.
    static let overhead = 1 << 10

    /// The URL as it is printed: without a user and a password.
    var url: String {
        let text = request.url?.absoluteString ?? ""
        guard let start = text.range(of: "://")?.upperBound else { return text }
        let authority = text[start...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return String(text[..<start] + text[text.index(after: at)...])
    }
}
