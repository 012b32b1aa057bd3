import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct RequestStateTests: RequestStateFixture {
    let clock = ManualClock()

    // MARK: Time

    @Test func `Time runs from the moment of readiness`() {
        var state = RequestState(anyRequest)
        clock.advance(by: .seconds(9))
        #expect(state.elapsed(at: now) == .zero)
        state.becameReady(at: now)
        clock.advance(by: .seconds(2))
        #expect(state.elapsed(at: now) == .seconds(2))
    }

    @Test func `A second readiness does not start the time again`() {
        var state = inAttempt()
        clock.advance(by: .seconds(2))
        state.becameReady(at: now)
        #expect(state.elapsed(at: now) == .seconds(2))
    }

    @Test func `Who is unready again has its time back`() {
        var state = inAttempt()
        clock.advance(by: .seconds(2))
        state.becameUnready()
        state.becameReady(at: now)
        #expect(state.elapsed(at: now) == .zero)
    }

    @Test func `The wait of the first attempt for a connection is no time since sending`() {
        var state = inAttempt()
        _ = state.beginSending(1, at: now, isAwaited: false)
        _ = state.enter(.transfer, in: 1)
        clock.advance(by: .seconds(400))
        var timings = TransferTimings()
        timings.requestSent = .seconds(397)
        let failure = fail(&state, TransferFailure(Problem(), phase: .head, timings: timings), deadline: .seconds(500))
        #expect(failure.elapsed == .seconds(3) && failure.timeLeft == .seconds(100))
    }

    // MARK: Attempts

    @Test func `Attempts are numbered and tell what woke them`() {
        var state = inAttempt()
        clock.advance(by: .seconds(3))
        let second = begin(&state, after: Wake(waited: .seconds(2), reason: .retryNow, knownEnd: .zero))
        #expect(second == 2)
        #expect(state.log.records.map(\.began) == [.zero, .seconds(3)])
        #expect(state.log.records[1].waited == .seconds(2) && state.log.records[1].wokenBy == .retryNow)
    }

    @Test func `An attempt ends once`() {
        var state = inAttempt()
        _ = state.succeed(at: now)
        clock.advance(by: .seconds(1))
        state.endAttempts(Problem(), at: now)
        #expect(state.log.records[0].ended == .zero && state.log.records[0].error == nil)
    }

    @Test func `A head gives the attempt its status`() {
        var state = inAttempt()
        _ = state.receive(head(204), in: 1)
        #expect(state.log.records[0].status == 204)
    }

    @Test func `A redirect is noted and its head forgotten`() throws {
        var state = inAttempt()
        let target = try #require(URL(string: "http://example.invalid/next"))
        _ =
            state.receive(head(302), in: 1)
            && state.follow(target, after: head(302), sending: anyRequest, in: 1, at: .zero)
        #expect(state.log.records[0].redirects == [target])
        #expect(state.attempt()?.head == nil)
    }

    @Test func `The slot of a redirected attempt ends when its first hop is sent`() {
        var state = inAttempt()
        let url = anyRequest.url!
        clock.advance(by: .seconds(5))
        _ = state.noteSlot(after: .seconds(3), in: 1) && state.beginSending(1, at: now, isAwaited: false)
        for _ in 0..<2 {
            clock.advance(by: .seconds(10))
            _ = state.follow(url, after: head(302), sending: anyRequest, in: 1, at: now)
        }
        clock.advance(by: .seconds(1))
        _ = state.succeed(at: now)
        let phases = state.log.records[0].phases
        #expect(phases.map(\.kind) == [.prepare, .slot, .redirect, .receive])
        #expect(phases.map(\.duration) == [.seconds(2), .seconds(3), .seconds(20), .seconds(1)])
    }

    @Test func `An attempt that was left behind changes nothing`() {
        var state = inAttempt()
        fail(&state)
        #expect(!state.enter(.validate, in: 1) && !state.receive(head(200), in: 1))
        begin(&state)
        #expect(!state.enter(.validate, in: 1) && !state.receive(head(200), in: 1))
        #expect(state.stage == .process && state.log.records.allSatisfy { $0.status == nil })
    }

    @Test func `What is known of an attempt is forgotten in the next`() {
        var state = inAttempt()
        _ = state.note(TransportTask.data(anyRequest), in: 1) && state.receive(head(503), in: 1)
        fail(&state)
        begin(&state)
        #expect(state.attempt()?.head == nil && state.attempt()?.request == nil)
    }

    // MARK: The end

    @Test func `A response of an attempt that was left behind is not noted`() {
        var state = inAttempt()
        fail(&state)
        begin(&state)
        let isNoted = state.note(TransportResponse(head: head(200), bodySize: 7), in: 1)
        #expect(!isNoted && state.log.records.allSatisfy { $0.bodySize == 0 })
    }

    @Test func `A head is accepted when its validation was left`() {
        var state = inAttempt()
        _ = state.enter(.transfer, in: 1)
        #expect(state.attempt(1)?.hasAcceptedHead == false)
        _ = state.receive(head(200), in: 1)
        #expect(state.attempt(1)?.hasAcceptedHead == false)
        _ = state.enter(.transfer, in: 1)
        #expect(state.attempt(1)?.hasAcceptedHead == true)
    }

    @Test func `A stopped request enters nothing and begins no attempt`() {
        var state = inAttempt()
        state.stop()
        #expect(!state.enter(UserStage.decode) && !state.note(TransportTask.data(anyRequest), in: 1))
        #expect(
            !state.note(TransportResponse(head: head(200)), in: 1)
                && begin(&state) == nil)
    }

    // MARK: Failures

    @Test func `A failed attempt tells what the decision needs`() {
        var state = inAttempt()
        _ = state.enter(.decode, in: 1)
        clock.advance(by: .seconds(3))
        let failure = fail(&state, deadline: .seconds(10))
        #expect(failure.error is Problem && failure.attempt == 1 && failure.stage == .decode)
        #expect(failure.elapsed == .zero && !failure.wasSent && failure.timeLeft == .seconds(7))
    }

    @Test func `The time of a failure runs from the first sending`() {
        var state = inAttempt()
        clock.advance(by: .seconds(400))
        #expect(state.elapsedSinceSending(at: now) == nil)
        _ = state.beginSending(1, at: now, isAwaited: false)
        clock.advance(by: .seconds(3))
        let first = fail(&state, deadline: .seconds(1000))
        #expect(first.elapsed == .seconds(3) && first.wasSent && first.timeLeft == .seconds(597))
        begin(&state)
        _ = state.beginSending(2, at: now, isAwaited: false)
        clock.advance(by: .seconds(2))
        #expect(fail(&state).elapsed == .seconds(5))
    }

    @Test func `The request of a failure is the processed one if there is one`() {
        var state = inAttempt()
        var processed = anyRequest
        processed.httpMethod = "PUT"
        #expect(fail(&state).request == anyRequest)
        begin(&state)
        _ = state.note(TransportTask.data(processed), in: 2)
        #expect(fail(&state).request == processed)
    }

    @Test(arguments: RequestError.Stage.allCases)
    func `What failed after the sending may have been processed`(stage: RequestError.Stage) {
        var state = inAttempt()
        _ = state.enter(stage, in: 1)
        let before: [RequestError.Stage] = [.start, .process, .makeTask, .wait, .slot]
        #expect(fail(&state).requestMayHaveBeenProcessed == !before.contains(stage))
    }

    @Test(arguments: [TransferFailure.Phase.connect, .head])
    func `A transport knows better whether the request may have been processed`(phase: TransferFailure.Phase) {
        var state = inAttempt()
        _ = state.enter(.transfer, in: 1)
        let failure = fail(&state, TransferFailure(Problem(), phase: phase))
        #expect(failure.requestMayHaveBeenProcessed == (phase != .connect))
    }

    @Test func `After a redirect the request was processed whatever the transport knows`() {
        var state = inAttempt()
        _ = state.follow(anyRequest.url!, after: head(302), sending: anyRequest, in: 1, at: .zero)
        let failure = fail(&state, TransferFailure(Problem(), phase: .connect))
        #expect(failure.requestMayHaveBeenProcessed)
    }

    @Test func `A transfer failure gives up its cause and keeps its head`() {
        var state = inAttempt()
        _ = state.enter(.transfer, in: 1)
        let thrown = TransferFailure(
            RequestError(.truncatedBody, stage: .transfer), head: head(200), bodyPrefix: Data("x".utf8),
            phase: .body)
        let failure = fail(&state, thrown)
        let error = failure.error as? RequestError
        #expect(error?.code == .truncatedBody && error?.head?.status == 200 && error?.bodyPrefix == Data("x".utf8))
        #expect(failure.head?.status == 200)
    }

    @Test func `A URL error that a transport throws gets the code that stands for it`() {
        var state = inAttempt()
        _ = state.enter(.transfer, in: 1)
        let error = fail(&state, URLError(.timedOut)).error as? RequestError
        #expect(error?.code == .timedOut && error?.underlying is URLError)
    }

    @Test func `A URL error in the failure of a transport stays what it is`() {
        var state = inAttempt()
        _ = state.enter(.transfer, in: 1)
        let thrown = TransferFailure(URLError(.timedOut), head: head(200), phase: .body)
        let failure = fail(&state, thrown)
        #expect(failure.error is URLError && failure.head?.status == 200)
    }

    @Test(arguments: [RequestError.Stage.process, .makeTask, .decode])
    func `The failure of a transport that another stage throws stays what it is`(stage: RequestError.Stage) {
        var state = inAttempt()
        _ = state.enter(stage, in: 1)
        let thrown = TransferFailure(
            RequestError(.connectionLost, stage: .transfer), head: head(200), bodySize: 7, phase: .connect)
        let failure = fail(&state, thrown)
        #expect(failure.error is TransferFailure && failure.head == nil && state.log.records[0].bodySize == 0)
    }

    @Test func `A URL error of another stage stays what it is`() {
        var state = inAttempt()
        #expect(fail(&state, URLError(.timedOut)).error is URLError)
    }

    @Test func `The backoff counts failures since its restart`() {
        var state = inAttempt()
        #expect(fail(&state).backoffStep == 1)
        begin(&state)
        #expect(fail(&state).backoffStep == 2)
        state.failures.restartBackoff()
        begin(&state)
        #expect(fail(&state).backoffStep == 1)
    }

    @Test func `A final error tells the attempts and ends the running one if it is told to`() {
        var state = inAttempt()
        fail(&state)
        begin(&state)
        let running = state.finalError(Problem(), stage: .wait)
        #expect(running.attempts.map { $0.ended != nil } == [true, false])
        state.endAttempts(Problem(), at: now)
        let ending = state.finalError(Problem(), stage: .wait)
        #expect(ending.code == .stageFailed && ending.attempts.map { $0.ended != nil } == [true, true])
    }

    // MARK: Places

    private func turnAndPlace() throws -> (QueuePlace, RequestLimiter.Slot) {
        let limiter = RequestLimiter(total: 1)
        let place = try #require(limiter.slotAtOnce(for: Origin(anyRequest.url)))
        return (QueuePlace(of: limiter, at: limiter.newPlace(), holding: place), place)
    }

    @Test func `The first attempt takes over the place of the queue`() throws {
        var state = RequestState(anyRequest)
        let (turn, place) = try turnAndPlace()
        state.begin(on: .distantPast, at: now, in: turn, holding: place)
        begin(&state)
        #expect(state.queuePlace(of: 1) === place)
    }

    @Test func `A request that is stopped before its first attempt gives its place up`() throws {
        var state = RequestState(anyRequest)
        let (turn, place) = try turnAndPlace()
        state.begin(on: .distantPast, at: now, in: turn, holding: place)
        #expect(state.stop().place === place && state.stop().place == nil)
    }

    @Test func `A stop ends the wait for a host`() {
        var state = inAttempt()
        let wait = RetryWait(on: .continuous)
        _ = state.enter(wait, in: 1)
        #expect(state.wait === wait && state.stage == .wait)
        #expect(state.stop().wait === wait && state.stage == .wait)
    }

    @Test func `While a retry is decided no other stage begins`() {
        var state = inAttempt()
        fail(&state)
        #expect(state.enter(UserStage.retryDecision) && !state.enter(UserStage.decode))
    }
}
