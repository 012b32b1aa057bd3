#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation

    /// Whether a thread that has nothing to do looks out for work of one kind for a while before it sleeps.
    ///
    /// To be woken takes a thread some 30 µs, on a virtual machine more. That is as long as much of what a driver waits for while
    /// one request follows another: a response from near by, and the next request. So a wait that follows a short one is begun
    /// by looking out, until one proves long. (The halt polling of hypervisors goes by the same rule, and for as long by
    /// default.)
    struct BusyPolling {
        /// In nanoseconds; 0 for a thread that always sleeps.
        let limit: Int64
        /// Whether the next wait is to begin by looking out.
        private(set) var isWorthwhile = false

        /// - Parameters:
        ///   - limit: How long the thread looks out at most.
        ///   - processors: How many the process may use. With one, whatever the thread looks out for would wait for the thread.
        init(limit: Duration, processors: Int = ProcessInfo.processInfo.activeProcessorCount) {
            self.limit = processors > 1 ? max(limit.nanoseconds, 0) : 0
        }

        /// Takes note of how many nanoseconds a wait took, whether the thread looked out or slept.
        mutating func waited(for length: Int64) {
            isWorthwhile = length < limit
        }
    }
#endif
