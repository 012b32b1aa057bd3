#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Synchronization

    /// The threads that poll at the moment. What they wait for needs a processor too, so they leave at least one free.
    final class BusyThreads: Sendable {
        /// The polling threads of this process.
        static let shared = BusyThreads(limit: ProcessorShare.count - 1)

        private let limit: Int
        private let number = Atomic(0)

        /// - Parameter limit: How many threads may poll at once.
        init(limit: Int) {
            self.limit = limit
        }

        var count: Int { number.load(ordering: .relaxed) }

        /// Whether one more thread may poll. If so, it has to call `leave` later.
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
