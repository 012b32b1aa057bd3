#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// The table from what libcurl says, and where it says it, to the codes of ``RequestError``.
    ///
    /// | libcurl | phase | code |
    /// |---|---|---|
    /// | 1 unsupported protocol | connect | `unsupportedScheme` |
    /// | 3 malformed URL | connect | `badURL` |
    /// | 5 proxy not resolved, 6 host not resolved | connect | `cannotResolveHost` |
    /// | 7 not connected | connect | `cannotConnect`; `notConnected` without a route to any network; `proxyFailed` if the proxy is it |
    /// | 28 timed out | connect | `timedOut` |
    /// | 35 TLS | connect | `secureConnectionFailed`; `clientCertificateRejected` if the server's alert says so |
    /// | 56 received nothing | connect | `proxyFailed` if a proxy refused the tunnel, else `connectionLost` |
    /// | 58, 98 client certificate | connect | `clientCertificateRejected` |
    /// | 60, 83, 91 server certificate, 77 roots unreadable | connect | `untrustedCertificate` |
    /// | 90 pinned key | connect | `pinningFailed` |
    /// | 97 SOCKS | connect | `proxyFailed` |
    /// | 52 no answer, 55 send, 56 receive, 16 and 92 HTTP/2 | request, head, body | `connectionLost` |
    /// | 18 partial | head | `connectionLost` |
    /// | 56 with a client certificate alert | request, head | `clientCertificateRejected` (TLS 1.3 says so late) |
    /// | 65 body not rewindable | request | `connectionLost` |
    /// | 1 (HTTP/0.9), 8 weird reply, 43 | head | `malformedResponse` |
    /// | 18 partial, 23 and 61 bad coding | body | `truncatedBody` |
    /// | 56 of the chunked coding, 88 | body | `truncatedBody` |
    ///
    /// What the driver ends itself has its code from its cause: the limits `timedOut`, the sizes `bodyTooLarge` and
    /// `malformedResponse`, a source or a file their own errors. Anything else is `unknown`.
    extension CurlTransfer {
        /// Why the transfer to a URL failed; `nil` if it did not. Called when it has ended, before its handle is used again.
        func failure(to url: URL) -> (any Error)? {
            switch outcome {
            case .finished(CURLE_OK): nil
            case .finished(let code): failure(code, url)
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
            case .headTooLarge: error(.malformedResponse, "the head has more than \(HeadReader.limit) bytes")
            case .drained: error(.unknown, "the rest of a rejected response was not read")
            case .sourceFailed(let cause), .sinkFailed(let cause): cause
            case .replayRefused:
                error(.connectionLost, "the connection ended before a response; the request may have been processed")
            case .lookupFailed(let message): error(.cannotResolveHost, message)
            case .shutDown: error(.connectionLost, "the transport was shut down")
            }
        }

        private static func text(_ nanoseconds: Int64?) -> String {
            "\(Duration.nanoseconds(nanoseconds ?? 0))"
        }

        private func failure(_ code: CURLcode, _ url: URL) -> RequestError {
            var measures = rocurl_measures()
            if let easy { rocurl_measure(easy.pointer, &measures) }
            let message = easy?.message ?? String(cString: curl_easy_strerror(code))
            return RequestError(
                meaning(of: code, url, message, measures), stage: .transfer, underlying: CurlError(code),
                reason: message)
        }

        private func meaning(
            of code: CURLcode, _ url: URL, _ message: String, _ measures: rocurl_measures
        ) -> RequestError.Code {
            switch code {
            case CURLE_UNSUPPORTED_PROTOCOL:
                phase == .connect ? .unsupportedScheme : .malformedResponse
            case CURLE_URL_MALFORMAT:
                .badURL
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
                .cannotResolveHost
            case CURLE_COULDNT_CONNECT:
                connectFailure(url, message, measures)
            case CURLE_OPERATION_TIMEDOUT:
                .timedOut
            case CURLE_SSL_CONNECT_ERROR:
                Self.isAboutClientCertificate(message) ? .clientCertificateRejected : .secureConnectionFailed
            case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT:
                .clientCertificateRejected
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
                CURLE_SSL_CACERT_BADFILE:
                .untrustedCertificate
            case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
                .pinningFailed
            case CURLE_PROXY:
                .proxyFailed
            case CURLE_RECV_ERROR where phase == .connect && measures.connect_status != 0:
                .proxyFailed
            case CURLE_RECV_ERROR where phase == .body && message.contains("chunk"):
                .truncatedBody
            case CURLE_PARTIAL_FILE where phase != .body:
                .connectionLost
            case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM,
                CURLE_SEND_FAIL_REWIND:
                Self.isAboutClientCertificate(message) ? .clientCertificateRejected : .connectionLost
            case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_FUNCTION_ARGUMENT:
                .malformedResponse
            case CURLE_PARTIAL_FILE, CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR, CURLE_CHUNK_FAILED:
                .truncatedBody
            default:
                .unknown
            }
        }

        private func connectFailure(
            _ url: URL, _ message: String, _ measures: rocurl_measures
        ) -> RequestError.Code {
            // libcurl names the host and port that it could not reach: those of the proxy if there is one.
            let port = url.port ?? (isSecure ? 443 : 80)
            if driver.mayUseProxy, let host = url.host, !message.contains("to \(host) port \(port) ") {
                return .proxyFailed
            }
            return measures.system_error == Int(ENETUNREACH) ? .notConnected : .cannotConnect
        }

        /// OpenSSL, GnuTLS and others name the alert of RFC 8446, section 6.2, in their own words, but with these in it.
        private static func isAboutClientCertificate(_ message: String) -> Bool {
            let message = message.lowercased()
            return message.contains("alert")
                && ["certificate required", "bad certificate", "unknown ca", "certificate unknown"]
                    .contains { message.contains($0) }
        }
    }

    /// The number that libcurl gave an error, as the cause of a ``RequestError``.
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
