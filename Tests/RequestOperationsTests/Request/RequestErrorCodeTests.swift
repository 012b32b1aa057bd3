import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct RequestErrorCodeTests {
    static let all: [RequestError.Code] = [
        .badURL, .unsupportedScheme, .invalidField, .unencodableBody, .unencodableParameter, .bodyNotReplayable,
        .unsupported, .timedOut, .cannotResolveHost, .cannotConnect, .notConnected, .outOfLocalResources,
        .connectionLost, .secureConnectionFailed,
        .untrustedCertificate, .clientCertificateRejected, .pinningFailed, .proxyFailed, .unacceptableStatus,
        .unacceptableContentType, .bodyTooLarge, .truncatedBody, .undecodableContent, .malformedResponse, .emptyBody,
        .undecodable, .fileFailed, .tooManyRedirects, .redirectLoop, .insecureRedirect, .stageFailed, .slotRejected,
        .dependencyFailed, .skipped, .conditionFailed, .retryAfterTooLong, .retryBudgetExhausted, .circuitOpen,
        .unknown,
    ]

    @Test func `Every code has a name of its own`() {
        #expect(Set(Self.all.map(\.description)).count == Self.all.count)
        #expect(Set(Self.all).count == Self.all.count)
    }

    @Test(arguments: all)
    func `A name is fit for a label`(code: RequestError.Code) {
        #expect(code.description.allSatisfy { $0.isASCII && $0.isLetter })
    }

    @Test func `A code catches errors of its own only`() {
        func caught(_ error: any Error) -> String {
            do { throw error } catch RequestError.Code.timedOut { return "timedOut" } catch { return "other" }
        }
        #expect(caught(RequestError(.timedOut, stage: .decode)) == "timedOut")
        #expect(caught(RequestError(.badURL, stage: .decode)) == "other")
        #expect(caught(URLError(.timedOut)) == "other")
    }

    @Test func `Codes of your own are equal by name`() {
        #expect(RequestError.Code("mine") == RequestError.Code("mine"))
        #expect(RequestError.Code("mine") != RequestError.Code("yours"))
    }

    @Test(
        arguments: [
            (.timedOut, .timedOut), (.cannotFindHost, .cannotResolveHost), (.dnsLookupFailed, .cannotResolveHost),
            (.cannotConnectToHost, .cannotConnect), (.notConnectedToInternet, .notConnected),
            (.dataNotAllowed, .notConnected), (.internationalRoamingOff, .notConnected), (.callIsActive, .notConnected),
            (.networkConnectionLost, .connectionLost), (.secureConnectionFailed, .secureConnectionFailed),
            (.serverCertificateUntrusted, .untrustedCertificate), (.serverCertificateHasBadDate, .untrustedCertificate),
            (.serverCertificateNotYetValid, .untrustedCertificate),
            (.serverCertificateHasUnknownRoot, .untrustedCertificate),
            (.clientCertificateRejected, .clientCertificateRejected),
            (.clientCertificateRequired, .clientCertificateRejected), (.badURL, .badURL),
            (.unsupportedURL, .unsupportedScheme), (.httpTooManyRedirects, .tooManyRedirects),
            (.dataLengthExceedsMaximum, .bodyTooLarge), (.badServerResponse, .malformedResponse),
            (.cannotParseResponse, .malformedResponse), (.cannotDecodeRawData, .undecodableContent),
            (.cannotDecodeContentData, .undecodableContent), (.requestBodyStreamExhausted, .unencodableBody),
            (.cannotCreateFile, .fileFailed), (.cannotOpenFile, .fileFailed), (.cannotCloseFile, .fileFailed),
            (.cannotWriteToFile, .fileFailed), (.cannotRemoveFile, .fileFailed), (.cannotMoveFile, .fileFailed),
            (.unknown, .unknown), (.userAuthenticationRequired, .unknown), (.cancelled, .unknown),
        ] as [(URLError.Code, RequestError.Code)])
    func `An error of Foundation's has a code`(theirs: URLError.Code, ours: RequestError.Code) {
        #expect(RequestError.Code(URLError(theirs)) == ours)
    }
}
