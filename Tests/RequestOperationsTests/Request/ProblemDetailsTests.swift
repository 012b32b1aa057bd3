import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct ProblemDetailsTests {
    // The example of RFC 9457, section 3, with the order of its members.
    private static let example = #"""
        {"type": "https://example.com/probs/out-of-credit", "title": "You do not have enough credit.",
         "detail": "Your current balance is 30, but that costs 50.", "instance": "/account/12345/msgs/abc",
         "balance": 30, "accounts": ["/account/12345", "/account/67890"]}
        """#

    private func problem(_ body: String, _ type: String? = "application/problem+json") throws -> ProblemDetails? {
        let url = try #require(URL(string: "http://a.example/"))
        let fields = type.map { [(name: "Content-Type", value: $0)] } ?? []
        let head = ResponseHead(status: 403, url: url, fields: fields)
        return RequestError(.unacceptableStatus, stage: .validate, head: head, bodyPrefix: Data(body.utf8)).problem
    }

    @Test func `Its members are read and others passed over`() throws {
        let problem = try #require(try problem(Self.example))
        #expect(problem.type == "https://example.com/probs/out-of-credit" && problem.status == nil)
        #expect(problem.title == "You do not have enough credit.")
        #expect(problem.detail == "Your current balance is 30, but that costs 50.")
        #expect(problem.instance == "/account/12345/msgs/abc")
    }

    @Test func `A member of another type is as if it were missing`() throws {
        let problem = try #require(try problem(#"{"status": "403", "title": 7, "detail": "d"}"#))
        #expect(problem.status == nil && problem.title == nil && problem.detail == "d")
    }

    @Test(arguments: ["application/problem+json", "Application/Problem+JSON; charset=utf-8"])
    func `The media type tells that it is one`(_ type: String) throws {
        #expect(try problem(#"{"status": 403}"#, type)?.status == 403)
    }

    @Test(arguments: ["application/json", "application/problem+xml", "text/plain", nil])
    func `With another media type there is none`(_ type: String?) throws {
        #expect(try problem(Self.example, type) == nil)
    }

    /// A refused response whose body is longer than what an error keeps of it.
    private func refusal() throws -> any Error {
        let url = try #require(URL(string: "http://a.example/"))
        let head = ResponseHead(status: 403, url: url, fields: [("Content-Type", "application/problem+json")])
        let body = Data((#"{"detail": "d", "padding": ""# + String(repeating: "x", count: 5000) + #""}"#).utf8)
        return TransferFailure(
            RequestError(.unacceptableStatus, stage: .validate, head: head), head: head, bodyPrefix: body, phase: .body)
    }

    @Test func `A problem of a long body stays with the error that a decoder made of it`() throws {
        struct Refusal: Error {}
        let explained = ErrorBodyDecoder { _, _ in Refusal() }.explained(ProblemDetails.noted(in: try refusal()))
        let error = try #require((explained as? TransferFailure)?.error as? RequestError)
        #expect(error.underlying is Refusal && error.problem?.detail == "d")
    }

    @Test func `What an error says of its request stays too`() throws {
        var refused = try #require(try refusal() as? TransferFailure)
        let id = RequestID()
        let error = try #require(refused.error as? RequestError)
        refused.error = error.about(anyRequest, id)
        let explained = ErrorBodyDecoder { _, _ in nil }.explained(refused)
        #expect(((explained as? TransferFailure)?.error as? RequestError)?.requestID == id)
    }

    @Test(arguments: ["", "[]", "{", #""text""#])
    func `What is no object is none`(_ body: String) throws {
        #expect(try problem(body) == nil)
    }
}
