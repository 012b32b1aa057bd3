#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Whether a thread that has nothing to do looks out for work of one kind for a while before it sleeps.
    ///
    /// To be woken takes a thread some 30 µs, on a virtual machine more. That is as long as much of what a driver waits for while
    /// one request follows another: a response from near by, and the next request. So once some waits in a row have been
    /// short, the next is begun by looking out, until one proves long. (The halt polling of hypervisors goes by such a rule,
    /// and for as long by default.)
    struct BusyPolling {
        /// How many short waits in a row show that the next will be short.
        static let neededWaits = 8

        /// In nanoseconds; 0 for a thread that always sleeps.
        let limit: Int64
        private var shortWaits = 0

        /// - Parameter limit: How long the thread looks out at most.
        init(limit: Duration) {
            self.limit = max(limit.nanoseconds, 0)
        }

        /// Whether the next wait is to begin by looking out.
        var isWorthwhile: Bool { shortWaits == Self.neededWaits }

        /// Takes note of how many nanoseconds a wait took, whether the thread looked out or slept.
        mutating func waited(for length: Int64) {
            shortWaits = length < limit ? min(shortWaits + 1, Self.neededWaits) : 0
        }

        /// Forgets the waits that were.
        mutating func startOver() {
            shortWaits = 0
        }
    }
#endif
