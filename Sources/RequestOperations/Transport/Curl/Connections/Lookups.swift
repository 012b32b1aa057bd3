#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// How many names libcurl looks up at a time for a driver.
    ///
    /// Each look-up takes a thread and two descriptors of libcurl's, and one descriptor of the system's resolver. The
    /// look-ups of one driver get at most half of the process's descriptors and a quarter of its threads. A transfer for
    /// whose look-up there is no place waits in line. It may find the name in libcurl's memory when its turn comes.
    struct Lookups {
        /// How many look-ups may run at a time.
        let bound: Int
        private var running = 0
        /// Until when the look-ups count whose transfers have ended. libcurl does not tell when those end.
        private var abandoned: [Int64] = []
        private var line = Line<CurlTransfer>()

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
            let share = min(Int(clamping: DescriptorPool.limitOfProcess) / 6, Int(clamping: threads.rlim_cur) / 4)
            return min(max(share, 4), mostAtATime)
        }

        private var hasPlace: Bool { running + abandoned.count < bound }

        /// Takes a place for a look-up. Returns `false` if there is none.
        mutating func begin(at now: Int64) -> Bool {
            abandoned.removeAll { $0 <= now }
            guard hasPlace else { return false }
            running += 1
            return true
        }

        /// A look-up has ended.
        mutating func end() {
            running -= 1
        }

        /// The transfer of a look-up is about to end, and the look-up goes on. So its place stays taken for a while.
        mutating func abandon(at now: Int64) {
            abandoned.append(now.adding(Self.patience))
        }

        mutating func wait(_ transfer: CurlTransfer) {
            line.append(transfer)
        }

        /// Takes the transfers out of the line that can try now.
        mutating func takeWaiting(at now: Int64) -> [CurlTransfer] {
            guard !line.isEmpty else { return [] }
            abandoned.removeAll { $0 <= now }
            var transfers: [CurlTransfer] = []
            while running + abandoned.count + transfers.count < bound, let next = line.popFirst() {
                if next.isActive { transfers.append(next) }
            }
            return transfers
        }

        /// When a waiting transfer can try.
        var deadline: Int64 { line.isEmpty ? .max : hasPlace ? 0 : abandoned.first ?? .max }
    }

    extension CurlLibrary {
        /// Whether the threads of look-ups belong to the multi handle, which waits for them to end.
        static let keepsThreadsForLookups = version >= Version(8, 20)
    }

    extension CurlDriver {
        /// Makes a transfer wait for whose look-up there was no place. Returns whether it waits.
        func waitsForLookup(_ transfer: CurlTransfer, _ easy: EasyHandle) -> Bool {
            guard transfer.place == .lackingLookup, transfer.outcome == nil else { return false }
            move(transfer, to: .awaitingLookup)
            // Behind a SOCKS proxy, the look-up comes after the socket.
            transfer.connection.forgetSockets()
            easy.forgetMessage()
            // Others may try the connections that there are.
            if let queue = transfer.queue { noteRoom(in: queue) }
            lookups.wait(transfer)
            return true
        }

        /// Gives libcurl the transfers again that can look up their names now.
        func retryLookups(_ multi: UnsafeMutableRawPointer) {
            for transfer in lookups.takeWaiting(at: now) {
                if let easy = transfer.easy { giveAgain(transfer, easy, multi) }
            }
        }
    }
#endif
