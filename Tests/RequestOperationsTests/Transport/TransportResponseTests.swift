import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct TransportResponseTests {
    // The request has a URL.
    private static let head = ResponseHead(status: 200, url: anyRequest.url!)

    @Test func `The size is that of the body unless given`() {
        #expect(TransportResponse(head: Self.head, body: Data("abc".utf8)).bodySize == 3)
        #expect(TransportResponse(head: Self.head, bodySize: 7).bodySize == 7)
    }

    @Test func `Of new timings nothing is known`() {
        let timings = TransferTimings()
        #expect(timings.total == nil && timings.connectionWasReused == nil && !timings.wasReplayed)
    }

    @Test func `A copy has timings of its own`() {
        var timings = TransferTimings()
        timings.total = .seconds(1)
        let response = TransportResponse(head: Self.head, timings: timings)
        var copy = response
        copy.timings?.total = .seconds(2)
        #expect(response.timings?.total == .seconds(1) && copy.timings?.total == .seconds(2))
    }
}
