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
            let share = min(Int(clamping: rocurl_descriptor_limit()) / 6, Int(clamping: threads.rlim_cur) / 4)
            return min(max(share, 4), mostAtATime)
        }

        private var hasPlace: Bool { running + abandoned.count < bound }

        /// Whether a transfer may look up a name now.
        mutating func begins(for transfer: CurlTransfer, at now: Int64) -> Bool {
            guard !transfer.isLookingUp else { return true }
            abandoned.removeAll { $0 <= now }
            guard hasPlace else { return false }
            transfer.isLookingUp = true
            running += 1
            return true
        }

        /// A transfer knows its name, or has ended without it.
        mutating func ends(for transfer: CurlTransfer) {
            guard transfer.isLookingUp else { return }
            transfer.isLookingUp = false
            running -= 1
        }

        /// A transfer has ended, and its look-up goes on.
        mutating func goesOn(without transfer: CurlTransfer, at now: Int64) {
            ends(for: transfer)
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
            guard transfer.lacksLookup, transfer.outcome == nil else { return false }
            transfer.lacksLookup = false
            // Behind a SOCKS proxy, the look-up comes after the socket.
            transfer.forgetSockets()
            transfer.isHeld = true
            easy.forgetMessage()
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
