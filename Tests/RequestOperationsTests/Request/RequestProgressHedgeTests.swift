import RequestOperationsTesting
import Testing

@testable import RequestOperations

/// What is known of attempts that run beside each other.
@Suite(.timeLimit(.minutes(15))) struct RequestProgressHedgeTests: ProgressTests {
    let clock = ManualClock()
    private let url = URL(string: "http://example.invalid/next")!  // A literal that is a URL.

    private func hedge(_ progress: inout RequestProgress) -> Int? {
        progress.beginHedge(.data(anyRequest), holding: HeldByAttempt(), beside: 1, at: now, on: .distantPast)
    }

    @Test func aHedgeHasANumberOfItsOwn() {
        var progress = inAttempt(.transfer)
        #expect(hedge(&progress) == 2 && hedge(&progress) == 3)
        #expect(progress.attempts.map(\.isHedge) == [false, true, true])
    }

    @Test func afterTheHeadOfAResponseThereIsNoHedge() {
        var progress = inAttempt(.transfer)
        _ = progress.receive(head(503), in: 1)
        #expect(hedge(&progress) == nil)
    }

    @Test func afterARedirectThereIsNoHedge() {
        var progress = inAttempt(.transfer)
        _ = progress.follow(url, in: 1)
        #expect(hedge(&progress) == nil)
    }

    @Test func afterTheHeadOfAHedgeThereIsNoOther() {
        var progress = inAttempt(.transfer)
        _ = hedge(&progress)
        _ = progress.receive(head(503), in: 2)
        #expect(hedge(&progress) == nil)
    }

    @Test func afterTheRequestWasStoppedThereIsNoHedge() {
        var progress = inAttempt(.transfer)
        progress.stop()
        #expect(hedge(&progress) == nil)
    }

    @Test func aHedgeOfAnEarlierAttemptIsNotBegun() {
        var progress = inAttempt(.transfer)
        _ = progress.fail(Problem(), deadline: nil, at: now)
        _ = progress.beginAttempt(after: nil, at: now, on: .distantPast)
        #expect(hedge(&progress) == nil)
    }

    @Test func whatAHedgeReceivesIsItsOwn() {
        var progress = inAttempt(.transfer)
        _ = hedge(&progress)
        let isReceived = progress.receive(head(503), in: 2)
        #expect(isReceived)
        #expect(progress.stage == .transfer && progress.known.head == nil)
        #expect(progress.attempts.map(\.status) == [nil, 503])
    }

    @Test func whoLeadsBringsAllThatIsKnownOfIt() {
        var progress = inAttempt(.transfer)
        _ = hedge(&progress)
        _ = progress.follow(url, in: 2)
        _ = progress.receive(head(200), in: 2)
        _ = progress.lead(2, at: now)
        #expect(progress.stage == .validate && progress.known.head?.status == 200 && progress.known.wasRedirected)
        #expect(progress.attempts[1].redirects == [url] && progress.attempts[0].redirects.isEmpty)
        #expect(progress.attempts[0].error is CancellationError && progress.attempts[1].ended == nil)
    }

    @Test func whoLostEntersNoStage() {
        var progress = inAttempt(.transfer)
        _ = hedge(&progress)
        _ = progress.lead(2, at: now)
        let entersLost = progress.enter(.transfer, in: 1)
        let enters = progress.enter(.transfer, in: 2)
        #expect(!entersLost && enters)
    }

    @Test func aLostHedgeIsNoAttemptThatEndsAgain() {
        var progress = inAttempt(.transfer)
        _ = hedge(&progress)
        _ = progress.lead(1, at: now)
        clock.advance(by: .seconds(1))
        progress.endAttempt(nil, at: now)
        #expect(progress.attempts.map(\.ended) == [.seconds(1), .zero])
    }

    @Test func aFailureBesideAnotherAttemptLeavesTheBackoffWhereItIs() {
        var progress = inAttempt(.transfer)
        _ = hedge(&progress)
        let beside = progress.failBeside(1, Problem(), deadline: nil, at: now, in: .shared)
        #expect(beside?.attempt == 1 && beside?.backoffStep == 1)
        _ = progress.lead(2, at: now)
        let failure = progress.fail(Problem(), deadline: nil, at: now)
        #expect(failure.attempt == 2 && failure.backoffStep == 1 && failure.uncounted == 1)
    }

    @Test func whoHasEndedFailsNoMore() {
        var progress = inAttempt(.transfer)
        _ = hedge(&progress)
        _ = progress.failBeside(2, Problem(), deadline: nil, at: now, in: .shared)
        let second = progress.failBeside(2, Problem(), deadline: nil, at: now, in: .shared)
        #expect(second == nil)
    }

    @Test func hedgesDoNotCountForTheMaximumOfRetries() {
        var progress = inAttempt(.transfer)
        _ = hedge(&progress)
        _ = progress.lead(1, at: now)
        #expect(progress.fail(Problem(), deadline: nil, at: now).uncounted == 0)
        _ = progress.beginAttempt(after: nil, at: now, on: .distantPast)
        let failure = progress.fail(Problem(), deadline: nil, at: now)
        #expect(failure.attempt == 3 && failure.attempt - failure.uncounted == 2)
    }

    @Test func theEndOfTheRequestEndsAllAttempts() {
        var progress = inAttempt(.transfer)
        _ = hedge(&progress)
        let error = progress.finalError(Problem(), stage: .transfer, endingAttemptAt: now)
        #expect(error.attempts.count == 2 && error.attempts.allSatisfy { $0.ended != nil && $0.error is Problem })
    }

    @Test func whetherAHeadWasAcceptedIsToldOfEachAttempt() {
        var progress = inAttempt(.transfer)
        _ = hedge(&progress)
        _ = progress.receive(head(200), in: 1)
        _ = progress.enter(.transfer, in: 1)
        #expect(progress.hasAcceptedHead(in: 1) && !progress.hasAcceptedHead(in: 2))
    }

    @Test(arguments: [1, 10, 11, 150])
    func anAttemptIsKeptWithAllTheHedgesThatItMayHave(number: Int) {
        var progress = inAttempt(.transfer)
        for _ in 1..<number {
            _ = progress.fail(Problem(), deadline: nil, at: now)
            _ = progress.beginAttempt(after: nil, at: now, on: .distantPast)
        }
        _ = progress.enter(.transfer, in: number)
        for _ in 0..<Attempt.mostHedges {
            _ = progress.beginHedge(
                .data(anyRequest), holding: HeldByAttempt(), beside: number, at: now, on: .distantPast)
        }
        #expect(progress.awaitsAnswer(number) && progress.attempts.count { $0.isHedge } == Attempt.mostHedges)
    }

    @Test func ofManyAttemptsTheLeadingOneIsFound() {
        var progress = inAttempt(.transfer)
        for _ in 0..<150 {
            _ = progress.fail(Problem(), deadline: nil, at: now)
            _ = progress.beginAttempt(after: nil, at: now, on: .distantPast)
        }
        let hedge = progress.beginHedge(
            .data(anyRequest), holding: HeldByAttempt(), beside: 151, at: now, on: .distantPast)
        _ = progress.receive(head(200), in: 151)
        #expect(hedge == 152 && progress.attempts.count == 100)
        #expect(progress.attempts.suffix(2).map(\.status) == [200, nil])
    }
}
