import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct AttemptFailureTests {
    private static let request = URLRequest(url: URL(string: "https://a.example/")!)  // A literal that is a URL.
    private static let head = ResponseHead(status: 503, url: URL(string: "https://a.example/")!)

    @Test func `The code is that of the error`() {
        #expect(AttemptFailure(RequestError(.timedOut, stage: .transfer), request: Self.request).code == .timedOut)
    }

    @Test func `The code of a foreign error is that of its stage`() {
        struct Mine: Error {}
        #expect(AttemptFailure(Mine(), request: Self.request, stage: .process).code == .stageFailed)
        #expect(AttemptFailure(Mine(), request: Self.request, stage: .decode).code == .undecodable)
    }

    @Test func `The head is that of the error unless given`() {
        let error = RequestError(.unacceptableStatus, stage: .validate, head: Self.head)
        #expect(AttemptFailure(error, request: Self.request).head?.status == 503)
        let other = ResponseHead(status: 429, url: Self.head.url)
        #expect(AttemptFailure(error, request: Self.request, head: other).head?.status == 429)
    }

    @Test(arguments: [-360, 0, 360])
    func `A date to retry after counts from that of the response`(skew: Double) throws {
        let fields = [("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Retry-After", "Sun, 06 Nov 1994 08:50:07 GMT")]
        let served = try #require(HTTPDate.parse(fields[0].1, now: Date()))
        let head = ResponseHead(status: 503, url: Self.head.url, fields: fields)
        let error = RequestError(.unacceptableStatus, stage: .validate, head: head)
        let failure = AttemptFailure(error, request: Self.request, date: served + skew)
        #expect(failure.retryAfter == .seconds(30))
    }

    @Test(arguments: ["", "yesterday"])
    func `Without a date of the response it counts from that of the failure`(date: String) throws {
        let later = "Sun, 06 Nov 1994 08:50:07 GMT"
        let head = ResponseHead(status: 503, url: Self.head.url, fields: [("Date", date), ("Retry-After", later)])
        let error = RequestError(.unacceptableStatus, stage: .validate, head: head)
        let seen = try #require(HTTPDate.parse(later, now: Date())) - 20
        #expect(AttemptFailure(error, request: Self.request, date: seen).retryAfter == .seconds(20))
    }

    @Test func `The backoff step is the attempt unless given`() {
        let error = RequestError(.timedOut, stage: .transfer)
        #expect(AttemptFailure(error, attempt: 4, request: Self.request).backoffStep == 4)
        #expect(AttemptFailure(error, attempt: 4, request: Self.request, backoffStep: 2).backoffStep == 2)
    }
}
