#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Synchronization

    /// The threads that look out at the moment. What they look out for needs a processor too, so it is one at least that they
    /// leave free.
    final class BusyThreads: Sendable {
        /// Those of this process.
        static let shared = BusyThreads(limit: ProcessorShare.count - 1)

        private let limit: Int
        private let number = Atomic(0)

        /// - Parameter limit: How many there may be at once.
        init(limit: Int) {
            self.limit = limit
        }

        var count: Int { number.load(ordering: .relaxed) }

        /// Whether one more may look out. It then has to leave.
        func enter() -> Bool {
            guard number.wrappingAdd(1, ordering: .relaxed).newValue > limit else { return true }
            leave()
            return false
        }

        func leave() {
            number.wrappingSubtract(1, ordering: .relaxed)
        }
    }
#endif
