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
        var found = meaning(of: text) ?? meaning(of: error)
        if found.code == .truncatedBody, !hasHead { found.code = .connectionLost }
        return (
            RequestError(found.code, stage: .transfer, underlying: error, reason: found.reason),
            found.isBeforeSending ? .connect : nil
        )
    }

    private struct Meaning {
        var code: RequestError.Code
        /// Whether surely nothing was sent.
        var isBeforeSending = false
        var reason: String?
        /// Texts of libcurl (7.81 to 8.x, OpenSSL or GnuTLS), of which an error has one.
        var fragments: [String] = []
    }

    private static func meaning(of text: String) -> Meaning? {
        guard var found = texts.first(where: { $0.fragments.contains(where: text.contains) }) else { return nil }
        if found.code == .timedOut { found.isBeforeSending = text.contains("onnect") }
        found.reason = text
        return found
    }

    private static func meaning(of error: URLError) -> Meaning {
        switch error.code {
        case .fileDoesNotExist, .noPermissionsToReadFile, .fileIsDirectory:
            return Meaning(code: .unencodableBody, isBeforeSending: true, reason: "the file of the body cannot be read")
        case .badURL where error.failingURL?.host?.contains(":") == true:
            return Meaning(
                code: .unsupported, isBeforeSending: true,
                reason: "Foundation on Linux cannot request an IPv6 literal; use CurlTransport or a host name")
        case .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .notConnectedToInternet, .dataNotAllowed,
            .internationalRoamingOff, .callIsActive, .badURL, .unsupportedURL, .secureConnectionFailed,
            .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
            .serverCertificateHasUnknownRoot:
            return Meaning(code: RequestError.Code(error), isBeforeSending: true)
        default:
            return Meaning(code: RequestError.Code(error))
        }
    }

    private static let texts = [
        Meaning(
            code: .proxyFailed, isBeforeSending: true,
            fragments: [
                "resolve proxy", "CONNECT tunnel failed", "from proxy after CONNECT", "Proxy CONNECT",
                "SOCKS5 ", "SOCKS4 ", "SOCKS response", "connection to proxy closed",
            ]),
        Meaning(code: .cannotResolveHost, isBeforeSending: true, fragments: ["resolve host"]),
        Meaning(
            code: .clientCertificateRejected,
            fragments: ["certificate required", "alert bad certificate", "alert certificate"]),
        Meaning(
            code: .untrustedCertificate, isBeforeSending: true,
            fragments: [
                "certificate problem", "certificate subject name", "certificate verification failed",
                "certificate has expired", "self-signed certificate", "self signed certificate", "issuer certificate",
                "Peer certificate", "peer certificate",
            ]),
        Meaning(
            code: .undecodableContent,
            fragments: ["content unencoding", "content encoding", "Unrecognized or bad HTTP Content"]),
        Meaning(
            code: .malformedResponse,
            fragments: [
                "writing header", "HTTP/0.9", "HTTP version", "HTTP/1 subversion", "in HTTP response",
                "Invalid status line", "Weird server reply", "Content-Length", "Unsolicited Transfer-Encoding",
                "Invalid Transfer-Encoding", "Nul byte in", "NUL byte in", "Carriage return found", "response headers",
                "without colon", "Multiple Location", "grew larger than allowed", "Lying server", "Reject response",
                "listed after chunked",
            ]),
        Meaning(
            code: .truncatedBody,
            fragments: [
                "transfer closed with", "bytes missing", "in chunked-encoding", "chunk hex-length", "chunk size",
            ]),
        Meaning(
            code: .connectionLost,
            fragments: [
                "SSL_read", "SSL_write", "Recv failure", "Send failure", "Empty reply", "Failure when receiving",
                "Failed sending", "HTTP/2 stream", "HTTP2 framing", "HTTP2 data", "nghttp2 shuts down",
                "Connection died", "data rewind", "rewinding of", "annot rewind",
            ]),
        Meaning(
            code: .secureConnectionFailed, isBeforeSending: true,
            fragments: ["SSL connect", "SSL_connect", "TLS connect", "handshake", "SSL routines"]),
        Meaning(code: .timedOut, fragments: ["timed out", "Timeout", "timeout"]),
        Meaning(
            code: .cannotConnect, isBeforeSending: true,
            fragments: [
                "Failed to connect", "Couldn't connect", "Could not connect", "Connection refused", "No route to host",
                "is unreachable", "open socket", "create socket",
            ]),
        Meaning(code: .unencodableBody, fragments: ["aborted by", "read function", "local data"]),
    ]
}
