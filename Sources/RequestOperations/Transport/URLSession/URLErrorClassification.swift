/// Says what an error of URLSession means.
///
/// On Linux most failures have the code -1 (``URLError/Code/unknown``), and some have a misleading code. The text of
/// libcurl tells what happened, so we check the text first. These texts do not occur on other platforms, so there the
/// code decides. The first entry that matches counts.
///
/// If a body breaks off before there is a head, there was no body: `truncatedBody` then becomes `connectionLost`.
enum URLErrorClassification {
    /// Returns the failure and, if the error shows it, the phase. The phase `connect` means that surely nothing was
    /// sent.
    static func failure(_ error: any Error, hasHead: Bool = true) -> (any Error, TransferFailure.Phase?) {
        guard let error = error as? URLError else {
            // Foundation on Linux fails a malformed `data:` URL with an error that is not bridged.
            let isBadURL = (error as NSError).domain == NSURLErrorDomain && (error as NSError).code == NSURLErrorBadURL
            let failure = RequestError(isBadURL ? .badURL : .unknown, stage: .transfer, underlying: error)
            return (failure, isBadURL ? .connect : nil)
        }
        // Another party cancelled the task. We pass the error on unchanged, so the operation ends as cancelled too.
        guard error.code != .cancelled else { return (error, nil) }
        let text = (error as NSError).userInfo[NSLocalizedDescriptionKey] as? String ?? ""
        guard let found = texts.first(where: { $0.value.contains(where: text.contains) }) else {
            return failure(byCodeOf: error)
        }
        let code = found.key == .truncatedBody && !hasHead ? .connectionLost : found.key
        let isUnsent = code == .timedOut ? text.contains("onnect") : codesOfUnsent.contains(code)
        return (RequestError(code, text, underlying: error), isUnsent ? .connect : nil)
    }

    private static func failure(byCodeOf error: URLError) -> (any Error, TransferFailure.Phase?) {
        switch error.code {
        case .fileDoesNotExist, .noPermissionsToReadFile, .fileIsDirectory:
            let reason = "the file of the body cannot be read"
            return (RequestError(.unencodableBody, reason, underlying: error), .connect)
        case .badURL where error.failingURL?.host?.contains(":") == true:
            let reason = "Foundation on Linux cannot request an IPv6 literal; use CurlTransport or a host name"
            return (RequestError(.unsupported, reason, underlying: error), .connect)
        default:
            let code = RequestError.Code(error)
            return (RequestError(code, nil, underlying: error), codesOfUnsent.contains(code) ? .connect : nil)
        }
    }

    /// The codes of failures before anything was sent.
    private static let codesOfUnsent: Set<RequestError.Code> = [
        .proxyFailed, .cannotResolveHost, .untrustedCertificate, .secureConnectionFailed, .cannotConnect, .notConnected,
        .badURL, .unsupportedScheme,
    ]

    /// Texts of libcurl (7.81 to 8.x, OpenSSL or GnuTLS).
    private static let texts: KeyValuePairs<RequestError.Code, [String]> = [
        .proxyFailed: [
            "resolve proxy", "CONNECT tunnel failed", "from proxy after CONNECT", "Proxy CONNECT",
            "SOCKS5 ", "SOCKS4 ", "SOCKS response", "connection to proxy closed",
        ],
        .cannotResolveHost: ["resolve host"],
        .clientCertificateRejected: ["certificate required", "alert bad certificate", "alert certificate"],
        .untrustedCertificate: [
            "certificate problem", "certificate subject name", "certificate verification failed",
            "certificate has expired", "self-signed certificate", "self signed certificate", "issuer certificate",
            "Peer certificate", "peer certificate",
        ],
        .undecodableContent: ["content unencoding", "content encoding", "Unrecognized or bad HTTP Content"],
        .malformedResponse: [
            "writing header", "HTTP/0.9", "HTTP version", "HTTP/1 subversion", "in HTTP response",
            "Invalid status line", "Weird server reply", "Content-Length", "Unsolicited Transfer-Encoding",
            "Invalid Transfer-Encoding", "Nul byte in", "NUL byte in", "Carriage return found", "response headers",
            "without colon", "Multiple Location", "grew larger than allowed", "Lying server", "Reject response",
            "listed after chunked",
        ],
        .truncatedBody: [
            "transfer closed with", "bytes missing", "in chunked-encoding", "chunk hex-length", "chunk size",
        ],
        .connectionLost: [
            "SSL_read", "SSL_write", "Recv failure", "Send failure", "Empty reply", "Failure when receiving",
            "Failed sending", "HTTP/2 stream", "HTTP2 framing", "HTTP2 data", "nghttp2 shuts down",
            "Connection died", "data rewind", "rewinding of", "annot rewind",
        ],
        .secureConnectionFailed: ["SSL connect", "SSL_connect", "TLS connect", "handshake", "SSL routines"],
        .timedOut: ["timed out", "Timeout", "timeout"],
        .cannotConnect: [
            "Failed to connect", "Couldn't connect", "Could not connect", "Connection refused", "No route to host",
            "is unreachable", "open socket", "create socket",
        ],
        .unencodableBody: ["aborted by", "read function", "local data"],
    ]
}
