import RequestOperations

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
