#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// Maps libcurl's results and their phases to the codes of ``RequestError``. The table is at ``CurlError``.
    extension CurlTransfer {
        /// Why the transfer failed; `nil` if it did not. Called when it has ended, before its handle is used again.
        func failure() -> (any Error)? {
            switch outcome {
            case .finished(CURLE_OK): nil
            case .finished(let code): failure(code)
            case .stopped(let cause): failure(cause)
            case nil: RequestError(.unknown, stage: .transfer, reason: "the transfer was not carried out")
            }
        }

        private func failure(_ cause: Cause) -> any Error {
            func error(_ code: RequestError.Code, _ reason: String?) -> RequestError {
                RequestError(code, stage: .transfer, reason: reason)
            }
            return switch cause {
            case .aborted: CancellationError()
            case .connectLimit: error(.timedOut, "connecting took longer than \(Self.text(limits.connect))")
            case .idleLimit: error(.timedOut, "no byte for \(Self.text(limits.idle))")
            case .bodyTooLarge: error(.bodyTooLarge, "the body has more than \(limits.body ?? 0) bytes")
            case .bodyExpands:
                error(.bodyTooLarge, "decoding makes the body more than \(limits.ratio ?? 0) times as long")
            case .headTooLarge:
                error(
                    .malformedResponse,
                    "the head has more than \(HeadReader.limit) bytes or \(HeadReader.fieldLimit) fields")
            case .headMalformed(let reason): error(.malformedResponse, reason)
            case .contentBroken(let reason): error(.undecodableContent, reason)
            case .drained: error(.unknown, "the rest of a rejected response was not read")
            case .sourceFailed(let cause), .sinkFailed(let cause): cause
            case .replayRefused:
                error(.connectionLost, "the connection ended before a response; the request may have been processed")
            case .shortage(let reason): error(.outOfLocalResources, reason)
            case .shutDown: error(.connectionLost, "the transport was shut down")
            }
        }

        private static func text(_ nanoseconds: Int64?) -> String {
            "\(Duration.nanoseconds(nanoseconds ?? 0))"
        }

        private func failure(_ code: CURLcode) -> RequestError {
            let message = easy?.message ?? String(cString: curl_easy_strerror(code))
            let diagnosis =
                switch code {
                case CURLE_SSL_CERTPROBLEM,
                    CURLE_BAD_FUNCTION_ARGUMENT where CurlLibrary.tellsUnusableKey(message):
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
                meaning(of: code, message), stage: .transfer, underlying: CurlError(code),
                reason: diagnosis ?? Redaction.message(message) + advice(on: message))
        }

        /// What helps against an issuer that is unknown.
        private func advice(on message: String) -> String {
            let isUnknownIssuer = ["issuer", "self-signed", "self signed"].contains { message.contains($0) }
            return isUnknownIssuer ? "; add the certificate of a private authority to TrustPolicy.additionalRoots" : ""
        }

        private var http2Advice: String {
            if driver.settings.mayUseHTTP2(isSecure: isSecure) {
                return "libcurl \(CurlLibrary.version) sends long and streamed bodies over HTTP/1.1 only"
            }
            let versions = isSecure ? "http2" : "http2PriorKnowledge"
            return "for HTTP/2, set CurlTransport.Configuration.httpVersions to .\(versions)"
        }

        private func meaning(of code: CURLcode, _ message: String) -> RequestError.Code {
            switch code {
            case _ where CurlLibrary.lacksThread(message):
                .outOfLocalResources
            case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT,
                CURLE_BAD_FUNCTION_ARGUMENT where CurlLibrary.tellsUnusableKey(message):
                .clientCertificateRejected
            case CURLE_UNSUPPORTED_PROTOCOL:
                phase == .connect ? .unsupportedScheme : .malformedResponse
            // libcurl cannot read the head of a proxy's answer.
            case CURLE_BAD_FUNCTION_ARGUMENT where phase == .connect && connection.hasSocket && driver.mayUseProxy,
                CURLE_WEIRD_SERVER_REPLY where phase == .connect && connection.hasSocket && driver.mayUseProxy:
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
                } else if CurlLibrary.tellsLoss(message) {
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
            case CURLE_RECV_ERROR where phase == .connect && driver.mayUseProxy:
                .proxyFailed
            case CURLE_RECV_ERROR where phase == .body && message.contains("chunk"):
                .truncatedBody
            case CURLE_HTTP2_STREAM where phase == .body && CurlLibrary.tellsEndOfConnection(message):
                .truncatedBody
            case CURLE_PARTIAL_FILE where phase != .body || CurlLibrary.tellsReset(message):
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
        /// has got the beginning of the head then. (It may also have got a head that it has not told when a server resets
        /// the stream. The connection goes on then.)
        private func headExcess(_ code: CURLcode, _ message: String) -> String? {
            guard phase == .head || phase == .request else { return nil }
            switch code {
            case CURLE_OUT_OF_MEMORY where phase == .head, Self.tooLarge where phase == .head:
                return "the head has a field of more than 100 KiB, which libcurl does not take"
            case CURLE_GOT_NOTHING where hasBrokenHead && connection.isClosed,
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

        /// Whether libcurl does not like where `chunked` stands, or its parameters. It may quote the coding.
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
            if driver.mayUseProxy, let host = url.host, Self.isAboutProxy(message, ofRequestTo: host, port) {
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
    /// A request whose phase is `connect` was certainly not sent. In any other phase, it may have been processed. Each
    /// row except those marked *unproven* was provoked with libcurl 7.81, 7.88, 8.12, 8.14 or 8.23. The test used a
    /// real connection, unless the request fails before there is one.
    ///
    /// | Number | Phase | Code | Provoked by |
    /// |---|---|---|---|
    /// | 1 | connect | `unsupportedScheme` | *unproven*: other schemes are refused before libcurl sees them |
    /// | 3 | connect | `badURL` | port 99999 |
    /// | 43 | connect | `unsupported` | roots or pins that libcurl does not take |
    /// | 49 | connect | `unsupported` | a malformed entry of `resolve` |
    /// | 5, 7 | connect | `unsupported` | a proxy URL that libcurl cannot parse, or whose scheme it lacks |
    /// | 4 | connect | `unsupported` | *unproven*: what libcurl was built without |
    /// | 5, 6 | connect | `cannotResolveHost` | a proxy, a host that does not exist |
    /// | 5, 6 | connect | `outOfLocalResources` | *unproven*: no thread left for a look-up, with libcurl before 8.20 |
    /// | 7 | connect | `cannotConnect` | a closed port |
    /// | 7 | connect | `notConnected` | addresses without a route |
    /// | 7 | connect | `outOfLocalResources` | no port left on this machine |
    /// | 7 | connect | `proxyFailed` | a proxy whose port is closed |
    /// | 28 | connect | `timedOut` | *unproven*: the transport's own limit ends before libcurl's |
    /// | 35 | connect | `secureConnectionFailed` | no TLS, too old a TLS, a missing client certificate in TLS 1.2 |
    /// | 35 | connect | `connectionLost` | an end or a reset during the TLS handshake |
    /// | 35 | connect | `clientCertificateRejected` | a certificate that the server does not trust, in TLS 1.2 |
    /// | 56 | connect | `proxyFailed` | a proxy that refuses the tunnel, or hangs up |
    /// | 8, 43 | connect | `proxyFailed` | a proxy whose answer has a head that begins with a folded line |
    /// | 58 | connect | `clientCertificateRejected` | a certificate or a key that cannot be read |
    /// | 43 | connect | `clientCertificateRejected` | the same for a key, with libcurl 8.16 and later |
    /// | 98 | connect | `clientCertificateRejected` | *unproven*: from other TLS libraries than OpenSSL |
    /// | 60 | connect | `untrustedCertificate` | an unknown issuer, another host, the time; of a server or a proxy |
    /// | 77 | connect | `untrustedCertificate` | roots that cannot be read |
    /// | 83, 91 | connect | `untrustedCertificate` | *unproven* |
    /// | 7 | connect | `addressNotAllowed` | a host none of whose addresses the policy allows |
    /// | 60 | connect | `pinningFailed` | a verified chain without a pin for the host |
    /// | 90 | connect | `pinningFailed` | another key |
    /// | 97 | connect | `proxyFailed` | a proxy that does not speak SOCKS |
    /// | 97 | connect | `cannotResolveHost` | a host that does not exist, with SOCKS 5 |
    /// | 56 | request | `connectionLost` | a reset during an upload |
    /// | 55, 92 | request | `connectionLost` | *unproven*: a broken upload is noticed when receiving |
    /// | 52, 56 | head | `connectionLost` | an end or a reset before the head |
    /// | 0 | head | `connectionLost` | an end in the head |
    /// | 56 | head | `clientCertificateRejected` | a missing certificate in TLS 1.3, which the server reports late |
    /// | 65, 26 | head | `connectionLost` | a streamed body on a dead reused connection; 26 with libcurl 8.12 |
    /// | 16 | head | `connectionLost` | an HTTP/2 connection that ends with GOAWAY |
    /// | 1, 8 | head | `malformedResponse` | no HTTP, an unknown version, a field without a colon, a bad length |
    /// | 27 | head | `malformedResponse` | a field of more than 100 KiB, with libcurl 7 |
    /// | 52, 56 | head | `malformedResponse` | a field or a head that is too long for libcurl over HTTP/2, with libcurl 7 |
    /// | 100 | head | `malformedResponse` | the same with libcurl 8.14 |
    /// | 61 | head | `undecodableContent` | more content codings than libcurl takes |
    /// | 61 | head | `undecodableContent` | a transfer coding other than chunked, with libcurl 8.14 and later |
    /// | 61 | head | `malformedResponse` | *unproven*: a transfer coding after chunked, with libcurl 8.14 and later |
    /// | 61 | body | `undecodableContent` | a transfer coding that libcurl does not know, before 8.14 |
    /// | 43 | head | `malformedResponse` | *unproven*: from older versions of libcurl |
    /// | 18 | head | `connectionLost` | *unproven* |
    /// | 28 | head | `timedOut` | *unproven*: as in `connect`, for the connection over which a request is sent again |
    /// | 27, 100 | body | `bodyTooLarge` | *unproven*: over 64 MiB decompressed at once while the transfer is paused |
    /// | 92 | head, body | `connectionLost` | an HTTP/2 stream that is reset |
    /// | 18 | body | `connectionLost` | the same with libcurl 8.1 |
    /// | 56 | body | `connectionLost` | a reset |
    /// | 18 | body | `truncatedBody` | an end before the declared length, the last chunk, the end of an HTTP/2 stream |
    /// | 18 | body | `truncatedBody` | an end within a member of gzip, with libcurl before 8.5 |
    /// | 92 | body | `truncatedBody` | an HTTP/2 connection that ends, with libcurl before 7.88 |
    /// | 56 | body | `truncatedBody` | a chunk without a size |
    /// | 61 | body | `undecodableContent` | a body that is not compressed as declared |
    /// | 61 | body | `undecodableContent` | an unknown content coding, with libcurl 8.5 and later |
    /// | 23 | body | `undecodableContent` | bytes after a compressed body; for gzip only with libcurl 8.5 and later |
    /// | 88 | body | `truncatedBody` | *unproven* |
    ///
    /// Newer versions of libcurl report some failures of proxies, heads and HTTP/2 connections with other numbers or
    /// with none. The code is the same.
    ///
    /// Failures that the transport detects itself have no number. Its time limits give `timedOut`; its size limits give
    /// `bodyTooLarge` and `malformedResponse`. A length that is no number gives `malformedResponse`, and broken gzip
    /// gives `undecodableContent`. libcurl may want to send a request a second time although the server may have
    /// processed it, also after a refused HTTP/2 stream. That gives `connectionLost`. A source or a file has its own
    /// errors. Any other number gives `unknown`.
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
