import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct JSONRequestTests {
    private let url = URL(string: "http://example.invalid/a")!  // A literal that is a URL.

    @Test func `A value becomes the body`() async throws {
        let transport = ScriptedTransport([.body(Data("[2]".utf8))])
        let operation = try URLRequestOperation(
            url, method: .patch, json: ["a": 1], decoder: .json([Int].self), configuration: .over(transport))
        #expect(try await run(operation) == [2])
        let request = try #require(transport.requests.first)
        #expect(request.httpMethod == "PATCH" && request.httpBody == Data(#"{"a":1}"#.utf8))
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
    }

    @Test func `A value that has no JSON is an error`() {
        let error = #expect(throws: RequestError.self) { try URLRequestOperation(url, json: [Double.infinity]) }
        #expect(error?.code == .unencodableBody && error?.underlying is EncodingError && error?.method == "POST")
    }
}
