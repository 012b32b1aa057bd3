/// The errors with which a request ends.
extension RequestRunner {
    /// The error of a request whose deadline has passed.
    func passed(_ deadline: Duration) -> RequestError {
        let moment = now
        return progress.withLock { progress in
            let timedOut = RequestError(.timedOut, stage: progress.stage, reason: "the deadline of \(deadline) passed")
            return progress.finalError(
                timedOut, stage: progress.stage, of: id, notRetried: .deadline, endingAttemptAt: moment)
        }
    }

    /// The error that the request ends with.
    ///
    /// - Parameters:
    ///   - notRetried: Why no further attempt follows.
    ///   - isOfAttempt: Whether it is the error of the attempt, and not one that a decision puts in its place.
    func ending(
        _ error: any Error, in stage: RequestError.Stage, notRetried: NotRetried? = nil, isOfAttempt: Bool = true
    ) -> any Error {
        guard !error.meansCancellation else { return CancellationError() }
        return progress.withLock { progress in
            progress.finalError(
                error, stage: stage, of: id, notRetried: notRetried, isOfAttempt: isOfAttempt)
        }
    }

    /// Notes an error that the decoder threw, and not an override of the stage `decode`.
    func noteDecoderError(_ error: any Error) {
        progress.withLock { $0.known.noteDecoderError(error) }
    }
}
