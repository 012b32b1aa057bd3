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
    func aSafeMethodIsHedged(method: String) {
        #expect(Hedging.allows(Self.task(method)))
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "CONNECT", "PROPFIND", ""])
    func anyOtherMethodIsNot(method: String) {
        #expect(!Hedging.allows(Self.task(method)))
    }

    @Test func aBodyThatCanBeSentOnceOnlyIsNotHedged() {
        let body = RequestBody.stream(BodyStream(reading: InputStream(data: Data("x".utf8))))
        #expect(!Hedging.allows(Self.task("QUERY", body)))
    }

    @Test func aBodyThatCanBeSentAgainIs() {
        #expect(Hedging.allows(Self.task("QUERY", .data(Data("x".utf8)))))
    }

    @Test func aDownloadToAFileIsNotHedged() {
        #expect(!Hedging.allows(.download(anyRequest, to: URL(fileURLWithPath: "/nowhere"))))
    }

    @Test func aStreamIsNotHedged() {
        #expect(!Hedging.allows(.stream(anyRequest) { _ in }))
    }

    @Test func aTaskThatIsCarriedOutInAWayOfItsOwnIsNotHedged() {
        #expect(!Hedging.allows(.custom(anyRequest) { try await $1.perform($0, onHead: $2) }))
    }

    @Test func thereIsNoHedgingByDefault() {
        #expect(RequestConfiguration().hedging == nil)
    }

    @Test func anAttemptHasOneHedgeByDefault() {
        #expect(Hedging(delay: .seconds(1)).maximumHedges == 1)
    }
}
