/// How attempts end: the response, the failures, and the request's final error.
extension RequestState {
    /// Whether the attempt that the request goes on with still runs.
    var isAttempting: Bool { !attempts.isEmpty && log.runs(attempts[0].number) }

    /// Whether the request has ended with a value.
    var hasSucceeded: Bool {
        guard isStopped, let attempt = attempts.first else { return false }
        return log[attempt.number].ended != nil && log[attempt.number].error == nil
    }

    /// The response of the attempt that ended last, without its body.
    var response: TransportResponse? {
        guard !isAttempting, let attempt = attempts.first, let head = attempt.head else { return nil }
        let record = log[attempt.number]
        return TransportResponse(head: head, bodySize: record.bodySize, timings: record.timings)
    }

    /// Records an error that the decoder threw, rather than an override of `decode`.
    mutating func noteDecoderError(_ error: any Error) {
        if !attempts.isEmpty { attempts[0].noteDecoderError(error) }
    }

    /// What a failure is made from, besides the state.
    struct FailureContext {
        var id: RequestID?
        let deadline: Duration?
        let moment: Duration
        var date = Date()
        var hosts = HostRegistry.shared
    }

    /// Records that the running attempt has failed. The request then waits for a decision.
    mutating func fail(_ thrown: any Error, in context: FailureContext) -> AttemptFailure {
        let (failure, failures) = endAttempt(at: 0, thrown, in: context)
        decide(counting: failures)
        return failure
    }

    /// Records that an attempt has failed while others run in parallel. No decision follows, so the failure does not
    /// count.
    ///
    /// - Returns: `nil` if the attempt no longer runs.
    mutating func failBeside(_ attempt: Int, _ thrown: any Error, in context: FailureContext) -> AttemptFailure? {
        guard let index = attempts.firstIndex(where: { $0.number == attempt }), log.runs(attempt) else { return nil }
        return endAttempt(at: index, thrown, in: context).0
    }

    /// Ends an attempt as failed.
    ///
    /// - Returns: The input of the retry decision, and the failures if this one counts.
    private mutating func endAttempt(
        at index: Int, _ thrown: any Error, in context: FailureContext
    ) -> (AttemptFailure, FailureCount) {
        let stage = attempts[index].stage
        let number = attempts[index].number
        // From another stage, it is an error like any other.
        let transfer = stage.isOfTransfer ? thrown as? TransferFailure : nil
        if let transfer {
            if let timings = transfer.timings { noteWait(in: timings) }
            attempts[index].note(transfer)
            log[number].timings = transfer.timings
            log[number].bodySize = transfer.bodySize
        }
        attempts[index].shortenBody()
        let attempt = attempts[index]
        let error = error(of: attempt, thrown, transfer, in: context)
        let elapsed = elapsed(at: context.moment)
        log.end(number, error, at: elapsed)
        // The record may have ended earlier, beside another attempt, before everything was known about the error.
        log[number].error = error
        var counted = failures
        counted.add(attempt, transfer, at: context.date)
        let sinceSending = elapsedSinceSending(at: context.moment)
        let failure = AttemptFailure(
            error, attempt: number, request: attempt.request ?? original.value, stage: stage, head: attempt.head,
            // After a redirect the server has acted on the first request.
            requestMayHaveBeenProcessed: !log[number].redirects.isEmpty
                || transfer?.requestMayHaveBeenProcessed ?? stage.isAfterSending,
            bodyIsReplayable: attempt.bodyIsReplayable, backoffStep: counted.backoffStep,
            elapsed: sinceSending ?? .zero, timeLeft: context.deadline.map { $0 - elapsed }, date: context.date,
            uncounted: counted.refusals + counted.forgiven + number - (log.count - log.hedgeCount),
            tooManyRequests: counted.tooManyRequests, redirect: log[number].redirects.last,
            wasRefused: attempt.wasRefused,
            // A second loss in a row says more than that a connection was old.
            skipsBackoff: transfer?.lostReusedConnection == true && !failures.lostReusedConnection,
            wasSent: sinceSending != nil, isOfDecoder: attempt.isOfDecoder(error),
            work: work, hosts: context.hosts)
        return (failure, counted)
    }

