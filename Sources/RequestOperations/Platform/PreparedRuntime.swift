#if canImport(Glibc)
    import Dispatch
    import Glibc

    /// What the runtime of Swift needs later, made while there are descriptors.
    enum PreparedRuntime {
        private static let isPrepared = Locked(false)
        /// More than Dispatch needs for all its timers.
        private static let descriptorCount = 8

        /// Makes Dispatch open the descriptors that it needs for timers, once, if there are enough. If Dispatch needs
        /// them later and finds none, it ends the process.
        static func prepare() {
            guard !isPrepared.withLock({ $0 }) else { return }
            let descriptors = (0..<descriptorCount).map { _ in socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0) }
            for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
            guard !descriptors.contains(where: { $0 < 0 }) else { return }
            isPrepared.withLock { $0 = true }
            _ = DeadlineHeap.shared.schedule(at: .now) {}
            DispatchQueue.global().asyncAfter(wallDeadline: .now()) {}
            Task {
                // There is one timer for each clock. Nobody cancels this Task, and nothing else could be thrown.
                try? await ContinuousClock().sleep(for: .nanoseconds(1))
                try? await SuspendingClock().sleep(for: .nanoseconds(1))
            }
        }
    }
#endif
