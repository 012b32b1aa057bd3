import RequestOperationsTesting
import Testing

@testable import RequestOperations

/// What is known of attempts that run beside each other.
@Suite(.timeLimit(.minutes(15))) struct RequestStateHedgeTests: RequestStateFixture {
    let clock = ManualClock()
    private let url = URL(string: "http://example.invalid/next")!  // A literal that is a URL.

    private func hedge(_ state: inout RequestState) -> Int? {
        state.beginHedge(.data(anyRequest), holding: AttemptRights(), beside: 1, at: now, on: .distantPast)
    }

    @Test func `An attempt has one hedge with a number of its own`() {
        var state = inAttempt(.transfer)
        #expect(hedge(&state) == 2 && hedge(&state) == nil)
        #expect(state.log.records.map(\.isHedge) == [false, true])
    }

    @Test func `After the head of a response there is no hedge`() {
        var state = inAttempt(.transfer)
        _ = state.receive(head(503), in: 1)
        #expect(hedge(&state) == nil)
    }

    @Test func `After a redirect there is no hedge`() {
        var state = inAttempt(.transfer)
        _ = state.follow(url, after: head(302), sending: anyRequest, in: 1, at: .zero)
        #expect(hedge(&state) == nil)
    }

    @Test func `After the request was stopped there is no hedge`() {
        var state = inAttempt(.transfer)
        state.stop()
        #expect(hedge(&state) == nil)
    }

    @Test func `A hedge of an earlier attempt is not begun`() {
        var state = inAttempt(.transfer)
        fail(&state)
        begin(&state)
        #expect(hedge(&state) == nil)
    }

    @Test func `What a hedge receives is its own`() {
        var state = inAttempt(.transfer)
        _ = hedge(&state)
        let isReceived = state.receive(head(503), in: 2)
        #expect(isReceived)
        #expect(state.stage == .transfer && state.attempt()?.head == nil)
        #expect(state.log.records.map(\.status) == [nil, 503])
    }

    @Test func `Who leads brings all that is known of it`() {
        var state = inAttempt(.transfer)
        _ = hedge(&state)
        _ = state.follow(url, after: head(302), sending: anyRequest, in: 2, at: .zero)
        _ = state.receive(head(200), in: 2)
        _ = state.lead(2, at: now)
        #expect(state.stage == .validate && state.attempt()?.head?.status == 200)
        #expect(state.log.records[1].redirects == [url] && state.log.records[0].redirects.isEmpty)
        #expect(state.log.records[0].error is CancellationError && state.log.records[1].ended == nil)
    }

    @Test func `Who lost enters no stage`() {
        var state = inAttempt(.transfer)
        _ = hedge(&state)
        _ = state.lead(2, at: now)
        let entersLost = state.enter(.transfer, in: 1)
        let enters = state.enter(.transfer, in: 2)
        #expect(!entersLost && enters)
    }

    @Test func `A lost hedge is no attempt that ends again`() {
        var state = inAttempt(.transfer)
        _ = hedge(&state)
        _ = state.lead(1, at: now)
        clock.advance(by: .seconds(1))
        _ = state.succeed(at: now)
        #expect(state.log.records.map(\.ended) == [.seconds(1), .zero])
    }

    @Test func `A failure beside another attempt leaves the backoff where it is`() {
        var state = inAttempt(.transfer)
        _ = hedge(&state)
        let beside = state.failBeside(1, Problem(), in: context())
        #expect(beside?.attempt == 1 && beside?.backoffStep == 1)
        _ = state.lead(2, at: now)
        let failure = fail(&state)
        #expect(failure.attempt == 2 && failure.backoffStep == 1 && failure.uncounted == 1)
    }

    @Test func `Who has ended fails no more`() {
        var state = inAttempt(.transfer)
        _ = hedge(&state)
        _ = state.failBeside(2, Problem(), in: context())
        let second = state.failBeside(2, Problem(), in: context())
        #expect(second == nil)
    }

    @Test func `Hedges do not count for the maximum of retries`() {
        var state = inAttempt(.transfer)
        _ = hedge(&state)
        _ = state.lead(1, at: now)
        #expect(fail(&state).uncounted == 0)
        begin(&state)
        let failure = fail(&state)
        #expect(failure.attempt == 3 && failure.attempt - failure.uncounted == 2)
    }

    @Test func `The end of the request ends all attempts`() {
        var state = inAttempt(.transfer)
        _ = hedge(&state)
        state.endAttempts(Problem(), at: now)
        let error = state.finalError(Problem(), stage: .transfer)
        #expect(error.attempts.count == 2 && error.attempts.allSatisfy { $0.ended != nil && $0.error is Problem })
    }

    @Test func `Whether a head was accepted is told of each attempt`() {
        var state = inAttempt(.transfer)
        _ = hedge(&state)
        _ = state.receive(head(200), in: 1)
        _ = state.enter(.transfer, in: 1)
        #expect(state.attempt(1)?.hasAcceptedHead == true && state.attempt(2)?.hasAcceptedHead == false)
    }

    @Test func `Of many attempts the leading one is found`() {
        var state = inAttempt(.transfer)
        for _ in 0..<150 {
            fail(&state)
            begin(&state)
        }
        let hedge = state.beginHedge(
            .data(anyRequest), holding: AttemptRights(), beside: 151, at: now, on: .distantPast)
        _ = state.receive(head(200), in: 151)
        #expect(hedge == 152 && state.log.records.count == 100)
        #expect(state.log.records.suffix(2).map(\.status) == [200, nil])
    }
}
