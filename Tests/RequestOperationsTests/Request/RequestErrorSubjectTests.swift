import RequestOperations
import RequestOperationsTesting
import Testing

/// Which request an error is about.
@Suite(.timeLimit(.minutes(15))) struct RequestErrorSubjectTests {
    private static func request(_ method: String, _ url: String) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        return request
    }

    private static func configuration(_ answers: [ScriptedTransport.Answer]) -> RequestConfiguration {
        var configuration = RequestConfiguration.scripted(answers)
        configuration.retryPolicy.backoff = .constant(.zero)
        return configuration
    }

    private static func error(_ operation: URLRequestOperation<Data>) async throws -> RequestError {
        try #require(await failure(of: operation) as? RequestError)
    }

    @Test func `An error names method location and id of its request`() async throws {
        let request = try Self.request("PUT", "http://u:secret@a.example:8080/x/y?sig=secret#secret")
        let operation = URLRequestOperation(request, configuration: Self.configuration([.status(404)]))
        let error = try await Self.error(operation)
        #expect(error.method == "PUT" && error.location == "http://a.example:8080/x/y")
        #expect(error.requestID == operation.id)
        #expect(
            error.description == "unacceptableStatus in validate, PUT http://a.example:8080/x/y, status 404"
                + " (request \(operation.id); not retried: not a passing failure)")
    }

    @Test func `So do the errors of its attempts`() async throws {
        let operation = URLRequestOperation(
            anyRequest, configuration: Self.configuration([.error(.connectionLost), .failure(URLError(.timedOut))]))
        let error = try await Self.error(operation)
        #expect(error.attempts.count == 4)
        for attempt in error.attempts {
            let error = try #require(attempt.error as? RequestError)
            #expect(error.requestID == operation.id && error.location == "http://example.invalid/path")
            #expect(error.method == "GET" && error.notRetried == nil)
        }
    }

    @Test(arguments: [RequestError.Code.connectionLost, .cannotConnect, .bodyTooLarge, .untrustedCertificate])
    func `An error of a transport names its request`(code: RequestError.Code) async throws {
        let operation = URLRequestOperation(anyRequest, configuration: Self.configuration([.error(code)]))
        let error = try await Self.error(operation)
        #expect(error.code == code && error.requestID == operation.id && error.method == "GET")
    }

    @Test func `The request is named as the adapters made it`() async throws {
        var configuration = Self.configuration([.status(404)])
        configuration.adapters = [
            .baseURL(try #require(URL(string: "https://a.example/api"))), .edit { $0.httpMethod = "PUT" },
        ]
        let error = try await Self.error(
            URLRequestOperation(try Self.request("GET", "users?token=1"), configuration: configuration))
        #expect(error.method == "PUT" && error.location == "https://a.example/api/users")
    }

    /// An operation whose adapter sends a request for a token, which is answered in a way.
    private static func operation(withLogin answers: [ScriptedTransport.Answer]) throws -> URLRequestOperation<Data> {
        let inner = try Self.request("POST", "http://u:secret@login.example/token?secret")
        var configuration = Self.configuration([.body(Data())])
        configuration.adapters = [
            RequestAdapter { request in
                _ = try await run(URLRequestOperation(inner, configuration: Self.configuration(answers)))
                return request
            }
        ]
        return URLRequestOperation(anyRequest, configuration: configuration)
    }

    @Test func `An error of another request out of an adapter is one of this request`() async throws {
        let operation = try Self.operation(withLogin: [.status(403)])
        let error = try await Self.error(operation)
        #expect(error.code == .unacceptableStatus && error.requestID == operation.id)
        #expect(error.location == "http://example.invalid/path")
    }

    @Test func `Its description names the other request`() async throws {
        let operation = try Self.operation(withLogin: [.status(403)])
        let error = try await Self.error(operation)
        #expect(
            error.description == "unacceptableStatus in validate, GET http://example.invalid/path,"
                + " in POST http://login.example/token, status 403"
                + " (request \(operation.id); not retried: not a passing failure)")
    }

    @Test func `So does that of its attempt`() async throws {
        let operation = try Self.operation(withLogin: [.status(403)])
        let final = try await Self.error(operation)
        let error = try #require(final.attempts.last?.error as? RequestError)
        #expect(
            error.description == "unacceptableStatus in validate, GET http://example.invalid/path,"
                + " in POST http://login.example/token, status 403 (request \(operation.id))")
    }

    @Test func `Its sentence names the host of the other request`() async throws {
        let refused = try await Self.error(Self.operation(withLogin: [.status(403)]))
        #expect(refused.localizedDescription == "The server login.example does not allow the request (status 403).")
        let broken = try await Self.error(Self.operation(withLogin: [.error(.untrustedCertificate)]))
        #expect(broken.localizedDescription == "The identity of the server login.example could not be verified.")
    }

    @Test func `A deadline names its request`() async throws {
        let clock = ManualClock()
        var configuration = Self.configuration([.status(503)])
        configuration.clock = clock
        configuration.deadline = .seconds(5)
        configuration.retryPolicy.backoff = .constant(.seconds(60))
        configuration.retryDeciders = [RetryDecider { _, _ in .retry(after: .seconds(60)) }]
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(2)
        clock.advance(by: .seconds(5))
        let error = try #require(await #expect(throws: RequestError.self) { try await operation.value })
        #expect(error.code == .timedOut && error.requestID == operation.id && error.notRetried == "the deadline")
    }

    @Test func `The description says where a redirect led`() async throws {
        let answers: [ScriptedTransport.Answer] = [
            .status(302, fields: [("Location", "http://b.example/y?sig=secret")]), .status(404),
        ]
        let error = try await Self.error(URLRequestOperation(anyRequest, configuration: Self.configuration(answers)))
        #expect(
            error.description.hasPrefix(
                "unacceptableStatus in validate, GET http://example.invalid/path, redirected to http://b.example/y,"
                    + " status 404 ("))
    }

    @Test func `The sentence names the host that a redirect led to`() async throws {
        var configuration = Self.configuration([
            .status(302, fields: [("Location", "http://b.example/y")]), .error(.cannotConnect),
        ])
        configuration.retryPolicy.maximumRetries = 0
        let error = try await Self.error(URLRequestOperation(anyRequest, configuration: configuration))
        #expect(error.localizedDescription == "No connection to the server b.example could be made.")
    }

    // MARK: Events

    @Test func `Every step of a request is printed as a line that can be read`() async throws {
        let lines = Collector<String>()
        var configuration = Self.configuration([
            .status(503), .status(302, fields: [("Location", "/next?sig=secret")]), .body(Data()),
        ])
        configuration.onEvent = { event in
            var line = ""
            print(event.id, event.step, to: &line)
            lines.append(line)
        }
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        _ = try await run(operation)
        await end(of: operation)
        let expected = [
            "began", "attempt 1 began", "head: 503 (0 fields)",
            "failed: attempt 1: unacceptableStatus in validate, GET http://example.invalid/path, status 503"
                + " (request \(operation.id))",
            "decided: retry after 0.0 seconds", "waits 0.0 seconds", "woke: backoff", "attempt 2 began",
            "redirected from http://example.invalid/path to http://example.invalid/next", "head: 200 (0 fields)",
        ]
        await lines.count(expected.count)
        #expect(lines.elements.prefix(expected.count) == expected.map { "\(operation.id) \($0)\n" }[...])
    }
}
