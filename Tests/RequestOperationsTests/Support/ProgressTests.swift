import RequestOperationsTesting

@testable import RequestOperations

/// Tests of what is known of a request, on a clock that they move.
protocol ProgressTests {
    var clock: ManualClock { get }
}

extension ProgressTests {
    var now: Duration { clock.now.offset }

    /// Progress of a request that is ready, in its first attempt and a stage of it.
    func inAttempt(_ stage: RequestError.Stage = .process) -> RequestProgress {
        var progress = RequestProgress(anyRequest)
        progress.becameReady(at: now)
        _ = progress.beginAttempt(after: nil, at: now, on: .distantPast)
        _ = progress.enter(stage, in: 1)
        return progress
    }

    func head(_ status: Int) -> ResponseHead {
        // The request has a URL.
        ResponseHead(status: status, url: anyRequest.url!)
    }
}
