#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Whether an idle thread polls for work of one kind for a while before it sleeps.
    ///
    /// Waking a thread takes some 30 µs, and more on a virtual machine. Many waits of a driver are no longer than that
    /// while one request follows another: for a response from nearby, or for the next request. So after several short
    /// waits in a row, the next wait begins with polling, until one wait is long. (The halt polling of hypervisors
    /// follows such a rule, and lasts as long by default.)
    struct BusyPolling {
        /// How many short waits in a row show that the next will be short.
        static let neededWaits = 8

        /// How long the thread polls, in nanoseconds; 0 for a thread that always sleeps.
        let limit: Int64
        private var shortWaits = 0

        /// - Parameter limit: How long the thread polls at most.
        init(limit: Duration) {
            self.limit = max(limit.nanoseconds, 0)
        }

        /// Whether the next wait begins with polling.
        var isWorthwhile: Bool { shortWaits == Self.neededWaits }

        /// Records how many nanoseconds a wait took, whether the thread polled or slept.
        mutating func waited(for length: Int64) {
            shortWaits = length < limit ? min(shortWaits + 1, Self.neededWaits) : 0
        }

        /// Forgets the past waits.
        mutating func startOver() {
            shortWaits = 0
        }
    }
#endif
