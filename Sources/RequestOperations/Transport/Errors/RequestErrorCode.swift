extension RequestError {
    /// What went wrong. The set is open, so a new code does not break a `switch`.
    ///
    /// A code can be caught by pattern: `catch RequestError.Code.timedOut`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, such as `timedOut`. It is stable, and suits a log or the label of a metric.
        public let description: String

        /// Makes your own code, for your stages and transports.
        public init(_ name: String) {
            description = name
        }

        // Disfavoured. Otherwise the compiler names this type where a pattern of another type is wrong.

        /// Matches an error that is a ``RequestError`` of this code.
        @_disfavoredOverload
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? RequestError)?.code == code
        }
    }
}

extension RequestError.Code {
    // MARK: The request

    /// The URL has no host, or cannot be requested.
    public static let badURL = Self("badURL")
    /// The transport does not speak the URL's scheme.
    public static let unsupportedScheme = Self("unsupportedScheme")
    /// A field's name is not a token, its value has a CR, LF or NUL (RFC 9110, section 5.5), or the fields are too
    /// large.
    public static let invalidField = Self("invalidField")
    /// The body could not be made: an encoder failed, or a file or stream could not be read.
    public static let unencodableBody = Self("unencodableBody")
    /// The body comes from a stream that cannot be opened a second time, so the request cannot be sent again.
    public static let bodyNotReplayable = Self("bodyNotReplayable")
    /// The transport cannot do what the task asks for.
    public static let unsupported = Self("unsupported")

    // MARK: The network

    /// A time limit ran out. ``RequestError/stage`` and the reason say which one.
    public static let timedOut = Self("timedOut")
    /// The name of the host or the proxy could not be resolved.
    public static let cannotResolveHost = Self("cannotResolveHost")
    /// No connection could be made. The host refused it or is unreachable.
    public static let cannotConnect = Self("cannotConnect")
    /// The machine is not connected to a network.
    public static let notConnected = Self("notConnected")
    /// This process has no descriptor, thread, memory or port left for the request. That says nothing about the host.
    /// Nothing was sent, except if the file for the response could not be opened.
    public static let outOfLocalResources = Self("outOfLocalResources")
    /// The connection ended before the response was complete.
    public static let connectionLost = Self("connectionLost")
    /// The TLS handshake failed for a reason other than the certificate.
    public static let secureConnectionFailed = Self("secureConnectionFailed")
    /// The server's certificate is not trusted: unknown issuer, wrong host, expired, or unreadable roots.
    public static let untrustedCertificate = Self("untrustedCertificate")
    /// The server rejected the client's certificate or demanded one, or the certificate or its key is unusable.
    public static let clientCertificateRejected = Self("clientCertificateRejected")
    /// The server's key is not one of the pinned keys.
    public static let pinningFailed = Self("pinningFailed")
    /// The proxy was unreachable, or refused.
    public static let proxyFailed = Self("proxyFailed")

    // MARK: The response

    /// The status is not an accepted one.
    public static let unacceptableStatus = Self("unacceptableStatus")
    /// The content type is not an accepted one.
    public static let unacceptableContentType = Self("unacceptableContentType")
    /// The body is larger than ``RequestConfiguration/maximumBodySize``, or decompression expands it more than
    /// ``RequestConfiguration/maximumDecompressionRatio`` allows.
    public static let bodyTooLarge = Self("bodyTooLarge")
    /// The body ended before its declared length or within its content coding, or it is not framed as declared.
    public static let truncatedBody = Self("truncatedBody")
    /// The body is not compressed as `Content-Encoding` says.
    ///
    /// With libcurl 8.5 and later, a body in a coding that libcurl does not know fails too, and so do several gzip
    /// members. Older versions deliver the first body as it is, and decode the second.
    public static let undecodableContent = Self("undecodableContent")
    /// The response is not readable HTTP.
    public static let malformedResponse = Self("malformedResponse")
    /// The body is empty and the value's type has no empty form.
    public static let emptyBody = Self("emptyBody")
    /// The decoder failed. Its error is in ``RequestError/underlying``. For a `DecodingError`, the reason has the
    /// coding path.
    public static let undecodable = Self("undecodable")
    /// The response could not be written to its file.
    public static let fileFailed = Self("fileFailed")

