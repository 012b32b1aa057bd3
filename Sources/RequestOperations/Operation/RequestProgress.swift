/// How far a request has come: what its errors tell, what ends with it. A pure value.
struct RequestProgress: Sendable {
    /// The request from which each attempt is processed.
    var original: URLRequest
    private(set) var attempts: [Attempt] = []
    /// The stage that runs now.
    private(set) var stage = RequestError.Stage.process
    private var course = Course.runs
    /// The time since the operation became ready.
    private(set) var stopwatch: Stopwatch?
    /// The operation's priority when the running attempt began.
    var priority = Operation.QueuePriority.normal
    /// The slot that the running attempt holds.
    var slot: HeldSlot?
    /// The wait before the next attempt.
    var wait: RetryWait?
    /// What is known of the running attempt.
    var known = KnownOfAttempt()
    private var backoffStep = 0

    private enum Course {
        case runs
        /// The request was cancelled or its deadline passed: it enters no stage any more.
        case stopped
        /// The operation has its result: nothing is told any more.
        case ended
    }

    struct KnownOfAttempt: Sendable {
        /// Whether a response redirected: the first request was processed, whatever happens to the next.
        var wasRedirected = false
        var request: URLRequest?
        var bodyIsReplayable = true
        var head: ResponseHead?
        var bodyPrefix = Data()
    }

    init(_ request: URLRequest) {
        original = request
    }

    var elapsed: Duration { stopwatch?.elapsed ?? .zero }

    mutating func becameReady(on clock: any Clock<Duration>) {
        if stopwatch == nil { stopwatch = Stopwatch(clock) }
    }

    mutating func becameUnready() {
        stopwatch = nil
    }

    var hasEnded: Bool { course == .ended }

    mutating func stop() {
        if course == .runs { course = .stopped }
    }

    mutating func end() {
        course = .ended
    }

    // Each of the following says whether the request goes on; if not, nothing was changed.

    mutating func enter(_ next: RequestError.Stage) -> Bool {
        guard course == .runs else { return false }
        stage = next
        return true
    }

    /// Enters a stage of an attempt, unless that was left behind.
    mutating func enter(_ next: RequestError.Stage, in attempt: Int) -> Bool {
        guard attempt == attempts.count, attempts[attempt - 1].ended == nil else { return false }
        return enter(next)
    }

    mutating func receive(_ head: ResponseHead, in attempt: Int) -> Bool {
        guard enter(.validate, in: attempt) else { return false }
        known.head = head
        attempts[attempt - 1].status = head.isHTTP ? head.status : nil
        return true
    }

    mutating func follow(_ redirect: URL, in attempt: Int) -> Bool {
        guard enter(.transfer, in: attempt) else { return false }
        attempts[attempt - 1].redirects.append(redirect)
        known.wasRedirected = true
        known.head = nil
        return true
    }

    mutating func note(_ task: TransportTask) -> Bool {
        guard course == .runs else { return false }
        known.request = task.request
        known.bodyIsReplayable = task.body.isReplayable
        return true
    }

    mutating func note(_ response: TransportResponse) -> Bool {
        guard course == .runs else { return false }
        known.bodyPrefix = response.body.prefix(TransferLimits.keptErrorBody)
        attempts[attempts.count - 1].timings = response.timings
        return true
    }

    /// Begins an attempt; returns its number, or `nil` if the request was stopped.
    mutating func beginAttempt(after wake: Wake?) -> Int? {
        guard course == .runs else { return nil }
        let number = attempts.count + 1
        attempts.append(
            Attempt(number: number, began: elapsed, waited: wake?.waited ?? .zero, wokenBy: wake?.reason))
        known = KnownOfAttempt()
        stage = .process
        return number
    }

    mutating func endAttempt(_ error: (any Error)?) {
        guard let last = attempts.indices.last, attempts[last].ended == nil else { return }
        attempts[last].ended = elapsed
        attempts[last].error = error
    }

    /// Ends the attempt as failed and says what the retry decision is made from.
    mutating func fail(_ thrown: any Error, deadline: Duration?) -> AttemptFailure {
        let transfer = thrown as? TransferFailure
        if let transfer {
            known.head = known.head ?? transfer.head
            known.bodyPrefix = transfer.bodyPrefix
            attempts[attempts.count - 1].timings = transfer.timings
        }
        var error = transfer?.error ?? thrown
        if var ours = error as? RequestError {
            ours.head = ours.head ?? known.head
            if ours.bodyPrefix.isEmpty { ours.bodyPrefix = known.bodyPrefix }
            error = ours
        } else if error is URLError, stage == .transfer {
            error = RequestError(wrapping: error, stage: .transfer).completed(by: known)
        }
        endAttempt(error)
        backoffStep += 1
        return AttemptFailure(
            error, attempt: attempts.count, request: known.request ?? original, stage: stage, head: known.head,
            requestMayHaveBeenProcessed: known.wasRedirected
                || transfer?.requestMayHaveBeenProcessed
                    ?? stage.isAfterSending,
            bodyIsReplayable: known.bodyIsReplayable, backoffStep: backoffStep, elapsed: elapsed,
            timeLeft: deadline.map { $0 - elapsed })
    }

    mutating func restartBackoff() {
        backoffStep = 0
    }

    /// The error that the request ends with, with all that is known.
    ///
    /// - Parameter endingAttempt: Whether it ends the running attempt too, in what it tells.
    func finalError(_ error: any Error, stage: RequestError.Stage, endingAttempt: Bool = false) -> RequestError {
        var final = RequestError(wrapping: error, stage: stage).completed(by: known)
        var told = self
        if endingAttempt { told.endAttempt(error) }
        final.attempts = told.attempts
        return final
    }
}

extension RequestError {
    fileprivate func completed(by known: RequestProgress.KnownOfAttempt) -> RequestError {
        var completed = self
        completed.head = head ?? known.head
        if bodyPrefix.isEmpty { completed.bodyPrefix = known.bodyPrefix }
        return completed
    }
}

extension RequestError.Stage {
    /// Whether the request may have been sent when this stage failed.
    fileprivate var isAfterSending: Bool {
        switch self {
        case .process, .makeTask, .slot: false
        case .transfer, .validate, .decode, .retryDecision, .wait: true
        }
    }
}
