/// An attempt on its way to its slots.
struct Admission: Sendable {
    let attempt: Int
    /// The attempt's place in the line of the configuration's limiter, once it has stood there.
    var place: RequestLimiter.Place?
    /// What ended the wait before the attempt, or the last one in it.
    private(set) var wake: Wake?
    private var wasProcessedAgain = false

    init(of attempt: Int, after wake: Wake?) {
        self.attempt = attempt
        self.wake = wake
    }

    /// Whether the request is to be processed again, since it waited: once only, or where transfers take longer than the
    /// freshness it would wait for ever.
    func isStale(after waited: Duration, freshness: Duration) -> Bool {
        waited > freshness && !wasProcessedAgain
    }

    /// Notes what ended a wait that was not for a slot.
    mutating func note(_ wake: Wake) {
        self.wake = wake
    }

    /// The request is processed again.
    mutating func processAgain() {
        wasProcessedAgain = true
    }

    /// What an attempt is sent with.
    struct Ticket: Sendable {
        let attempt: Int
        let task: TransportTask
        let held: HeldByAttempt
    }
}
