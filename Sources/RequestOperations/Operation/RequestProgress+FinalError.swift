extension RequestProgress {
    /// The error that the request ends with, with all that is known.
    ///
    /// - Parameter moment: When it ends the running attempt too, in what it tells; `nil` if it does not.
    func finalError(
        _ error: any Error, stage: RequestError.Stage, endingAttemptAt moment: Timepiece.Moment? = nil
    ) -> RequestError {
        var final = RequestError(wrapping: error, stage: stage).completed(by: known)
        var told = self
        if let moment { told.endAttempts(error, at: moment) }
        final.attempts = told.attempts
        return final
    }
}
