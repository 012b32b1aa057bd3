#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// What other threads ask of a driver's thread.
    extension CurlDriver {
        /// Gives a new transfer to the thread, or makes it look at one that it has. Returns `false` for a new transfer
        /// if the transport has been shut down.
        @discardableResult
        func call(for transfer: CurlTransfer, isNew: Bool = false) -> Bool {
            switch inbox.withLock({ $0.add(transfer, isNew: isNew) }) {
            case .startThread: start()
            case .wakeThread: bell.ring()
            case .refuse: return false
            case .none, .isOver: break
            }
            return true
        }

        /// Makes the thread take a turn, if it sleeps.
        func callForTurn() {
            if case .wakeThread = inbox.withLock({ $0.nudge() }) { bell.ring() }
        }

        /// Whether the driver takes no new transfer.
        var isEnding: Bool { inbox.withLock { $0.isEnding } }

        /// Whether its thread has ended, or will never start.
        var isOver: Bool { inbox.withLock { $0.isOver } }

        /// Shuts the transport down; returns when the thread has ended and all connections are closed.
        func shutDown(_ mode: CurlTransport.ShutdownMode) async {
            await withCheckedContinuation { continuation in
                askToEnd(mode, continuation)
            }
        }

        /// Shuts the transport down without waiting.
        func askToEnd(_ mode: CurlTransport.ShutdownMode, _ waiter: CheckedContinuation<Void, Never>? = nil) {
            switch inbox.withLock({ $0.shutDown(mode, waiter) }) {
            case .wakeThread:
                bell.ring()
            case .isOver:
                handles.removeAll()
                waiter?.resume()
            case .none, .startThread, .refuse:
                break
            }
        }
    }
#endif
