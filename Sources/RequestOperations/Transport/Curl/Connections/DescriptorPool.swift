#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Dispatch
    import Glibc
    import Synchronization

    /// The descriptors of the process, which all drivers share. If a driver finds none for a connection, it makes the
    /// others close their idle connections.
    final class DescriptorPool: Sendable {
        /// The pool of this process.
        static let shared = DescriptorPool()

        private struct State {
            /// The functions that wake the drivers.
            var wakes: [ObjectIdentifier: @Sendable () -> Void] = [:]
            /// Until when each driver counts as short of descriptors.
            var shortages: [ObjectIdentifier: Int64] = [:]
            var lastCall = Int64.min
        }

        private let state = Locked(State())
        /// The latest end of a shortage, for drivers that ask in every turn.
        private let shortUntil = Atomic(Int64.min)
        private let limit: @Sendable () -> Int64

        /// How long a reported shortage counts.
        private static let shortage: Int64 = 200_000_000
        /// The shortest time between two calls that wake the others for shortages.
        private static let callInterval: Int64 = 50_000_000

        /// - Parameter limit: Returns how many descriptors the process may have open. It is called at each new
        ///   connection, since the limit can change.
        init(limit: @escaping @Sendable () -> Int64 = { DescriptorPool.limitOfProcess }) {
            self.limit = limit
        }

        /// How many descriptors the process may have open, by its soft limit; the largest number if it is not known.
        static var limitOfProcess: Int64 {
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
            return Int64(clamping: limit.rlim_cur)
        }

        /// Whether a new connection may keep its descriptor; see ``DescriptorShare/allows(_:isFirst:filesToOpen:)``.
        func allows(_ descriptor: Int32, isFirst: @autoclosure () -> Bool, filesToOpen: Int) -> Bool {
            DescriptorShare(limit: limit()).allows(descriptor, isFirst: isFirst(), filesToOpen: filesToOpen)
        }

        /// Whether an `errno` says that the system has no more descriptors or memory.
        static func isShortage(_ number: Int32) -> Bool {
            [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(number)
        }

        // MARK: The drivers

        /// A driver begins to work.
        ///
        /// - Parameter wake: Makes the driver take a turn. The threads of other drivers call it.
        func join(_ driver: AnyObject, wake: @escaping @Sendable () -> Void) {
            state.withLock { $0.wakes[ObjectIdentifier(driver)] = wake }
        }

        /// A driver has ended.
        func leave(_ driver: AnyObject) {
            let wake = state.withLock { state in
                state.shortages[ObjectIdentifier(driver)] = nil
                return state.wakes.removeValue(forKey: ObjectIdentifier(driver))
            }
            // What the function holds is released outside the lock.
            withExtendedLifetime(wake) {}
        }

        /// A driver has found no descriptor for a connection.
        func isLacking(for driver: AnyObject, at now: Int64) {
            let others: [@Sendable () -> Void] = state.withLock { state in
                state.shortages[ObjectIdentifier(driver)] = now + Self.shortage
                guard state.lastCall <= now - Self.callInterval else { return [] }
                state.lastCall = now
                return Array(state.wakes.filter { $0.key != ObjectIdentifier(driver) }.values)
            }
            shortUntil.store(now + Self.shortage, ordering: .relaxed)
            for wake in others { wake() }
        }

        /// Whether a driver other than this one was short of descriptors a moment ago.
        func isWantedByOthers(than driver: AnyObject, at now: Int64) -> Bool {
            guard shortUntil.load(ordering: .relaxed) > now else { return false }
            return state.withLock { state in
                state.shortages.contains { $0.key != ObjectIdentifier(driver) && $0.value > now }
            }
        }

        // MARK: The runtime

        private static let isRuntimePrepared = Locked(false)
        /// More than Dispatch needs for all its timers.
        private static let runtimeDescriptors = 8

        /// Makes Dispatch open the descriptors that it needs for timers, once, if there are enough. If Dispatch needs
        /// them later and finds none, it ends the process.
        static func prepareRuntime() {
            guard !isRuntimePrepared.withLock({ $0 }) else { return }
            let descriptors = (0..<runtimeDescriptors).map { _ in socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0) }
            for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
            guard !descriptors.contains(where: { $0 < 0 }) else { return }
            isRuntimePrepared.withLock { $0 = true }
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
