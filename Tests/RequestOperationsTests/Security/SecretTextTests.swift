import RequestOperationsTesting
import Testing

@testable import RequestOperations

/// That no value of this package shows a secret that it carries, whichever way it becomes text.
@Suite(.timeLimit(.minutes(15))) struct SecretTextTests {
    private static let canary = "s3cr3tCanary"
    // A literal that is a URL.
    private static let url = URL(
        string: "https://user:\(canary)@a.example:8443/path?X-Amz-Signature=\(canary)&page=\(canary)#\(canary)")!

    private static let request = {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("Bearer \(canary)", forHTTPHeaderField: "Authorization")
        request.httpBody = Data("password=\(canary)".utf8)
        return request
    }()

    private static let head = ResponseHead(
        status: 503, url: url, fields: [("Set-Cookie", "session=\(canary)"), ("Retry-After", "1")])

    private struct Foreign: Error, CustomStringConvertible {
        let description = canary
    }

    private static let urlError = URLError(
        .timedOut, userInfo: [NSURLErrorFailingURLErrorKey: url])

    private static let error = RequestError(
        .unacceptableStatus, stage: .validate, underlying: urlError, head: head, bodyPrefix: Data(canary.utf8))

    private static let failure = AttemptFailure(error, attempt: 2, request: request, head: head)

    private static let trust = TrustPolicy(
        clientCertificate: TrustPolicy.ClientCertificate(
            certificate: Data("certificate".utf8), key: Data(canary.utf8), passphrase: canary))

    private static let credential = RefreshingCredential(canary) { credential, request in
        request.setValue(credential, forHTTPHeaderField: "Authorization")
    } refresh: { _ in
        canary
    }

    private static let adapters: [RequestAdapter] = [
        .field("X-API-Key", canary), .defaultField("X-Mine", canary), .bearerToken { canary },
        .edit { $0.setValue(canary, forHTTPHeaderField: "Authorization") }, .baseURL(url), credential.adapter,
    ]

    private static let configuration = {
        var configuration = RequestConfiguration.scripted([.body(Data(canary.utf8))])
        configuration.adapters = adapters
        configuration.trust = trust
        return configuration
    }()

    private static let steps: [RequestEvent.Step] = [
        .began, .attemptBegan(1), .hedgeBegan(2), .notHedged("no slot is free"), .hedgeDecided(2),
        .waitsForSlot, .gotSlot(waited: .seconds(1)), .redirected(from: url, to: url), .head(head),
        .attemptFailed(failure), .attemptFailed(AttemptFailure(Foreign(), request: request, stage: .process)),
        .decided(.stop), .decided(.retry(after: .seconds(1), with: request)), .decided(.fail(Foreign())),
        .waitsForConnectivity, .waits(.seconds(1)), .woke(.backoff), .abandoned(.decode), .ended(nil), .ended(error),
        .ended(Foreign()), .ended(urlError),
    ]

    private static var attempt: Attempt {
        var attempt = Attempt(number: 2, startDate: .distantPast, began: .zero, waited: .seconds(1), wokenBy: .backoff)
        attempt.ended = .seconds(2)
        attempt.redirects = [url]
        attempt.status = 503
        attempt.error = error
        return attempt
    }

    private static var curlValues: [Any] {
        #if canImport(CRequestOperationsCurl) && canImport(Glibc)
            var configuration = CurlTransport.Configuration()
            configuration.trust = trust
            configuration.proxy = .url(url, except: ["b.example"])
            return [configuration, configuration.proxy, CurlTransport(configuration: configuration)]
        #else
            return []
        #endif
    }

    private static var sessionTransport: URLSessionTransport {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["Authorization": canary]
        return URLSessionTransport(configuration: configuration)
    }

    /// All values that can carry a secret, with one.
    private static var values: [Any] {
        var task = TransportTask(request)
        task.trust = trust
        var form = MultipartFormData()
        form.append(canary, name: "password")
        let queue = OperationQueue()
        let pages = queue.pages(of: request, decoder: .data, configuration: configuration)
        let operation = URLRequestOperation(request, configuration: configuration)
        var redirected = attempt
        redirected.error = Foreign()
        let link = Link(target: url, relations: ["next"], parameters: [:])
        let response = TransportResponse(head: head, body: Data(canary.utf8))
        let transferFailure = TransferFailure(urlError, head: head, bodyPrefix: Data(canary.utf8), phase: .head)
        var values: [Any] = [trust, trust.clientCertificate as Any, configuration, credential, credential.decider]
        values += adapters.map { $0 as Any } + [adapters[0].on(queue)]
        values += steps.map { $0 as Any } + steps.map { event($0) as Any }
        values += [error, failure, attempt, redirected, transferFailure]
        values += [RetryDecision.retry(after: .zero, with: request), RetryDecision.fail(urlError)]
        values += [head, response, task, task.body, form, form.parts, task.execution, configuration.redirects]
        values += [link, pages, pages.makeAsyncIterator(), operation, operation.then { _ in operation }]
        values += [sessionTransport] + curlValues
        values += [Result<Data, any Error>.failure(error), [attempt], ["event": steps[8]]]
        return values + operations + authentications + clients
    }

    private static var operations: [Any] {
        let file = URL(fileURLWithPath: "/tmp/file")
        let body = RequestBody.data(Data(canary.utf8))
        let request = URLRequestOperation(request, configuration: configuration)
        return [
            DownloadOperation(url, to: .file(file), configuration: configuration),
            UploadOperation(body, to: Self.request, configuration: configuration),
            UploadOperation(body, to: Self.request, by: .tus, configuration: configuration),
            StreamOperation(Self.request, configuration: configuration),
            EventSourceOperation(Self.request, configuration: configuration),
            RequestBatch([request]), RequestGroup([request], order: .serial), StepChain<Data>({ _ in .run(request) }),
            RetryingOperation(resource: url, configuration: configuration) { _ in canary },
            RequestOperations.all(of: request, request),
            DownloadedFile(url: file, size: 1, resumedBytes: 0, verifiedDigests: [], head: head),
        ]
    }

    private static var authentications: [Any] {
        var challenge = AuthenticationChallenge(scheme: "basic", parameters: ["realm": "here"])
        challenge.refused = .token(canary)
        return [
            ServerCredential.password(user: canary, password: canary), ServerCredential.token(canary), challenge,
            ServerAuthentication(user: canary, password: canary, at: url),
        ]
    }

    private static var clients: [Any] {
        let client = RequestClient(baseURL: url, configuration: configuration)
        client.defaults.fields["Authorization"] = canary
        client.defaults.parameters["token"] = ParameterValue(canary)
        client.defaults.userInfo["token"] = canary
        var options = RequestOptions(configuration)
        options.fields["Authorization"] = canary
        options.parameters["token"] = ParameterValue(canary)
        options.body = .data(Data(canary.utf8))
        let operation = client.operation(
            .post, "x?token=\(canary)", parameters: ["a": ParameterValue(canary)], as: Data.self)
        return [client, client.defaults, options, operation, client.queue, ParameterValue(canary)]
    }

    // MARK: The texts

    /// What each of the ways to make text of a value gives.
    private static func texts(of value: Any) -> [String: String] {
        var (printed, debugged, dumped) = ("", "", "")
        print(value, to: &printed)
        debugPrint(value, to: &debugged)
        dump(value, to: &dumped)
        return [
            "print": printed, "debugPrint": debugged, "dump": dumped, "describing": String(describing: value),
            "reflecting": String(reflecting: value), "interpolation": "\(value)",
        ]
    }

    /// Whether a text has the secret, as it is or byte by byte, as `dump` shows `Data`.
    private static func hasCanary(_ text: String) -> Bool {
        let numbers = text.split { !$0.isNumber }.compactMap { UInt8($0) }
        return text.contains(canary) || numbers.contains(Array(canary.utf8))
            || text.contains(Data(canary.utf8).base64EncodedString())
    }

    @Test func `No text of a value has a secret that it carries`() {
        for value in Self.values {
            for (way, text) in Self.texts(of: value) {
                #expect(!Self.hasCanary(text), "\(way) of a \(type(of: value)) shows the secret: \(text)")
            }
        }
    }

    @Test func `The search finds a secret where it is shown`() {
        #expect(Self.hasCanary("\(Self.url)"))
        #expect(Self.texts(of: Data(Self.canary.utf8))["dump"].map(Self.hasCanary) == true)
    }

    @Test func `An endpoint is described without the values of its properties`() {
        struct Login: Endpoint {
            typealias Response = Data
            let method = HTTPMethod.post
            let path = "login"
            var password = SecretTextTests.canary
        }
        // `dump` asks for the properties, and gets them: the type is the user's own.
        for (way, text) in Self.texts(of: Login()) where way != "dump" {
            #expect(!Self.hasCanary(text), "\(way): \(text)")
        }
    }

    // MARK: What they say instead

    @Test(arguments: [
        ("https://u:p@a.example:8443/x/y?q=1#f", "https://a.example:8443/x/y"),
        ("http://a.example", "http://a.example"),
        ("http://[::1]:80/x", "http://[::1]:80/x"), ("/users?token=1", "/users"), ("data:text/plain,secret", "data:"),
        ("http://a.example/x@y", "http://a.example/x@y"), ("http://a.example?q=://u@b", "http://a.example"),
        ("//u:p@a.example/x", "//a.example/x"), ("data:text/plain,secret://x", "data:"),
        ("mailto:u@a.example", "mailto:"), ("http:u:p@a.example/a://b", "http:"), ("u:p@a.example/x", "u:"),
        ("http:/u:p@a.example/x", "http:"),
        ("http://u:p%40@a.example/x", "http://a.example/x"), ("HTTP://u:@a.example/x", "HTTP://a.example/x"),
        ("a+b-c.d://u:p@h/x", "a+b-c.d://h/x"), ("x/http://u@b", "x/http://u@b"), ("users/@me", "users/@me"),
        ("file:///tmp/a@b", "file:///tmp/a@b"),
    ])
    func `A location has neither user nor query nor fragment`(url: String, location: String) throws {
        let url: URL = try #require(URL(string: url))
        #expect(Redaction.location(of: url) == location)
    }

    @Test(arguments: [
        ("https://u:p@a.example/x?token=1&a=b", "https://redacted@a.example/x?token=redacted&a=b"),
        ("//u:p@a.example/x", "//redacted@a.example/x"), ("data:text/plain,secret://x?a=b#c", "data:"),
        ("http:u:p@a.example/a://b", "http:"), ("/x@y?a=b#token=1", "/x@y?a=b#token=redacted"),
    ])
    func `A URL in a command has no user either`(url: String, text: String) throws {
        let url: URL = try #require(URL(string: url))
        #expect(Redaction.default.text(of: url) == text)
    }

    private struct Placed: Endpoint {
        typealias Response = Data
        let path: String
    }

    @Test(arguments: [
        ("//u:p@a.example/x", "//redacted@a.example/x"), ("http:u:p@a.example/a://b", "http:"),
        ("https://u:p@a.example/{+x}", "https://redacted@a.example/{+x}"), ("https://u:p/w@a.example/x", "redacted"),
        ("{x}://u:p@a.example/x", "redacted"), ("items:batch", "items:batch"), ("users/@me", "users/@me"),
    ])
    func `Nor has a path in the description of an endpoint`(path: String, shown: String) {
        #expect(Placed(path: path).debugDescription == "Placed: GET \(shown)")
    }

    @Test(arguments: [
        ("Unsupported proxy syntax in 'u:p@host:1': bad", "Unsupported proxy syntax in 'redacted': bad"),
        ("no way to http://u:p@a.example/x?sig=1 now", "no way to http://a.example/x now"),
        ("Could not resolve host: a.example", "Could not resolve host: a.example"),
        ("HTTP/2 stream 1: INTERNAL_ERROR (err 2)", "HTTP/2 stream 1: INTERNAL_ERROR (err 2)"),
        ("'a' 'u@b' 'c' d@e", "'a' 'redacted' 'c' d@e"), ("a@b isn't", "a@b isn't"),
        ("(http://u:p@h/a?b#c)", "(http://h/a"), ("<http://u@h?b>: \"x://y#z\"", "<http://h>: \"x://y\""),
        ("http://u:p/w@h/ x", "redacted x"), ("1://u:p@h", "redacted"), ("//a.example/", "//a.example/"),
    ])
    func aMessageOfALibraryLosesItsCredentials(message: String, expected: String) {
        #expect(Redaction.message(message) == expected)
    }

    @Test(arguments: [
        (RequestEvent.Step.began, "began"), (.gotSlot(waited: .seconds(1)), "got a slot after 1.0 seconds"),
        (
            .redirected(from: url, to: url),
            "redirected from https://a.example:8443/path to https://a.example:8443/path"
        ),
        (.head(head), "head: 503 (2 fields)"), (.decided(.stop), "decided: stop"),
        (
            .decided(.retry(after: .seconds(1), restartingBackoff: true, with: request)),
            "decided: retry after 1.0 seconds, restarting the backoff, with POST https://a.example:8443/path"
        ),
        (.decided(.fail(Foreign())), "decided: fail: Foreign"), (.woke(.retryNow), "woke: retryNow"),
        (.ended(nil), "ended: success"), (.ended(CancellationError()), "ended: cancelled"),
        (.ended(urlError), "ended: URLError -1001"), (.notHedged("no slot is free"), "not hedged: no slot is free"),
    ])
    func aStepIsALineThatCanBeRead(step: RequestEvent.Step, line: String) {
        #expect(step.description == line)
    }

    @Test func `Every step is one line without the names of types of this module`() {
        for step in Self.steps {
            #expect(!step.description.contains { $0.isNewline })
            #expect(!step.description.contains("RequestOperations") && !step.description.contains("Optional"))
        }
    }

    private static func event(_ step: RequestEvent.Step, because reason: WaitReason? = nil) -> RequestEvent {
        RequestEvent(
            id: RequestID(), attempt: 1, method: "GET", date: Date(), elapsed: .zero, step: step, waitReason: reason,
            original: URL(string: "http://user:\(canary)@example.invalid/?token=\(canary)"))
    }

    @Test func `An event of a wait says why it waits`() {
        let event = Self.event(.waits(.seconds(1)), because: .retryAfter)
        #expect(event.description == "request \(event.id): waits 1.0 seconds (Retry-After)")
    }

    @Test func `An attempt says what became of it`() {
        #expect(
            Self.attempt.description.hasPrefix(
                "attempt 2, waited 1.0 seconds (backoff), redirected to https://a.example:8443/path, status 503,"
                    + " failed after 2.0 seconds: unacceptableStatus"))
    }

    @Test func `A trust policy says what it trusts and that it has a certificate`() {
        #expect(
            Self.trust.description == "roots: system, client certificate with a passphrase, TLS 1.2 or later")
    }

    @Test func `An adapter names the field that it sets`() {
        #expect("\(Self.adapters[0])" == "sets X-API-Key")
    }
}
