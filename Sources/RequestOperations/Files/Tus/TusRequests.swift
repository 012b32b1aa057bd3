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
    func question(about upload: URL) throws -> URLRequest { try request("HEAD", to: upload) }

    /// Removes an upload from the server.
    func termination(of upload: URL) throws -> URLRequest { try request("DELETE", to: upload) }

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

    /// A request to the upload. The server chose its URL, so credentials go there only within the origin.
    private func request(_ method: String, to upload: URL) throws -> URLRequest {
        let isSecure = { (url: URL?) in Origin(url).scheme == "https" }
        guard redirects.allowsInsecure || !isSecure(base.url) || isSecure(upload) else {
            throw RequestError(
                .insecureRedirect, stage: .transfer, reason: "the server moved the upload from https to http")
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
                        .invalidField, stage: .makeTask, reason: "tus does not allow a key of the metadata")
                }
                return value.isEmpty ? key : "\(key) \(Data(value.utf8).base64EncodedString())"
            }
            .joined(separator: ",")
    }
}

/// What a tus server can do, as it says itself (tus 1.0, "OPTIONS").
struct TusServer: Sendable, Hashable {
    /// The version of the protocol that is spoken.
    static let version = "1.0.0"

    /// Whether the server checks SHA-256 digests.
    private(set) var verifies = false
    /// Whether the first bytes may go with the creation.
    private(set) var createsWithUpload = false

    /// A server that says nothing. An upload needs no more than creation.
    init() {}

    /// Reads the head of the response to an OPTIONS request.
    ///
    /// - Throws: A `RequestError` with the code `unsupported` if the server speaks other versions only, or creates no
    ///   uploads. One with the code `bodyTooLarge` if an upload of this size is larger than the server accepts.
    init(_ head: ResponseHead, size: Int64) throws {
        let versions = head.elements(of: "Tus-Version")
        guard versions.isEmpty || versions.contains(Self.version) else { throw Self.speaksNoVersion(head) }
        let extensions = head.elements(of: "Tus-Extension")
        verifies = extensions.contains("checksum") && head.elements(of: "Tus-Checksum-Algorithm").contains("sha256")
        createsWithUpload = extensions.contains("creation-with-upload")
        // If the response names none, it may come from a proxy that knows nothing about tus.
        guard extensions.isEmpty || extensions.contains("creation") || createsWithUpload else {
            throw RequestError(
                .unsupported, stage: .transfer, head: head, reason: "the tus server does not create uploads")
        }
        if let maximum = head.number(in: "Tus-Max-Size"), size > maximum { throw Self.takesNoMore(size, head) }
    }

    static func speaksNoVersion(_ head: ResponseHead) -> RequestError {
        RequestError(.unsupported, stage: .transfer, head: head, reason: "the server does not speak tus \(version)")
    }

    /// The error of an upload that is larger than the server accepts.
    static func takesNoMore(_ size: Int64, _ head: ResponseHead) -> RequestError {
        let limit = head.number(in: "Tus-Max-Size").map { "at most \($0) bytes (Tus-Max-Size)" } ?? "less"
        return RequestError(
            .bodyTooLarge, stage: .transfer, head: head,
            reason: "the server takes \(limit), and the upload has \(size)")
    }
}

extension ResponseHead {
    /// The elements of a list in a field, which may come several times.
    fileprivate func elements(of name: String) -> Set<String> {
        let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        let elements = values.joined(separator: ",").split(separator: ",")
        return Set(elements.map { $0.trimmingCharacters(in: .whitespaces).lowercased() }.filter { !$0.isEmpty })
    }

    /// The number in a field; `nil` if there is none that can be read.
    func number(in name: String) -> Int64? {
        field(name).flatMap { Int64(digits: $0.trimmingCharacters(in: .whitespaces)) }
    }
}
