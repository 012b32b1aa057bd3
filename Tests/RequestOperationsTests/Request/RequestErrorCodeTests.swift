import RequestOperations
import Testing

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
}
