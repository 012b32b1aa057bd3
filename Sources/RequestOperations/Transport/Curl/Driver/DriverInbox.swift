#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// How other threads of the program reach the thread of a driver: a pure state machine behind one lock.
    struct DriverInbox {
        private enum Life {
            case notStarted
            case awake
            /// The thread waits in libcurl, or is about to. A caller that puts something in must wake it.
            case asleep
            case over
        }

        /// What the caller has to do after it has released the lock.
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

        var isEnding: Bool { ending != nil }

        var isOver: Bool { life == .over }

        /// Whether it has nothing for the thread to take.
        var isEmpty: Bool { transfers.isEmpty }

        // MARK: The side of the program

        /// Puts in a transfer that is new, or that the thread has to look at again.
        mutating func add(_ transfer: CurlTransfer, isNew: Bool) -> Effect {
            if isNew, ending != nil { return .refuse }
            // Nothing would ever take the transfer out again.
            if life == .over { return .isOver }
            transfers.append(transfer)
            return wakeUp()
        }

        /// Accepts no new transfer from now on. `failing` replaces `draining`, but never the other way round.
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

        private mutating func wakeUp() -> Effect {
            defer { life = .awake }
            switch life {
            case .notStarted:
                return .startThread
            case .asleep:
                return .wakeThread
            case .awake, .over:
                return .none
            }
        }

        /// The thread could not be started. Returns everything in the inbox, and the callers that wait for its end.
        ///
        /// When nothing is left, it returns `nil`. Then there is no thread, and the next transfer tries again. Until
        /// then, no other thread is started.
        mutating func failToStart() -> (transfers: [CurlTransfer], waiters: [CheckedContinuation<Void, Never>])? {
            guard !transfers.isEmpty || !waiters.isEmpty else {
                life = ending == nil ? .notStarted : .over
                return nil
            }
            return takeAll()
        }

        private mutating func takeAll() -> (transfers: [CurlTransfer], waiters: [CheckedContinuation<Void, Never>]) {
            defer { (transfers, waiters) = ([], []) }
            return (transfers, waiters)
        }

        // MARK: The side of the thread

        /// Takes everything out. Returns how to shut down, if that was asked for.
        mutating func take(into calls: inout [CurlTransfer]) -> CurlTransport.ShutdownMode? {
            life = .awake
            swap(&calls, &transfers)
            return ending
        }

        /// Whether the thread has work. Its own end counts as work, since no caller wakes a thread that has nothing
        /// else left.
        func keepsAwake(hasTransfers: Bool) -> Bool {
            guard isEmpty else { return true }
            return switch ending {
            case nil: false
            case .draining: !hasTransfers
            case .failing: true
            }
        }

        /// Whether the thread may sleep. If so, it counts as asleep from now on.
        mutating func fallsAsleep(hasTransfers: Bool) -> Bool {
            guard !keepsAwake(hasTransfers: hasTransfers) else { return false }
            life = .asleep
            return true
        }

        /// The thread has ended. Returns the transfers that were put in too late, all of which have ended or were
        /// refused. Also returns the callers that waited for the end.
        mutating func end() -> (transfers: [CurlTransfer], waiters: [CheckedContinuation<Void, Never>]) {
            life = .over
            return takeAll()
        }
    }

    /// Wakes the thread of a driver while it waits in libcurl.
    final class WakeBell: Sendable {
        private let handle = Locked<UnsafeMutableRawPointer?>(nil)

        /// Sets the multi handle that the thread waits in; `nil` before the handle is freed.
        func hang(on multi: UnsafeMutableRawPointer?) {
            handle.withLock { $0 = multi }
        }

        /// Ends the wait of the thread, or its next one. Does nothing without a multi handle.
        func ring() {
            // The lock keeps the handle alive during the call. The call may come from any thread, writes one byte and never
            // blocks.
            handle.withLock { if let multi = $0 { curl_multi_wakeup(multi) } }
        }
    }
#endif
