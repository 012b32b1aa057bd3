/// Makes the requests of an upload by tus 1.0.
struct TusRequests: Sendable {
    /// The request that was processed. Its URL is the place where uploads are created, and its fields go with each request.
    private let base: URLRequest
    private let redirects: RedirectPolicy
    private let authentication: ServerAuthentication?

    /// The media type of bytes of an upload.
    static let contentType = "application/offset+octet-stream"

    /// What the processed request says of a body does not hold for the requests of tus.
    private static let fieldsOfBody = [
        "Content-Type", "Content-Length", "Content-Encoding", "Content-Digest", "Repr-Digest", "Transfer-Encoding",
        "Expect",
        // It would be the same in all requests of the upload.
        "Idempotency-Key",
    ]

    init(from request: URLRequest, _ configuration: RequestConfiguration) {
        var base = request
        base.httpBody = nil
        for name in Self.fieldsOfBody { base.setValue(nil, forHTTPHeaderField: name) }
        self.base = base
        redirects = configuration.redirects
        authentication = configuration.authentication
    }

    /// Asks what the server can do.
    var discovery: URLRequest {
        var request = base
        request.httpMethod = "OPTIONS"
        return authorized(request)
    }

    /// Creates an upload.
    ///
    /// - Parameters:
    ///   - size: The number of bytes of the whole upload.
    ///   - metadata: The value of `Upload-Metadata`, if there is any.
    ///   - hasBytes: Whether the first bytes go with this request.
    func creation(size: Int64, metadata: String?, hasBytes: Bool) -> URLRequest {
        var request = base
        request.httpMethod = "POST"
        request.setValue(TusServer.version, forHTTPHeaderField: "Tus-Resumable")
        request.setValue("\(size)", forHTTPHeaderField: "Upload-Length")
        request.setValue(metadata, forHTTPHeaderField: "Upload-Metadata")
        if hasBytes { request.setValue(Self.contentType, forHTTPHeaderField: "Content-Type") }
        return authorized(request)
    }

    /// Asks for the number of bytes that the server has.
    func question(about upload: URL) throws -> URLRequest {
        try request("HEAD", to: upload)
    }

    /// Sends bytes.
    ///
    /// - Parameters:
    ///   - offset: The place of the first byte.
    ///   - digest: The SHA-256 digest of the bytes, if the server checks it.
    func part(of upload: URL, from offset: Int64, digest: Data?) throws -> URLRequest {
        var request = try request("PATCH", to: upload)
        request.setValue(Self.contentType, forHTTPHeaderField: "Content-Type")
        request.setValue("\(offset)", forHTTPHeaderField: "Upload-Offset")
        if let digest {
            request.setValue("sha256 \(digest.base64EncodedString())", forHTTPHeaderField: "Upload-Checksum")
        }
        return request
    }

    /// Removes an upload from the server.
    func termination(of upload: URL) throws -> URLRequest {
        try request("DELETE", to: upload)
    }

    /// A request to the upload. The server chose its URL, so credentials go there only within the origin.
    private func request(_ method: String, to upload: URL) throws -> URLRequest {
        let isSecure = { (url: URL?) in Origin(url).scheme == "https" }
        guard redirects.allowsInsecure || !isSecure(base.url) || isSecure(upload) else {
            throw RequestError(
                .insecureRedirect, stage: .transfer, reason: "the server put the upload from https to http")
        }
        // The user and the password of the caller's URL go with it as well, and none that the server chose.
        guard let base = base.url, let place = URL(location: upload.absoluteString, relativeTo: base) else {
            throw RequestError(.badURL, stage: .transfer, reason: "the URL of the upload cannot be requested")
        }
        var request = redirects.request(self.base, at: place)
        request.httpMethod = method
        request.setValue(TusServer.version, forHTTPHeaderField: "Tus-Resumable")
        return authorized(request)
    }

    /// The scheme Digest covers the method and the URL, so each request has a field of its own.
    private func authorized(_ request: URLRequest) -> URLRequest {
        authentication?.authorized(request) ?? request
    }

    /// The value of `Upload-Metadata`; `nil` without metadata.
    ///
    /// - Throws: A `RequestError` with the code `invalidField` for a key that the protocol does not allow.
    static func metadata(_ metadata: [String: String]) throws -> String? {
        guard !metadata.isEmpty else { return nil }
        return try metadata.sorted { $0.key < $1.key }
            .map { key, value in
                guard !key.isEmpty, key.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") })
                else {
                    throw RequestError(
                        .invalidField, stage: .makeTask, reason: "a key of the metadata is no text that tus allows")
                }
                return value.isEmpty ? key : "\(key) \(Data(value.utf8).base64EncodedString())"
            }
            .joined(separator: ",")
    }
}
