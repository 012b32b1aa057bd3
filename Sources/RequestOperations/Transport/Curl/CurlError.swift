#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// Maps libcurl's results and their phases to the codes of ``RequestError``. The table is in the article *Transports*.
    extension CurlTransfer {
        /// Why the transfer failed; `nil` if it did not. Called when it has ended, before its handle is used again.
        func failure() -> (any Error)? {
            switch outcome {
            case .finished(CURLE_OK): nil
            case .finished(let code): failure(code)
            case .stopped(let cause): failure(cause)
            case nil: RequestError(.unknown, "the transfer was not carried out")
            }
        }

        private func failure(_ cause: Cause) -> any Error {
            switch cause {
            case .aborted: CancellationError()
            case .connectLimit:
                RequestError(.timedOut, "connecting took longer than \(Duration.nanoseconds(limits.connect ?? 0))")
            case .idleLimit: RequestError(.timedOut, "no byte for \(Duration.nanoseconds(limits.idle ?? 0))")
            case .drained: RequestError(.unknown, "the rest of a rejected response was not read")
            case .failed(let error): error
            case .replayRefused:
                RequestError(
                    .connectionLost, "the connection ended before a response; the request may have been processed")
            }
        }

        private func failure(_ code: CURLcode) -> RequestError {
            let message = easy?.message ?? String(cString: curl_easy_strerror(code))
            let diagnosis =
                switch code {
                case CURLE_SSL_CERTPROBLEM,
                    CURLE_BAD_FUNCTION_ARGUMENT where CurlLibrary.isAboutUnusableKey(message):
                    driver.configuration.trust.clientCertificate?.diagnosis(for: message)
                case CURLE_SSL_CACERT_BADFILE: driver.configuration.trust.roots.diagnosis
                case CURLE_COULDNT_CONNECT where !connection.hasSocket:
                    connection.refusedAddress.map { "the transport may not connect to \($0)" }
                case CURLE_UNSUPPORTED_PROTOCOL where phase != .connect && !mayUseHTTP2:
                    "the server does not answer in HTTP/1.1; \(http2Advice)"
                case CURLE_SSL_CONNECT_ERROR where !mayUseHTTP2 && message.contains("no application protocol"):
                    "the server does not offer HTTP/1.1; \(http2Advice)"
                case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR:
                    connection.refusedChain?.reason
                default: headExcess(code, message)
                }
            return RequestError(
                meaning(of: code, message), diagnosis ?? Redaction.message(message) + advice(on: message),
                underlying: CurlError(code))
        }

        /// What helps against an issuer that is unknown.
        private func advice(on message: String) -> String {
            let isUnknownIssuer = ["issuer", "self-signed", "self signed"].contains { message.contains($0) }
            return isUnknownIssuer ? "; add the certificate of a private authority to TrustPolicy.additionalRoots" : ""
        }

        private var http2Advice: String {
            let versions = isSecure ? "http2" : "http2PriorKnowledge"
            return "for HTTP/2, set CurlTransport.Configuration.httpVersions to .\(versions)"
        }

        /// Whether a proxy may still have to answer.
        private var mayAwaitProxy: Bool { phase == .connect && driver.settings.mayUseProxy }

        private func meaning(of code: CURLcode, _ message: String) -> RequestError.Code {
            switch code {
            case _ where CurlLibrary.lacksThread(message):
                .outOfLocalResources
            case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT,
                CURLE_BAD_FUNCTION_ARGUMENT where CurlLibrary.isAboutUnusableKey(message):
                .clientCertificateRejected
            case CURLE_UNSUPPORTED_PROTOCOL:
                phase == .connect ? .unsupportedScheme : .malformedResponse
            // libcurl cannot read the head of a proxy's answer.
            case CURLE_BAD_FUNCTION_ARGUMENT where mayAwaitProxy && connection.hasSocket,
                CURLE_WEIRD_SERVER_REPLY where mayAwaitProxy && connection.hasSocket:
                .proxyFailed
            case CURLE_BAD_FUNCTION_ARGUMENT where phase == .connect, CURLE_SETOPT_OPTION_SYNTAX, CURLE_NOT_BUILT_IN,
                _ where phase == .connect && message.hasPrefix("Unsupported proxy"):
                .unsupported
            case _ where headExcess(code, message) != nil:
                .malformedResponse
            case CURLE_OUT_OF_MEMORY where hadToWait, Self.tooLarge where hadToWait:
                // The decompressed body is larger than libcurl keeps for a paused transfer.
                .bodyTooLarge
            case CURLE_BAD_CONTENT_ENCODING where Self.isAboutChunks(easy?.message ?? ""):
                .malformedResponse
            // libcurl's decoders fail with either code.
            case CURLE_BAD_CONTENT_ENCODING,
                CURLE_WRITE_ERROR where head.isCoded:
                .undecodableContent
            case CURLE_URL_MALFORMAT:
                .badURL
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
                .cannotResolveHost
            case CURLE_COULDNT_CONNECT:
                connectFailure(message)
            case CURLE_OPERATION_TIMEDOUT:
                .timedOut
            case CURLE_PEER_FAILED_VERIFICATION where wasRefused(message),
                CURLE_SSL_CONNECT_ERROR where wasRefused(message):
                .pinningFailed
            case CURLE_SSL_CONNECT_ERROR:
                if Self.isAboutClientCertificate(message) {
                    .clientCertificateRejected
                } else if CurlLibrary.isAboutLoss(message) {
                    .connectionLost
                } else {
                    .secureConnectionFailed
                }
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
                CURLE_SSL_CACERT_BADFILE:
                .untrustedCertificate
            case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
                .pinningFailed
            case CURLE_PROXY:
                proxyFailure(message)
            case CURLE_RECV_ERROR where mayAwaitProxy:
                .proxyFailed
            case CURLE_RECV_ERROR where phase == .body && message.contains("chunk"):
                .truncatedBody
            case CURLE_HTTP2_STREAM where phase == .body && CurlLibrary.isAboutEndOfConnection(message):
                .truncatedBody
            case CURLE_PARTIAL_FILE where phase != .body || CurlLibrary.isAboutReset(message):
                .connectionLost
            case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM,
                CURLE_SEND_FAIL_REWIND, CURLE_READ_ERROR:
                Self.isAboutClientCertificate(message) ? .clientCertificateRejected : .connectionLost
            case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_FUNCTION_ARGUMENT:
                .malformedResponse
            case CURLE_PARTIAL_FILE, CURLE_CHUNK_FAILED:
                .truncatedBody
            default:
                .unknown
            }
        }

        /// Which limit of libcurl the head of the response exceeds; `nil` for other failures.
        ///
        /// Over HTTP/2, nghttp2 ends the connection at such a head. That looks like an end without an answer, but libcurl
        /// has got the beginning of the head then. (If a server resets the stream, libcurl may also have got a head that
        /// it did not report. The connection goes on then.)
        private func headExcess(_ code: CURLcode, _ message: String) -> String? {
            guard phase == .head || phase == .request else { return nil }
            switch code {
            case CURLE_OUT_OF_MEMORY where phase == .head, Self.tooLarge where phase == .head:
                return "the head has a field of more than 100 KiB, which libcurl refuses"
            case CURLE_GOT_NOTHING where hasBrokenHead && connection.wasClosed,
                _ where message.contains("nghttp2") && hasBrokenHead:
                return "over HTTP/2 libcurl takes no field of more than 64 KiB, and before version 8 no head of 128 KiB"
            default:
                return nil
            }
        }

        /// Whether a head over HTTP/2 has begun, and libcurl has not got its end.
        private var hasBrokenHead: Bool {
            guard !head.isComplete else { return false }
            return head.isUntouched ? easy?.hasUntoldField ?? false : !head.isAtStart && head.takesSeveral
        }

        /// Whether libcurl rejects the place of `chunked`, or its parameters. The message may quote the coding.
        private static func isAboutChunks(_ message: String) -> Bool {
            message.contains("Transfer-Encoding")
                && (!message.hasPrefix("Unsolicited") || message.contains("(chunked;"))
        }

        /// Whether the chain of its server had no pin. Behind a proxy over TLS, the message of libcurl does not say so.
        private func wasRefused(_ message: String) -> Bool {
            connection.refusedChain != nil || message.contains("application verification failure")
        }

        /// `CURLE_TOO_LARGE`, which older headers lack.
        private static let tooLarge = CURLcode(100)

        /// With SOCKS 4 and 5, libcurl itself looks up the host of the request.
        private func proxyFailure(_ message: String) -> RequestError.Code {
            guard easy?.proxyError == Int(CURLPX_RESOLVE_HOST.rawValue) else { return .proxyFailed }
            // The host is known, but SOCKS 4 has no room for its addresses.
            return message.hasPrefix("SOCKS4 connection to") ? .proxyFailed : .cannotResolveHost
        }

        private func connectFailure(_ message: String) -> RequestError.Code {
            if connection.refusedAddress != nil, !connection.hasSocket { return .addressNotAllowed }
            if isShortOfPorts { return .outOfLocalResources }
            let port = url.port ?? Origin.defaultPort(isSecure: isSecure)
            if driver.settings.mayUseProxy, let host = url.host, Self.isAboutProxy(message, ofRequestTo: host, port) {
                return .proxyFailed
            }
            return connection.triedReachable || !lastAddressIsUnreachable ? .cannotConnect : .notConnected
        }

        /// Whether this machine has no port left for another connection to that address. (With IPv6, the same number
        /// means that this machine has no address of that family.)
        private var isShortOfPorts: Bool {
            connection.hasSocket && connection.isIPv4 && easy?.systemError == Int(EADDRNOTAVAIL)
        }

        /// Whether libcurl failed to reach a proxy. libcurl names the host and port that it could not connect to. Those
        /// are the proxy's if there is one. From 8.16 on, they are the server's, followed by the proxy.
        static func isAboutProxy(_ message: String, ofRequestTo host: String, _ port: Int) -> Bool {
            if message.contains(" via ") || message.contains(" over proxy ") { return true }
            return !message.contains("to \(host) port \(port) ") && !message.contains("to \(host):\(port)")
        }

        /// OpenSSL, GnuTLS and others word the alert of RFC 8446, section 6.2, differently, but all contain one of
        /// these texts.
        private static func isAboutClientCertificate(_ message: String) -> Bool {
            let message = message.lowercased()
            return message.contains("alert")
                && ["certificate required", "bad certificate", "unknown ca", "certificate unknown"]
                    .contains { message.contains($0) }
        }
    }

    /// The number that libcurl gave an error, as the cause of a ``RequestError``.
    ///
    /// The article <doc:Transports> has a table of the numbers, with the code of each in each phase.
    public struct CurlError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The number: `CURLE_…` in libcurl's documentation.
        public let code: Int

        init(_ code: CURLcode) {
            self.code = Int(code.rawValue)
        }

        /// The number and libcurl's general text for it.
        public var description: String {
            "libcurl error \(code): \(String(cString: curl_easy_strerror(CURLcode(UInt32(code)))))"
        }
    }
#endif
