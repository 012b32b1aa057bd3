/// How an upload gets to the server.
public struct UploadProtocol: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case plain(expectsContinue: Bool, isChunked: Bool)
        case tus(TusOptions)
    }

    let kind: Kind

    /// One request has the whole body. Each attempt sends it from its first byte. The default.
    public static let plain = plain()

    /// One request has the whole body. Each attempt sends it from its first byte.
    ///
    /// - Parameters:
    ///   - expectsContinue: Whether the request asks the server first (`Expect: 100-continue`, RFC 9110, section 10.1.1). A
    ///     server that refuses the request then does so before it gets the body. `false` by default. ``CurlTransport`` asks
    ///     for bodies of more than 1 MiB in any case. HTTP/2 has no need of it.
    ///   - isChunked: Whether the body is sent in chunks, without `Content-Length`, even if its length is known. `false` by
    ///     default. ``URLSessionTransport`` sends a length all the same.
    public static func plain(expectsContinue: Bool = false, isChunked: Bool = false) -> Self {
        Self(kind: .plain(expectsContinue: expectsContinue, isChunked: isChunked))
    }

    /// The server speaks tus 1.0 (https://tus.io). An attempt goes on from the last byte that the server has.
    public static let tus = tus()

    /// The server speaks tus 1.0 (https://tus.io). An attempt goes on from the last byte that the server has.
    ///
    /// - Parameters:
    ///   - resumption: Which attempts go on. ``UploadResumption/betweenAttempts`` by default.
    ///   - chunkSize: The most bytes of one request. Less than 1 counts as 1. With `nil`, the default, one request has all the
    ///     rest; if its bytes are verified, it has at most 8 MiB.
    ///   - metadata: What the server is told of the upload (`Upload-Metadata`). A key must be a non-empty text in ASCII
    ///     without spaces and commas. `nil`, the default, means the name and the media type of a file, as `filename` and
    ///     `filetype`.
    ///   - isVerified: Whether each request has the SHA-256 digest of its bytes, if the server can check it. `true` by
    ///     default. The bytes are then read twice.
    public static func tus(
        resume resumption: UploadResumption = .betweenAttempts, chunkSize: Int64? = nil,
        metadata: [String: String]? = nil, isVerified: Bool = true
    ) -> Self {
        Self(
            kind: .tus(
                TusOptions(
                    resumption: resumption, chunkSize: chunkSize.map { max($0, 1) }, metadata: metadata,
                    isVerified: isVerified)))
    }
}

/// What the caller wants of an upload by tus.
struct TusOptions: Sendable, Hashable {
    var resumption = UploadResumption.betweenAttempts
    /// The most bytes of one request; `nil` means no limit.
    var chunkSize: Int64?
    var metadata: [String: String]?
    var isVerified = true
}
