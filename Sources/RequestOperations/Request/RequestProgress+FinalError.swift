extension RequestProgress {
    /// The error that the request ends with, with all that is known.
    ///
    /// - Parameters:
    ///   - id: The request's.
    ///   - notRetried: Why no further attempt follows.
    ///   - isOfAttempt: Whether the error is that of the last attempt, and not one that a decision puts in its place.
    ///   - moment: When it ends the running attempt too, in what it tells; `nil` if it does not.
    func finalError(
        _ error: any Error, stage: RequestError.Stage, of id: RequestID? = nil, notRetried: NotRetried? = nil,
        isOfAttempt: Bool = true, endingAttemptAt moment: Duration? = nil
    ) -> RequestError {
        var final = RequestError(wrapping: error, stage: stage, isOfDecoder: isOfAttempt && known.isOfDecoder(error))
            .about(request, id, notRetried: notRetried).completed(by: known)
        var told = self
        if let moment { told.endAttempts(error, at: moment) }
        final.attempts = told.attempts
        return final
    }

    /// The request as the adapters made it for this attempt; the original before that.
    var request: URLRequest { known.request ?? original.value }

    /// The circuit breaker does not let the running attempt pass.
    mutating func noteRefusal() {
        known.wasRefused = true
    }

    /// Gives up what is kept of the response's body, to be released outside of any lock.
    mutating func takeBody() -> Data {
        defer { known.body = Data() }
        return known.body
    }
}
