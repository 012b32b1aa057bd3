import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct RequestErrorSentenceTests {
    // A literal that is a URL.
    private static let url = URL(string: "https://user:secret@a.example:8443/secret?token=secret")!

    private static func error(_ code: RequestError.Code, status: Int = 418) -> RequestError {
        RequestError(
            code, stage: .validate, head: ResponseHead(status: status, url: url), reason: "CURLE_SECRET: secret")
    }

    @Test(arguments: RequestErrorCodeTests.all + [RequestError.Code("mine")])
    func `Every code has a sentence for people`(code: RequestError.Code) {
        let sentence = Self.error(code).localizedDescription
        #expect(sentence.hasSuffix(".") && sentence.first?.isUppercase == true)
        #expect(!sentence.contains(code.description) && !sentence.contains("secret"))
        #expect(sentence.wholeMatch(of: /[A-Za-z0-9 .,()\-]+/) != nil)
    }

    @Test(arguments: [
        (401, "The server a.example asks for a sign-in (status 401)."),
        (404, "The server a.example has nothing at this address (status 404)."),
        (302, "The server a.example answered with status 302."),
        (304, "The server a.example answered with status 304."),
        (408, "The server a.example answered with status 408."),
        (418, "The server a.example answered with status 418."),
        (429, "The server a.example received too many requests (status 429)."),
        (500, "The server a.example is not able to answer at the moment (status 500)."),
        (501, "The server a.example answered with status 501."),
        (503, "The server a.example is not able to answer at the moment (status 503)."),
        (505, "The server a.example answered with status 505."),
    ])
    func `A refused status is put into words`(status: Int, sentence: String) {
        #expect(Self.error(.unacceptableStatus, status: status).localizedDescription == sentence)
    }

    @Test func `A refusal without a head names no status`() {
        let error = RequestError(.unacceptableStatus, stage: .validate)
        #expect(error.localizedDescription == "The server did not accept the request.")
    }

    @Test(
        arguments: [
            (.undecodableContent, "The answer of the server a.example could not be decompressed."),
            (.outOfLocalResources, "This process has no files, threads, memory or ports left for the request."),
            (
                .clientCertificateRejected,
                "The certificate that identifies this client could not be used or was not accepted."
            ),
        ] as [(RequestError.Code, String)])
    func `A code is put into words`(code: RequestError.Code, sentence: String) {
        #expect(Self.error(code).localizedDescription == sentence)
    }

    @Test(arguments: RequestErrorCodeTests.all + [RequestError.Code("mine")])
    func `Only a code that says nothing has the general sentence`(code: RequestError.Code) {
        let isGeneral = Self.error(code).localizedDescription == "The request to the server a.example failed."
        #expect(isGeneral == [.unknown, .stageFailed, RequestError.Code("mine")].contains(code))
    }

    @Test func `The host is that of the request where no response came`() async {
        var configuration = RequestConfiguration.scripted([.error(.cannotConnect)])
        configuration.retryPolicy.maximumRetries = 0
        let error = await failure(of: URLRequestOperation(Self.url, configuration: configuration))
        #expect(error?.localizedDescription == "No connection to the server a.example could be made.")
        #expect(
            RequestError(.cannotConnect, stage: .transfer).localizedDescription
                == "No connection to the server could be made.")
    }
}
