/// The part of a process's descriptors that connections may take: a pure value.
///
/// The kernel gives a new descriptor the lowest free number. So the number shows how many descriptors are open in the
/// whole process, and we need not count them.
package struct DescriptorShare: Sendable, Hashable {
    /// How many descriptors the process may have open (the soft limit of `RLIMIT_NOFILE`).
    package let limit: Int64

    package init(limit: Int64) {
        self.limit = max(limit, 0)
    }

    /// How many descriptors connections leave free for files, look-ups and the runtime. Dispatch ends the process when
    /// it finds no free descriptor.
    package var reserve: Int64 { min(max(24, min(limit / 8, 256)), limit / 2) }

    /// How many descriptors the process may have open, including that of the last connection.
    package var bound: Int64 { limit - reserve }

    /// The same bound for the first connection of a transport. It is higher: a process may have opened almost all of
    /// its descriptors for other purposes. Its requests still run then, one after the other.
    var lastBound: Int64 { limit - min(8, limit / 2) }

    /// Whether a new connection may keep its descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: The number that the kernel gave the connection.
    ///   - isFirst: Whether the transport has no other connection.
    ///   - filesToOpen: How many files will be opened later. Their descriptors stay free.
    func allows(_ descriptor: Int32, isFirst: Bool = false, filesToOpen: Int = 0) -> Bool {
        Int64(descriptor) < bound - Int64(filesToOpen) || isFirst && Int64(descriptor) < lastBound
    }

    /// Whether an `errno` says that the system has no more descriptors or memory.
    static func isShortage(_ number: Int32) -> Bool {
        [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(number)
    }
}

#if canImport(Glibc)
    import Dispatch
    import Glibc

    extension DescriptorShare {
        /// The share of this process. It follows from the limit when the first driver is made.
        static let ofProcess = DescriptorShare(limit: limitOfProcess)

        /// How many descriptors the process may have open, by its soft limit; the largest number if it is not known.
        static var limitOfProcess: Int64 {
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
            return Int64(clamping: limit.rlim_cur)
        }
    }

    /// What the runtime of Swift needs later, made while there are descriptors.
    enum PreparedRuntime {
        private static let isPrepared = Locked(false)
        /// More than Dispatch needs for all its timers.
        private static let descriptorCount = 8

        /// Makes Dispatch open the descriptors that it needs for timers, once, if there are enough. If Dispatch needs
        /// them later and finds none, it ends the process.
        static func prepare() {
            guard !isPrepared.withLock({ $0 }) else { return }
            let descriptors = (0..<descriptorCount).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
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