    private func error(
        of attempt: AttemptState, _ thrown: any Error, _ transfer: TransferFailure?, in context: FailureContext
    ) -> any Error {
        let error = transfer?.error ?? thrown
        let request = attempt.request ?? original.value
        if let ours = error as? RequestError {
            // What the error says about another request takes precedence over what is known of this one.
            return ours.about(request, context.id, as: work).completed(by: attempt)
        }
        if transfer == nil, attempt.stage == .transfer, !work.isOther, let urlError = error as? URLError {
            // The transport threw it directly. Inside a `TransferFailure` it would be an error of the user's code.
            return RequestError(RequestError.Code(urlError), stage: .transfer, underlying: urlError)
                .completed(by: attempt).about(request, context.id, as: work)
        }
        return error
    }

    /// The first attempt may have waited in the transport for a connection. The request's time begins after that.
    private mutating func noteWait(in timings: TransferTimings) {
        guard let sent = firstSent, log.records.allSatisfy({ $0.boxedTimings == nil }) else { return }
        firstSent = sent + (timings.requestSent ?? timings.queue ?? .zero)
    }

    /// The request's final error.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - stage: The stage that failed.
    ///   - id: The id of the request.
    ///   - notRetried: Why no further attempt follows.
    ///   - isOfAttempt: Whether it is the error of the last attempt, rather than one that a decision puts in its place.
    func finalError(
        _ error: any Error, stage: RequestError.Stage, of id: RequestID? = nil, notRetried: NotRetried? = nil,
        isOfAttempt: Bool = true
    ) -> RequestError {
        let attempt = attempt()
        let isOfDecoder = isOfAttempt && attempt?.isOfDecoder(error) == true
        var final = RequestError(wrapping: error, stage: stage, isOfDecoder: isOfDecoder)
            .about(attempt?.request ?? original.value, id, as: work, notRetried: notRetried).completed(by: attempt)
        final.attempts = log.records
        return final
    }
}

/// The failures of a request so far, as the next retry decision counts them. A pure value.
struct FailureCount: Sendable {
    /// How many attempts failed since the backoff last restarted.
    private(set) var backoffStep = 0
    /// How many attempts a circuit breaker refused.
    private(set) var refusals = 0
    /// How many attempts were answered 429 with a `Retry-After`.
    private(set) var tooManyRequests = 0
    /// How many attempts a decision took out of the count.
    private(set) var forgiven = 0
    /// The last attempt whose failure was decided upon. `nil` before the first failure.
    private(set) var lastFailed: Int?
    /// Whether the last failure was the loss of a reused connection. The next attempt then makes its own connection.
    private(set) var lostReusedConnection = false

    /// Counts a failed attempt.
    ///
    /// - Parameters:
    ///   - attempt: The state of the attempt.
    ///   - transfer: How the transfer failed, if it was the transfer that failed.
    ///   - date: When the failure was noticed.
    mutating func add(_ attempt: AttemptState, _ transfer: TransferFailure?, at date: Date) {
        lastFailed = attempt.number
        backoffStep += 1
        if attempt.wasRefused {
            refusals += 1
        } else {
            lostReusedConnection = transfer?.lostReusedConnection ?? false
        }
        if let head = attempt.head, head.status == 429, head.retryAfter(at: date) != nil { tooManyRequests += 1 }
    }

    mutating func restartBackoff() {
        backoffStep = 0
    }

    /// Takes all attempts so far out of the count for the maximum of retries.
    mutating func restartCount(after failure: AttemptFailure) {
        forgiven += failure.attempt - failure.uncounted
        tooManyRequests = 0
    }

    /// Takes the last failure out of the backoff, so that the same delay follows once more.
    mutating func repeatBackoff() {
        backoffStep = max(backoffStep - 1, 0)
    }
}
