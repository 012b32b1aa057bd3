import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct HedgingTests {
    private static func task(_ method: String?, _ body: RequestBody = .none) -> TransportTask {
        var request = anyRequest
        request.httpMethod = method
        return TransportTask(request, body: body)
    }

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "get", "Query"])
    func `A safe method is hedged`(method: String) {
        #expect(Hedging.allows(Self.task(method)))
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "CONNECT", "PROPFIND", ""])
    func `Any other method is not`(method: String) {
        #expect(!Hedging.allows(Self.task(method)))
    }

    @Test func `A body that can be sent once only is not hedged`() {
        let body = RequestBody.stream(BodyStream(reading: InputStream(data: Data("x".utf8))))
        #expect(!Hedging.allows(Self.task("QUERY", body)))
    }

    @Test func `A body that can be sent again is`() {
        #expect(Hedging.allows(Self.task("QUERY", .data(Data("x".utf8)))))
    }

    @Test func `A download to a file is not hedged`() {
        #expect(!Hedging.allows(.download(anyRequest, to: URL(fileURLWithPath: "/nowhere"))))
    }

    @Test func `A stream is not hedged`() {
        #expect(!Hedging.allows(.stream(anyRequest) { _ in }))
    }

    @Test func `A task that is carried out in a way of its own is not hedged`() {
        #expect(!Hedging.allows(.custom(anyRequest) { try await $1.perform($0, onHead: $2) }))
    }

    @Test func `There is no hedging by default`() {
        #expect(RequestConfiguration().hedging == nil)
    }
}
