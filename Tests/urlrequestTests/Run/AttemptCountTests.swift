import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct AttemptCountTests {
    @Test func `A first attempt has its place from the beginning`() {
        #expect(count(after: [.began, .attemptBegan(1)]).begun == 1)
    }

    @Test func `A first attempt that waits for its host was not begun`() {
        #expect(count(after: [.began, .attemptBegan(1), .waits(.seconds(1))]).begun == 0)
        #expect(count(after: [.began, .attemptBegan(1), .waits(.seconds(1)), .woke(.backoff)]).begun == 0)
    }

    @Test func `It is begun when it has a place again`() {
        let steps: [RequestEvent.Step] = [
            .attemptBegan(1), .waits(.seconds(1)), .woke(.backoff), .waitsForSlot, .gotSlot(waited: .zero),
        ]
        #expect(count(after: steps).begun == 1)
    }

    @Test func `A retry is begun when it gets its place`() {
        let failed: [RequestEvent.Step] = [.attemptBegan(1), .redirected(from: url, to: url), .waits(.seconds(1))]
        let second: [RequestEvent.Step] = [.woke(.backoff), .attemptBegan(2), .waitsForSlot]
        #expect(count(after: failed + second).begun == 1)
        #expect(count(after: failed + second + [.gotSlot(waited: .zero)]).begun == 2)
    }

    @Test func `A retry is told of once, however often it waits for a place`() {
        var count = AttemptCount()
        let steps: [RequestEvent.Step] = [
            .attemptBegan(1), .redirected(from: url, to: url), .waits(.seconds(1)), .woke(.backoff), .attemptBegan(2),
            .waitsForSlot, .gotSlot(waited: .zero), .waits(.seconds(1)), .woke(.backoff), .waitsForSlot,
            .gotSlot(waited: .zero),
        ]
        #expect(steps.map { count.note($0) }.count { $0 } == 1)
    }

    // A literal that is a URL.
    private let url = URL(string: "http://a.example/")!

    private func count(after steps: [RequestEvent.Step]) -> AttemptCount {
        var count = AttemptCount()
        for step in steps { _ = count.note(step) }
        return count
    }
}
