import RequestOperationsTesting

@testable import RequestOperations

/// Tests of the state of a request, on a clock that they move.
protocol RequestStateFixture {
    var clock: ManualClock { get }
}

extension RequestStateFixture {
    var now: Duration { clock.now.offset }

    /// The state of a request that is ready, in its first attempt and a stage of it.
    func inAttempt(_ stage: RequestError.Stage = .process) -> RequestState {
        var state = RequestState(anyRequest)
        state.becameReady(at: now)
        begin(&state)
        _ = state.enter(stage, in: 1)
        return state
    }

    /// Begins an attempt.
    @discardableResult
    func begin(_ state: inout RequestState, after wake: Wake? = nil) -> Int? {
        state.beginAttempt(after: wake, at: now, on: .distantPast)
    }

    @discardableResult
    func fail(_ state: inout RequestState, _ error: any Error = Problem(), deadline: Duration? = nil) -> AttemptFailure
    {
        state.fail(error, in: context(deadline: deadline))
    }

    func context(deadline: Duration? = nil) -> RequestState.FailureContext {
        RequestState.FailureContext(deadline: deadline, moment: now)
    }

    func head(_ status: Int) -> ResponseHead {
        // The request has a URL.
        ResponseHead(status: status, url: anyRequest.url!)
    }
}
