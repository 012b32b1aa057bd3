#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// How many names libcurl looks up at a time for a driver.
    ///
    /// Each look-up takes a thread and three descriptors. The look-ups of one driver get at most half of the process's
    /// descriptors and a quarter of its threads. A queue whose next request needs one waits for its turn.
    struct Lookups {
        /// How many look-ups may run at a time.
        let bound: Int
        private var running = 0
        /// The times until which look-ups count whose transfers have ended. libcurl does not report when those look-ups
        /// end.
        private var abandoned: [Int64] = []
        private var waiting = Queue<OriginQueue>()

        /// How long the system's resolver mostly goes on with a name for which it gets no answer.
        private static let patience: Int64 = 10_000_000_000
        private static let mostAtATime = 256

        init(bound: Int = Lookups.boundOfProcess) {
            self.bound = bound
        }

        /// The bound that follows from the current limits of the process.
        private static var boundOfProcess: Int {
            var threads = rlimit()
            getrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &threads)
            let share = min(Int(clamping: DescriptorShare.limitOfProcess) / 6, Int(clamping: threads.rlim_cur) / 4)
            return min(max(share, 4), mostAtATime)
        }

        /// Whether one more look-up may begin.
        var hasRoom: Bool { running + abandoned.count < bound }

        mutating func begin() {
            running += 1
        }

        mutating func end() {
            running -= 1
        }

        /// The transfer of a look-up is about to end, and the look-up goes on. So it counts for a while.
        mutating func abandon(at now: Int64) {
            abandoned.append(now.adding(Self.patience))
        }

        mutating func wait(_ queue: OriginQueue) {
            guard !queue.awaitsLookup else { return }
            queue.awaitsLookup = true
            waiting.append(queue)
        }

        /// Takes out the queue whose turn it is, if there is room.
        mutating func next(at now: Int64) -> OriginQueue? {
            guard !waiting.isEmpty else { return nil }
            abandoned.removeAll { $0 <= now }
            guard hasRoom, let next = waiting.popFirst() else { return nil }
            next.awaitsLookup = false
            return next
        }

        /// When a waiting queue can go on.
        var deadline: Int64 { waiting.isEmpty ? .max : hasRoom ? 0 : abandoned.first ?? .max }
    }

    extension CurlLibrary {
        /// Whether the threads of look-ups belong to the multi handle, which waits for them to end and bounds their number.
        /// Such a library connects to the first address, and keeps the name once both families have answered. A request that
        /// begins between the two looks the name up once more.
        static let keepsThreadsForLookups = version >= Version(8, 20)
    }

    extension CurlDriver {
        func beginLookup(_ transfer: CurlTransfer) {
            guard !transfer.looksUp else { return }
            transfer.looksUp = true
            lookups.begin()
        }

        func endLookup(_ transfer: CurlTransfer) {
            guard transfer.looksUp else { return }
            transfer.looksUp = false
            lookups.end()
        }
    }
#endif
