extension RequestError: LocalizedError {
    /// An English sentence for people who know nothing about HTTP: what happened, and with which host.
    ///
    /// If the cause is your own `LocalizedError`, its `errorDescription` replaces this sentence. That applies to
    /// ``Code/stageFailed``, and to the error that an ``ErrorBodyDecoder`` makes of a rejected response. For a log, use
    /// ``description``.
    public var errorDescription: String? { sentenceOfCause ?? sentence }

    private var sentenceOfCause: String? {
        switch code {
        case .unacceptableStatus, .stageFailed: (underlying as? any LocalizedError)?.errorDescription
        default: nil
        }
    }

    private var sentence: String {
        let server = host.map { "server \($0)" } ?? "server"
        return switch code {
        case .badURL: "The address is not one that can be requested."
        case .unsupportedScheme: "Addresses of this kind cannot be requested."
        case .invalidField, .unencodableBody, .unencodableParameter: "The request could not be put together."
        case .bodyNotReplayable: "The data could not be sent a second time."
        case .unsupported: "The request asks for something that is not possible here."
        case .timedOut: "The request to the \(server) took too long."
        case .cannotResolveHost: "The \(server) could not be found."
        case .cannotConnect: "No connection to the \(server) could be made."
        case .notConnected: "There is no connection to a network."
        case .outOfLocalResources: "This process has no files, threads, memory or ports left for the request."
        case .connectionLost, .truncatedBody: "The connection to the \(server) was lost."
        case .secureConnectionFailed: "No secure connection to the \(server) could be made."
        case .untrustedCertificate, .pinningFailed: "The identity of the \(server) could not be verified."
        case .clientCertificateRejected:
            "The certificate with which this side identifies itself could not be used or was not accepted."
        case .proxyFailed: "No connection could be made through the proxy."
        case .unacceptableStatus: sentence(ofStatus: head?.status, server)
        case .unacceptableContentType, .malformedResponse, .undecodable, .emptyBody:
            "The answer of the \(server) could not be read."
        case .undecodableContent: "The answer of the \(server) could not be decompressed."
        case .bodyTooLarge: "The answer of the \(server) is too large."
        case .fileFailed: "The answer of the \(server) could not be saved."
        case .tooManyRedirects, .redirectLoop: "The \(server) passed the request on too often."
        case .insecureRedirect: "The \(server) passed the request on to an address that is not secure."
        case .dependencyFailed, .skipped: "Something that had to come first did not succeed."
        case .conditionFailed: "A condition for this does not hold."
        case .slotRejected: "Too many requests are waiting already."
        case .retryAfterTooLong, .retryBudgetExhausted, .circuitOpen:
            "The \(server) is not available at the moment."
        default: subject?.value.work.name.map { "The work “\($0)” failed." } ?? "The request to the \(server) failed."
        }
    }

    private func sentence(ofStatus status: Int?, _ server: String) -> String {
        guard let status else { return "The \(server) did not accept the request." }
        return switch status {
        case 401, 407: "The \(server) asks for a sign-in (status \(status))."
        case 403: "The \(server) does not allow the request (status 403)."
        case 404, 410: "The \(server) has nothing at this address (status \(status))."
        case 429: "The \(server) was sent too many requests (status 429)."
        case 500, 502, 503, 504: "The \(server) is not able to answer at the moment (status \(status))."
        default: "The \(server) answered with status \(status)."
        }
    }
}
