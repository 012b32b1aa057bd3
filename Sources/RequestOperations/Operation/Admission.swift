/// An attempt on its way to its slot.
struct Admission: Sendable {
    let attempt: Int
    let limiters: AttemptLimiters?
    /// The attempt's places in the lines of the limiters.
    var places: AttemptLimiters.Places
    /// What ended the wait before the attempt, or the last one in it.
    private(set) var wake: Wake?
    private var wasProcessedAgain = false

    init(
        of attempt: Int, after wake: Wake?, limiters: AttemptLimiters?, place: RequestLimiter.Place?
    ) {
        self.attempt = attempt
        self.limiters = limiters
        places = AttemptLimiters.Places(first: place, isFirstNew: true)
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
        let slot: RequestLimiter.Slot?
    }
}
