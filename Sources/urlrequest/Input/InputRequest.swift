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

    /// About how many bytes the request keeps in memory.
    let size: Int

    init(id: Int, url: URL, request: URLRequest, body: RequestBody) {
        self.id = id
        self.request = request
        self.body = body
        let scheme = url.scheme?.lowercased() ?? ""
        host = "\(scheme)://\(url.host?.lowercased() ?? ""):\(url.port ?? (scheme == "https" ? 443 : 80))"
        size = url.absoluteString.utf8.count + body.bytesInMemory
    }

    /// The URL as it is printed.
    var url: String { request.url?.absoluteString ?? "" }
}

extension RequestBody {
    fileprivate var bytesInMemory: Int {
        if case .data(let data) = self { data.count } else { 0 }
    }
}
