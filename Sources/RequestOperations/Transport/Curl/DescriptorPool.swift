#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Dispatch
    import Glibc
    import Synchronization

    /// The descriptors of the process, which all drivers share. A driver that finds none for a connection has the others close
    /// their idle connections.
    final class DescriptorPool: Sendable {
        /// That of this process.
        static let shared = DescriptorPool()

        private struct State {
            /// The functions that wake the drivers.
            var wakes: [ObjectIdentifier: @Sendable () -> Void] = [:]
            /// Until when each of them counts as short of descriptors.
            var shortages: [ObjectIdentifier: Int64] = [:]
            var lastCall = Int64.min
        }

        private let state = Locked(State())
        /// The latest end of a shortage, for those who ask at every turn.
        private let shortUntil = Atomic(Int64.min)
        private let limit: @Sendable () -> Int64

        /// So long after it was told a shortage counts.
        private static let shortage: Int64 = 200_000_000
        /// The others are woken for shortages no more often than this.
        private static let callInterval: Int64 = 50_000_000

        /// - Parameter limit: How many descriptors the process may have open, asked for at each new connection: it can change.
        init(limit: @escaping @Sendable () -> Int64 = { rocurl_descriptor_limit() }) {
            self.limit = limit
        }

        /// Whether a new connection may keep its descriptor; see ``DescriptorShare/allows(_:isFirst:filesToOpen:)``.
        func allows(_ descriptor: Int32, isFirst: @autoclosure () -> Bool, filesToOpen: Int) -> Bool {
            DescriptorShare(limit: limit()).allows(descriptor, isFirst: isFirst(), filesToOpen: filesToOpen)
        }

        /// Whether an `errno` says that descriptors or memory of the system are used up.
        static func isShortage(_ number: Int32) -> Bool {
            [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(number)
        }

        // MARK: The drivers

        /// A driver begins to work.
        ///
        /// - Parameter wake: Has it take a turn. It is called from the threads of other drivers.
        func join(_ driver: AnyObject, wake: @escaping @Sendable () -> Void) {
            state.withLock { $0.wakes[ObjectIdentifier(driver)] = wake }
        }

        /// A driver has ended.
        func leave(_ driver: AnyObject) {
            let wake = state.withLock { state in
                state.shortages[ObjectIdentifier(driver)] = nil
                return state.wakes.removeValue(forKey: ObjectIdentifier(driver))
            }
            // What it holds goes outside of the lock.
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

        /// Whether another driver than this one was short of descriptors a moment ago.
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

        /// Has Dispatch open what it needs for timers, once, if there are descriptors for that. If it needs them later and
        /// finds none, it ends the process.
        static func prepareRuntime() {
            guard !isRuntimePrepared.withLock({ $0 }) else { return }
            let descriptors = (0..<runtimeDescriptors).map { _ in rocurl_wake_create() }
            for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
            guard !descriptors.contains(where: { $0 < 0 }) else { return }
            isRuntimePrepared.withLock { $0 = true }
            _ = DeadlineHeap.shared.schedule(at: .now) {}
            DispatchQueue.global().asyncAfter(wallDeadline: .now()) {}
            Task {
                // Of either clock there is a timer. Nobody cancels this, which is all that could be thrown.
                try? await ContinuousClock().sleep(for: .nanoseconds(1))
                try? await SuspendingClock().sleep(for: .nanoseconds(1))
            }
        }
    }
#endif
