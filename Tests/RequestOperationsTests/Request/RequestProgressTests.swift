import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct RequestProgressTests: ProgressTests {
    let clock = ManualClock()

    // MARK: Time

    @Test func timeRunsFromTheMomentOfReadiness() {
        var progress = RequestProgress(anyRequest)
        clock.advance(by: .seconds(9))
        #expect(progress.elapsed(at: now) == .zero)
        progress.becameReady(at: now)
        clock.advance(by: .seconds(2))
        #expect(progress.elapsed(at: now) == .seconds(2))
    }

    @Test func aSecondReadinessDoesNotStartTheTimeAgain() {
        var progress = inAttempt()
        clock.advance(by: .seconds(2))
        progress.becameReady(at: now)
        #expect(progress.elapsed(at: now) == .seconds(2))
    }

    @Test func whoIsUnreadyAgainHasItsTimeBack() {
        var progress = inAttempt()
        clock.advance(by: .seconds(2))
        progress.becameUnready()
        progress.becameReady(at: now)
        #expect(progress.elapsed(at: now) == .zero)
    }

    @Test func theWaitOfTheFirstAttemptForAConnectionIsNoTimeSinceSending() {
        var progress = inAttempt()
        _ = progress.beginSending(with: HeldByAttempt(), at: now)
        _ = progress.enter(.transfer)
        clock.advance(by: .seconds(400))
        var timings = TransferTimings()
        timings.requestSent = .seconds(397)
        let failure = progress.fail(
            TransferFailure(Problem(), phase: .head, timings: timings), deadline: .seconds(500), at: now)
        #expect(failure.elapsed == .seconds(3) && failure.timeLeft == .seconds(100))
    }

    // MARK: Attempts

    @Test func attemptsAreNumberedAndTellWhatWokeThem() {
        var progress = inAttempt()
        clock.advance(by: .seconds(3))
        let second = progress.beginAttempt(
            after: Wake(waited: .seconds(2), reason: .retryNow, knownEnd: .zero), at: now, on: .distantPast)
        #expect(second?.attempt == 2)
        #expect(progress.attempts.map(\.began) == [.zero, .seconds(3)])
        #expect(progress.attempts[1].waited == .seconds(2) && progress.attempts[1].wokenBy == .retryNow)
    }

    @Test func anAttemptEndsOnce() {
        var progress = inAttempt()
        progress.endAttempt(nil, at: now)
        clock.advance(by: .seconds(1))
        progress.endAttempt(Problem(), at: now)
        #expect(progress.attempts[0].ended == .zero && progress.attempts[0].error == nil)
    }

    @Test func aHeadGivesTheAttemptItsStatus() {
        var progress = inAttempt()
        _ = progress.receive(head(204), in: 1)
        #expect(progress.attempts[0].status == 204)
    }

    @Test func aRedirectIsNotedAndItsHeadForgotten() throws {
        var progress = inAttempt()
        let target = try #require(URL(string: "http://example.invalid/next"))
        _ = progress.receive(head(302), in: 1) && progress.follow(target, in: 1)
        #expect(progress.attempts[0].redirects == [target])
        #expect(progress.known.head == nil && progress.known.wasRedirected)
    }

    @Test func anAttemptThatWasLeftBehindChangesNothing() {
        var progress = inAttempt()
        _ = progress.fail(Problem(), deadline: nil, at: now)
        #expect(!progress.enter(.validate, in: 1) && !progress.receive(head(200), in: 1))
        _ = progress.beginAttempt(after: nil, at: now, on: .distantPast)
        #expect(!progress.enter(.validate, in: 1) && !progress.receive(head(200), in: 1))
        #expect(progress.stage == .process && progress.attempts.allSatisfy { $0.status == nil })
    }

    @Test func whatIsKnownOfAnAttemptIsForgottenInTheNext() {
        var progress = inAttempt()
        _ = progress.note(TransportTask.data(anyRequest)) && progress.receive(head(503), in: 1)
        _ = progress.fail(Problem(), deadline: nil, at: now)
        _ = progress.beginAttempt(after: nil, at: now, on: .distantPast)
        #expect(progress.known.head == nil && progress.known.request == nil)
    }

    // MARK: The end

    @Test func aResponseOfAnAttemptThatWasLeftBehindIsNotNoted() {
        var progress = inAttempt()
        _ = progress.fail(Problem(), deadline: nil, at: now)
        _ = progress.beginAttempt(after: nil, at: now, on: .distantPast)
        let isNoted = progress.note(TransportResponse(head: head(200), bodySize: 7), in: 1)
        #expect(!isNoted && progress.attempts.allSatisfy { $0.bodySize == 0 })
    }

    @Test func aHeadIsAcceptedWhenItsValidationWasLeft() {
        var progress = inAttempt()
        _ = progress.enter(.transfer, in: 1)
        #expect(!progress.hasAcceptedHead(in: 1))
        _ = progress.receive(head(200), in: 1)
        #expect(!progress.hasAcceptedHead(in: 1))
        _ = progress.enter(.transfer, in: 1)
        #expect(progress.hasAcceptedHead(in: 1))
    }

    @Test func aStoppedRequestEntersNothingAndBeginsNoAttempt() {
        var progress = inAttempt()
        progress.stop()
        #expect(!progress.enter(.decode) && !progress.note(TransportTask.data(anyRequest)))
        #expect(
            !progress.note(TransportResponse(head: head(200)), in: 1)
                && progress.beginAttempt(after: nil, at: now, on: .distantPast) == nil)
    }

    // MARK: Failures

    @Test func aFailedAttemptTellsWhatTheDecisionNeeds() {
        var progress = inAttempt()
        _ = progress.enter(.decode)
        clock.advance(by: .seconds(3))
        let failure = progress.fail(Problem(), deadline: .seconds(10), at: now)
        #expect(failure.error is Problem && failure.attempt == 1 && failure.stage == .decode)
        #expect(failure.elapsed == .zero && !failure.wasSent && failure.timeLeft == .seconds(7))
    }

    @Test func theTimeOfAFailureRunsFromTheFirstSending() {
        var progress = inAttempt()
        clock.advance(by: .seconds(400))
        #expect(progress.elapsedSinceSending(at: now) == nil)
        #expect(progress.beginSending(with: HeldByAttempt(), at: now) == true)
        clock.advance(by: .seconds(3))
        let first = progress.fail(Problem(), deadline: .seconds(1000), at: now)
        #expect(first.elapsed == .seconds(3) && first.wasSent && first.timeLeft == .seconds(597))
        _ = progress.beginAttempt(after: nil, at: now, on: .distantPast)
        #expect(progress.beginSending(with: HeldByAttempt(), at: now) == false)
        clock.advance(by: .seconds(2))
        #expect(progress.fail(Problem(), deadline: nil, at: now).elapsed == .seconds(5))
    }

    @Test func theRequestOfAFailureIsTheProcessedOneIfThereIsOne() {
        var progress = inAttempt()
        var processed = anyRequest
        processed.httpMethod = "PUT"
        #expect(progress.fail(Problem(), deadline: nil, at: now).request == anyRequest)
        _ = progress.beginAttempt(after: nil, at: now, on: .distantPast)
        _ = progress.note(TransportTask.data(processed))
        #expect(progress.fail(Problem(), deadline: nil, at: now).request == processed)
    }

    @Test(arguments: RequestError.Stage.allCases)
    func whatFailedAfterTheSendingMayHaveBeenProcessed(stage: RequestError.Stage) {
        var progress = inAttempt()
        _ = progress.enter(stage)
        let before: [RequestError.Stage] = [.process, .makeTask, .wait, .slot]
        #expect(progress.fail(Problem(), deadline: nil, at: now).requestMayHaveBeenProcessed == !before.contains(stage))
    }

    @Test(arguments: [TransferFailure.Phase.connect, .head])
    func aTransportKnowsBetterWhetherTheRequestMayHaveBeenProcessed(phase: TransferFailure.Phase) {
        var progress = inAttempt()
        _ = progress.enter(.transfer)
        let failure = progress.fail(TransferFailure(Problem(), phase: phase), deadline: nil, at: now)
        #expect(failure.requestMayHaveBeenProcessed == (phase != .connect))
    }

    @Test func afterARedirectTheRequestWasProcessedWhateverTheTransportKnows() {
        var progress = inAttempt()
        _ = progress.follow(anyRequest.url!, in: 1)
        let failure = progress.fail(TransferFailure(Problem(), phase: .connect), deadline: nil, at: now)
        #expect(failure.requestMayHaveBeenProcessed)
    }

    @Test func aTransferFailureGivesUpItsCauseAndKeepsItsHead() {
        var progress = inAttempt()
        _ = progress.enter(.transfer)
        let thrown = TransferFailure(
            RequestError(.truncatedBody, stage: .transfer), head: head(200), bodyPrefix: Data("x".utf8),
            phase: .body)
        let failure = progress.fail(thrown, deadline: nil, at: now)
        let error = failure.error as? RequestError
        #expect(error?.code == .truncatedBody && error?.head?.status == 200 && error?.bodyPrefix == Data("x".utf8))
        #expect(failure.head?.status == 200)
    }

    @Test func aURLErrorThatATransportThrowsGetsTheCodeThatStandsForIt() {
        var progress = inAttempt()
        _ = progress.enter(.transfer)
        let error = progress.fail(URLError(.timedOut), deadline: nil, at: now).error as? RequestError
        #expect(error?.code == .timedOut && error?.underlying is URLError)
    }

    @Test func aURLErrorInTheFailureOfATransportStaysWhatItIs() {
        var progress = inAttempt()
        _ = progress.enter(.transfer)
        let thrown = TransferFailure(URLError(.timedOut), head: head(200), phase: .body)
        let failure = progress.fail(thrown, deadline: nil, at: now)
        #expect(failure.error is URLError && failure.head?.status == 200)
    }

    @Test(arguments: [RequestError.Stage.process, .makeTask, .decode])
    func theFailureOfATransportThatAnotherStageThrowsStaysWhatItIs(stage: RequestError.Stage) {
        var progress = inAttempt()
        _ = progress.enter(stage)
        let thrown = TransferFailure(
            RequestError(.connectionLost, stage: .transfer), head: head(200), bodySize: 7, phase: .connect)
        let failure = progress.fail(thrown, deadline: nil, at: now)
        #expect(failure.error is TransferFailure && failure.head == nil && progress.attempts[0].bodySize == 0)
    }

    @Test func aURLErrorOfAnotherStageStaysWhatItIs() {
        var progress = inAttempt()
        #expect(progress.fail(URLError(.timedOut), deadline: nil, at: now).error is URLError)
    }

    @Test func theBackoffCountsFailuresSinceItsRestart() {
        var progress = inAttempt()
        #expect(progress.fail(Problem(), deadline: nil, at: now).backoffStep == 1)
        _ = progress.beginAttempt(after: nil, at: now, on: .distantPast)
        #expect(progress.fail(Problem(), deadline: nil, at: now).backoffStep == 2)
        progress.restartBackoff()
        _ = progress.beginAttempt(after: nil, at: now, on: .distantPast)
        #expect(progress.fail(Problem(), deadline: nil, at: now).backoffStep == 1)
    }

    @Test func aFinalErrorTellsTheAttemptsAndEndsTheRunningOneIfItIsToldTo() {
        var progress = inAttempt()
        _ = progress.fail(Problem(), deadline: nil, at: now)
        _ = progress.beginAttempt(after: nil, at: now, on: .distantPast)
        let ending = progress.finalError(Problem(), stage: .wait, endingAttemptAt: now)
        #expect(ending.code == .stageFailed && ending.attempts.map { $0.ended != nil } == [true, true])
        let running = progress.finalError(Problem(), stage: .wait)
        #expect(running.attempts.map { $0.ended != nil } == [true, false])
    }
}
