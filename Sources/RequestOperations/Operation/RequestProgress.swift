/// How far a request has come: what its errors tell, what ends with it. A pure value.
struct RequestProgress: Sendable {
    /// The request from which each attempt is processed.
    var original: URLRequest
    private(set) var attempts: [Attempt] = []
    /// The stage that runs now.
    private(set) var stage = RequestError.Stage.process
    /// Set when the request was cancelled or its deadline passed: it enters no stage any more.
    private(set) var isStopped = false
    /// The time since the operation became ready.
    private(set) var stopwatch: Stopwatch?
    /// The operation's priority when the running attempt began.
    var priority = Operation.QueuePriority.normal
    /// The slot that the running attempt holds.
    var slot: RequestLimiter.Slot?
    /// The wait before the next attempt.
    var wait: RetryWait?
    /// What is known of the running attempt.
    var known = KnownOfAttempt()
    private var backoffStep = 0

    struct KnownOfAttempt: Sendable {
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

    /// Enters a stage; returns whether the request was stopped and must not.
    mutating func enter(_ next: RequestError.Stage) -> Bool {
        if !isStopped { stage = next }
        return isStopped
    }

    mutating func stop() {
        isStopped = true
    }

    mutating func beginAttempt(after wake: Wake?) -> Int {
        let number = attempts.count + 1
        attempts.append(
            Attempt(number: number, began: elapsed, waited: wake?.waited ?? .zero, wokenBy: wake?.reason))
        known = KnownOfAttempt()
        stage = .process
        return number
    }

    mutating func note(_ task: TransportTask) {
        known.request = task.request
        known.bodyIsReplayable = task.body.isReplayable
    }

    mutating func note(_ head: ResponseHead) {
        known.head = head
        attempts[attempts.count - 1].status = head.isHTTP ? head.status : nil
    }

    mutating func note(redirectTo url: URL) {
        attempts[attempts.count - 1].redirects.append(url)
        known.head = nil
    }

    mutating func note(_ response: TransportResponse) {
        known.bodyPrefix = response.body.prefix(TransferLimits.keptErrorBody)
        attempts[attempts.count - 1].timings = response.timings
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
            requestMayHaveBeenProcessed: transfer?.requestMayHaveBeenProcessed ?? stage.isAfterSending,
            bodyIsReplayable: known.bodyIsReplayable, backoffStep: backoffStep, elapsed: elapsed,
            timeLeft: deadline.map { $0 - elapsed })
    }

    mutating func restartBackoff() {
        backoffStep = 0
    }

    /// The error that the request ends with, with all that is known.
    func finalError(_ error: any Error, stage: RequestError.Stage) -> RequestError {
        var final = RequestError(wrapping: error, stage: stage).completed(by: known)
        final.attempts = attempts
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