    // MARK: Redirects

    /// More redirects than ``RedirectPolicy/maximum``.
    public static let tooManyRedirects = Self("tooManyRedirects")
    /// More redirects than ``RedirectPolicy/maximum``, in a loop: the last leads to a request that was sent already. A
    /// list of pages that leads back to an earlier page also fails with this code.
    public static let redirectLoop = Self("redirectLoop")
    /// A redirect led from https to http.
    public static let insecureRedirect = Self("insecureRedirect")

    // MARK: Authentication

    /// The server asks for credentials in a way that cannot be answered. The reason names its schemes.
    public static let unsupportedAuthentication = Self("unsupportedAuthentication")

    // MARK: The operation

    /// Your own stage, or the consumer of a stream, threw an error that is not a ``RequestError``, such as a
    /// `URLError`. That error is in ``RequestError/underlying``. A `DecodingError` from
    /// ``URLRequestOperation/decode(_:)``, and any error of the decoder, is ``undecodable`` instead.
    public static let stageFailed = Self("stageFailed")
    /// The operation did not run, because an operation that it depends on failed or was cancelled. The error of the
    /// dependency is in ``RequestError/underlying``.
    public static let dependencyFailed = Self("dependencyFailed")
    /// The operation was left out, because an operation that it depends on failed or was cancelled. The error of the
    /// dependency is in ``RequestError/underlying``.
    public static let skipped = Self("skipped")
    /// The operation did not run, because one of its conditions does not hold. The reason names the condition. The
    /// error that the condition threw is in ``RequestError/underlying``.
    public static let conditionFailed = Self("conditionFailed")
    /// Too many attempts wait for the limiter.
    public static let slotRejected = Self("slotRejected")
    /// The server asked this request, or another one to the same host, to wait longer than the policy or the deadline
    /// allows.
    public static let retryAfterTooLong = Self("retryAfterTooLong")
    /// The ``RetryBudget`` has no room for the retry, or none in time. The original failure is in
    /// ``RequestError/underlying``.
    public static let retryBudgetExhausted = Self("retryBudgetExhausted")
    /// The ``CircuitBreaker`` refused the attempt. Nothing was sent.
    public static let circuitOpen = Self("circuitOpen")
    /// A failure of the transport that has no code of its own.
    public static let unknown = Self("unknown")
}

extension RequestError.Code {
    /// The code for a `URLError`.
    init(_ error: URLError) {
        self =
            switch error.code {
            case .timedOut: .timedOut
            case .cannotFindHost, .dnsLookupFailed: .cannotResolveHost
            case .cannotConnectToHost: .cannotConnect
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive: .notConnected
            case .networkConnectionLost: .connectionLost
            case .secureConnectionFailed: .secureConnectionFailed
            case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
                .serverCertificateHasUnknownRoot:
                .untrustedCertificate
            case .clientCertificateRejected, .clientCertificateRequired: .clientCertificateRejected
            case .badURL: .badURL
            case .unsupportedURL: .unsupportedScheme
            case .httpTooManyRedirects: .tooManyRedirects
            case .dataLengthExceedsMaximum: .bodyTooLarge
            case .badServerResponse, .cannotParseResponse: .malformedResponse
            case .cannotDecodeRawData, .cannotDecodeContentData: .undecodableContent
            case .requestBodyStreamExhausted: .unencodableBody
            case .cannotCreateFile, .cannotOpenFile, .cannotCloseFile, .cannotWriteToFile, .cannotRemoveFile,
                .cannotMoveFile:
                .fileFailed
            default: .unknown
            }
    }
}
