import RequestOperations
import Testing

@Suite struct AttemptFailureTests {
    private static let request = URLRequest(url: URL(string: "https://a.example/")!)  // A literal that is a URL.
    private static let head = ResponseHead(status: 503, url: URL(string: "https://a.example/")!)

    @Test func theCodeIsThatOfTheError() {
        #expect(AttemptFailure(RequestError(.timedOut, stage: .transfer), request: Self.request).code == .timedOut)
    }

    @Test func theCodeOfAForeignErrorIsThatOfItsStage() {
        struct Mine: Error {}
        #expect(AttemptFailure(Mine(), request: Self.request, stage: .process).code == .stageFailed)
        #expect(AttemptFailure(Mine(), request: Self.request, stage: .decode).code == .undecodable)
    }

    @Test func theHeadIsThatOfTheErrorUnlessGiven() {
        let error = RequestError(.unacceptableStatus, stage: .validate, head: Self.head)
        #expect(AttemptFailure(error, request: Self.request).head?.status == 503)
        let other = ResponseHead(status: 429, url: Self.head.url)
        #expect(AttemptFailure(error, request: Self.request, head: other).head?.status == 429)
    }

    @Test func theBackoffStepIsTheAttemptUnlessGiven() {
        let error = RequestError(.timedOut, stage: .transfer)
        #expect(AttemptFailure(error, attempt: 4, request: Self.request).backoffStep == 4)
        #expect(AttemptFailure(error, attempt: 4, request: Self.request, backoffStep: 2).backoffStep == 2)
    }
}
