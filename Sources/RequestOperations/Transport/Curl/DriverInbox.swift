#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// How the threads of the program reach the thread of a driver: a pure state machine behind one lock.
    struct DriverInbox {
        private enum Life {
            case notStarted
            case awake
            /// Waiting for its descriptors, or about to: whoever puts something in must wake it.
            case asleep
            case over
        }

        /// What the caller has to do, after it has let go of the lock.
        enum Effect {
            case none
            case startThread
            case wakeThread
            /// The transport takes no new transfer.
            case refuse
            /// There is no thread, and there will be none.
            case isOver
        }

        private var transfers: [CurlTransfer] = []
        private var life = Life.notStarted
        /// How the transport is shut down, once it is.
        private var ending: CurlTransport.ShutdownMode?
        private var waiters: [CheckedContinuation<Void, Never>] = []
        /// How often a caller had to wake the thread, in all.
        private var wakeCount: UInt64 = 0

        var isEnding: Bool { ending != nil }

        var isOver: Bool { life == .over }

        /// Whether nothing is in it for the thread to take.
        var isEmpty: Bool { transfers.isEmpty }

        // MARK: The side of the program

        /// Puts a transfer in that is new, or that the thread has to look at again.
        mutating func add(_ transfer: CurlTransfer, isNew: Bool) -> Effect {
            if isNew, ending != nil { return .refuse }
            // Nothing would ever take it out again.
            if life == .over { return .isOver }
            transfers.append(transfer)
            return wakeUp()
        }

        /// Takes no new transfer from now on. `failing` takes the place of `draining`, never the other way round.
        ///
        /// - Parameter waiter: Resumed when the thread has ended; not if this returns `isOver`.
        mutating func shutDown(
            _ mode: CurlTransport.ShutdownMode, _ waiter: CheckedContinuation<Void, Never>?
        ) -> Effect {
            if ending != .failing { ending = mode }
            if life == .notStarted { life = .over }
            if life == .over { return .isOver }
            if let waiter { waiters.append(waiter) }
            return wakeUp()
        }

        /// Has the thread take a turn, if it sleeps; it need not have one.
        mutating func nudge() -> Effect {
            if case .asleep = life { wakeUp() } else { .none }
        }

        private mutating func wakeUp() -> Effect {
            defer { life = .awake }
            switch life {
            case .notStarted:
                return .startThread
            case .asleep:
                wakeCount += 1
                return .wakeThread
            case .awake, .over:
                return .none
            }
        }

        /// The thread could not be started: everything in here, and those who wait for its end if that was asked for. When
        /// nothing is left there is no thread, and the next transfer tries again; until then nobody starts another.
        mutating func failToStart() -> (transfers: [CurlTransfer], waiters: [CheckedContinuation<Void, Never>])? {
            guard !transfers.isEmpty || !waiters.isEmpty else {
                life = ending == nil ? .notStarted : .over
                return nil
            }
            defer {
                transfers = []
                waiters = []
            }
            return (transfers, waiters)
        }

        // MARK: The side of the thread

        /// Takes everything out, and says how to shut down, if that is asked for.
        mutating func take(into calls: inout [CurlTransfer]) -> CurlTransport.ShutdownMode? {
            life = .awake
            swap(&calls, &transfers)
            return ending
        }

        /// Whether there is something for the thread to do. Its own end is: nobody calls a thread that has only that left.
        func keepsAwake(hasTransfers: Bool) -> Bool {
            guard isEmpty else { return true }
            return switch ending {
            case nil: false
            case .draining: !hasTransfers
            case .failing: true
            }
        }

        /// Whether the thread may sleep; if it may, it is taken to do so.
        mutating func fallsAsleep(hasTransfers: Bool) -> Bool {
            guard !keepsAwake(hasTransfers: hasTransfers) else { return false }
            life = .asleep
            return true
        }

        /// The thread has ended: what was put in too late, all of which has ended or was refused, those who waited for the end,
        /// and how often the thread was woken or is going to be.
        mutating func end() -> (
            late: [CurlTransfer], waiters: [CheckedContinuation<Void, Never>], wakeCount: UInt64
        ) {
            life = .over
            defer {
                transfers = []
                waiters = []
            }
            return (transfers, waiters, wakeCount)
        }
    }
#endif
