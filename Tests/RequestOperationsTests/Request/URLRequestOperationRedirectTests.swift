import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct URLRequestOperationRedirectTests {
    @Test func `A redirect is followed and only the last head is validated`() async throws {
        let transport = ScriptedTransport([
            .status(302, fields: [("Location", "/next?a=1")]), .body(Data("x".utf8)),
        ])
        let operation = Staged(.over(transport))
        _ = try await run(operation)
        #expect(
            transport.requests.map { $0.url?.absoluteString } == [
                "http://example.invalid/path?secret=1", "http://example.invalid/next?a=1",
            ])
        #expect(operation.calls.elements == ["process", "makeTask", "validate 200", "validate 1 bytes", "decode 1"])
        #expect(operation.attempts.first?.redirects.map(\.absoluteString) == ["http://example.invalid/next?a=1"])
    }

    @Test func `A post that was redirected is not sent again when the next hop fails`() async throws {
        var request = anyRequest
        request.httpMethod = "POST"
        let transport = ScriptedTransport([.status(303, fields: [("Location", "/next")]), .error(.cannotConnect)])
        let error = await failure(of: URLRequestOperation(request, configuration: .over(transport))) as? RequestError
        #expect(error?.code == .cannotConnect)
        #expect(transport.requests.map(\.httpMethod) == ["POST", "GET"])
    }

    @Test func `Credentials are not sent to another origin`() async throws {
        let transport = ScriptedTransport([
            .status(307, fields: [("Location", "http://other.invalid/")]), .body(Data()),
        ])
        var request = anyRequest
        for field in ["Authorization", "Cookie", "Proxy-Authorization", "X-Kept"] {
            request.setValue("secret", forHTTPHeaderField: field)
        }
        _ = try await run(URLRequestOperation(request, configuration: .over(transport)))
        #expect(transport.requests.last?.allHTTPHeaderFields == ["X-Kept": "secret"])
    }

    @Test func `A policy without redirects takes them as responses`() async throws {
        var configuration = RequestConfiguration.scripted([.status(302, fields: [("Location", "/next")])])
        configuration.redirects = .none
        let error = await failure(of: URLRequestOperation(anyRequest, configuration: configuration)) as? RequestError
        #expect(error?.code == .unacceptableStatus && error?.head?.status == 302)
    }
}
