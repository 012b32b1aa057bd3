import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct RequestErrorTests {
    // A literal that is a URL.
    private static let url = URL(string: "https://user:secret@a.example:8443/path?token=secret#secret")!

    private static let head = ResponseHead(
        status: 503, url: url, fields: [("Set-Cookie", "secret"), ("Content-Type", "text/secret")])

    private struct Leaky: Error, CustomStringConvertible {
        var description: String { "secret" }
    }

    // MARK: Description

    @Test func `The description is one line of code stage location status and reason`() {
        let error = RequestError(.unacceptableStatus, stage: .validate, head: Self.head, reason: "because")
        #expect(
            error.description == "unacceptableStatus in validate, https://a.example:8443/path, status 503: because")
    }

    @Test func `The description names the request and why it was not retried`() {
        let id = RequestID()
        var request = URLRequest(url: Self.url)
        request.httpMethod = "POST"
        let error = RequestError(.connectionLost, stage: .transfer, reason: "because")
            .about(request, id, notRetried: .notRepeatable(method: "POST"))
        #expect(
            error.description == "connectionLost in transfer, POST https://a.example:8443/path: because"
                + " (request \(id); not retried: POST, no idempotency key)")
    }

    @Test func `A reason that says why there was no retry stands once in the description`() {
        let error = RequestError(
            .retryBudgetExhausted, stage: .transfer, underlying: RequestError(.connectionLost, stage: .transfer),
            reason: "no room"
        ).about(URLRequest(url: Self.url), nil, notRetried: .said("no room"))
        #expect(
            error.description
                == "retryBudgetExhausted in transfer, GET https://a.example:8443/path: no room, after connectionLost")
        #expect(error.notRetried == "no room")
    }

    @Test func `The description has no query field value body or cause`() throws {
        let body = Data("secret".utf8)
        let errors = [
            RequestError(.unknown, stage: .decode, underlying: Leaky(), head: Self.head, bodyPrefix: body),
            RequestError(
                wrapping: TransferFailure(Leaky(), head: Self.head, bodyPrefix: body, phase: .body), stage: .transfer),
            RequestError(wrapping: Leaky(), stage: .process),
        ]
        for error in errors { #expect(!error.description.contains("secret")) }
    }

    @Test func `No rejection of a head quotes it`() throws {
        let validations: [ResponseValidation] = [.successfulStatus, .contentType(["application/json"])]
        for validation in validations {
            let error = #expect(throws: RequestError.self) { try validation.validate(Self.head) }
            #expect(error?.description.contains("secret") == false)
        }
    }

    @Test func `The description is one line whatever the reason`() {
        let error = RequestError(.unknown, stage: .wait, reason: "one\ntwo\r\nthree\u{2028}four")
        #expect(!error.description.contains { $0.isNewline })
    }

    @Test func `The description names the type of a cause that has no reason`() {
        let error = RequestError(wrapping: Leaky(), stage: .process)
        #expect(error.description == "stageFailed in process: Leaky")
    }

    @Test func `The description counts several attempts`() {
        var error = RequestError(.timedOut, stage: .transfer)
        #expect(!error.description.contains("attempt"))
        error.attempts = (1...3).map {
            Attempt(number: $0, startDate: .distantPast, began: .zero, waited: .zero, wokenBy: nil)
        }
        #expect(error.description.hasSuffix("(3 attempts)"))
    }

    // MARK: Wrapping

    @Test func `An error of ours is not wrapped`() {
        let error = RequestError(wrapping: RequestError(.badURL, stage: .process), stage: .transfer)
        #expect(error.code == .badURL && error.stage == .process && error.underlying == nil)
    }

    @Test func `A transfer failure gives up its cause with head and body`() {
        let failure = TransferFailure(
            RequestError(.connectionLost, stage: .transfer), head: Self.head, bodyPrefix: Data("x".utf8), phase: .body)
        let error = RequestError(wrapping: failure, stage: .transfer)
        #expect(error.code == .connectionLost && error.head?.status == 503 && error.bodyPrefix == Data("x".utf8))
    }

    @Test func `The head and body of the cause come before those of the failure`() {
        let inner = RequestError(
            .unacceptableStatus, stage: .validate, head: ResponseHead(status: 404, url: Self.url),
            bodyPrefix: Data("inner".utf8))
        let failure = TransferFailure(inner, head: Self.head, bodyPrefix: Data("outer".utf8), phase: .body)
        let error = RequestError(wrapping: failure, stage: .transfer)
        #expect(error.head?.status == 404 && error.bodyPrefix == Data("inner".utf8))
    }

    @Test func `At most four kilobytes of a body are kept`() {
        let body = Data(repeating: 1, count: 5000)
        #expect(RequestError(.unknown, stage: .decode, bodyPrefix: body).bodyPrefix.count == 4096)
        let failure = TransferFailure(Leaky(), bodyPrefix: body, phase: .body)
        #expect(RequestError(wrapping: failure, stage: .transfer).bodyPrefix.count == 4096)
    }

    @Test(arguments: RequestError.Stage.allCases)
    func `A foreign error is undecodable in the decoder and a failure of its stage elsewhere`(stage: RequestError.Stage)
    {
        let error = RequestError(wrapping: Leaky(), stage: stage)
        #expect(error.code == (stage == .decode ? .undecodable : .stageFailed))
        #expect(error.stage == stage && error.underlying is Leaky)
    }

    @Test(arguments: RequestError.Stage.allCases)
    func `An error of Foundation's is a foreign one`(stage: RequestError.Stage) {
        let error = RequestError(wrapping: URLError(.timedOut), stage: stage)
        #expect(error.code == (stage == .decode ? .undecodable : .stageFailed))
        #expect((error.underlying as? URLError)?.code == .timedOut)
    }

    @Test(arguments: RequestError.Stage.allCases)
    func `A transfer failure out of a stage that transfers nothing is a foreign error`(stage: RequestError.Stage) {
        let failure = TransferFailure(RequestError(.connectionLost, stage: .transfer), phase: .head)
        let error = RequestError(wrapping: failure, stage: stage)
        let isOfTransport = stage == .transfer || stage == .validate
        #expect((error.code == .connectionLost) == isOfTransport)
        #expect((error.underlying is TransferFailure) == !isOfTransport)
    }

    // MARK: Of other errors

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

    @Test func `An error of a transfer keeps no more than the beginning of its body`() async {
        let isFreed = Door()
        let error = RequestError(
            wrapping: TransferFailure(Problem(), bodyPrefix: .counted(isFreed), phase: .body), stage: .transfer)
        #expect(await isFreed.isOpen(within: .seconds(120)))
        #expect(error.bodyPrefix == Data(repeating: 7, count: 4096))
    }

    private struct Refusal: Error, LocalizedError {
        let errorDescription: String?
    }

    @Test func `An error of your own speaks for itself`() {
        let error = RequestError(wrapping: Refusal(errorDescription: "You are signed out."), stage: .process)
        #expect(error.localizedDescription == "You are signed out.")
        let silent = RequestError(wrapping: Refusal(errorDescription: nil), stage: .process)
        #expect(silent.localizedDescription == "The request to the server failed.")
    }

    @Test func `An error that passes through several requests names the first`() throws {
        let url = try #require(URL(string: "http://a.example/"))
        var login = URLRequest(url: try #require(URL(string: "http://login.example/token")))
        login.httpMethod = "POST"
        let (inner, middle, outer) = (RequestID(), RequestID(), RequestID())
        let error = RequestError(.cannotConnect, stage: .transfer)
            .about(login, inner).about(URLRequest(url: url), middle)
            .about(anyRequest, outer).about(anyRequest, outer)
        #expect(
            error.description == "cannotConnect in transfer, GET http://example.invalid/path,"
                + " in POST http://login.example/token (request \(outer))")
    }
}
