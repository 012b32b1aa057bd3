#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Synchronization

    /// What other threads want of the thread of a driver.
    extension CurlDriver {
        /// Gives a new transfer to the thread, or calls its attention to one that it has. `false` if the transport has been
        /// shut down, for a new one.
        @discardableResult
        func call(for transfer: CurlTransfer, isNew: Bool = false) -> Bool {
            switch put({ $0.add(transfer, isNew: isNew) }) {
            case .startThread: start()
            case .wakeThread: rocurl_wake(wakeDescriptor)
            case .refuse: return false
            case .none, .isOver: break
            }
            return true
        }

        /// Has the thread take a turn, if it sleeps.
        func callForTurn() {
            if case .wakeThread = put({ $0.nudge() }) { rocurl_wake(wakeDescriptor) }
        }

        /// Puts something in so that a thread that looks out notices.
        private func put(_ change: (inout DriverInbox) -> DriverInbox.Effect) -> DriverInbox.Effect {
            defer { callCount.wrappingAdd(1, ordering: .relaxed) }
            return inbox.withLock(change)
        }

        /// Whether it takes no new transfer.
        var isEnding: Bool { inbox.withLock { $0.isEnding } }

        /// Whether its thread has ended, or never will start.
        var isOver: Bool { inbox.withLock { $0.isOver } }

        /// Shuts the transport down; returns when the thread has ended and all connections are closed.
        func shutDown(_ mode: CurlTransport.ShutdownMode) async {
            await withCheckedContinuation { continuation in
                askToEnd(mode, continuation)
            }
        }

        /// Shuts the transport down without waiting.
        func askToEnd(_ mode: CurlTransport.ShutdownMode, _ waiter: CheckedContinuation<Void, Never>? = nil) {
            switch put({ $0.shutDown(mode, waiter) }) {
            case .wakeThread:
                rocurl_wake(wakeDescriptor)
            case .isOver:
                handles.removeAll()
                waiter?.resume()
            case .none, .startThread, .refuse:
                break
            }
        }
    }
#endif
