#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// What a driver does on behalf of a transfer's Task, and how it resumes Tasks.
    extension CurlDriver {
        func resume(_ transfer: CurlTransfer) {
            guard transfer.isActive, let easy = transfer.easy else { return }
            let wasPaused = transfer.paused
            transfer.paused.remove(.receiving)
            if (transfer.upload as? StreamUpload)?.isReadable != false { transfer.paused.remove(.sending) }
            guard transfer.paused != wasPaused else { return }
            transfer.deadlines.activity = now
            if let idle = transfer.limits.idle { sweep(by: now.adding(idle)) }
            // libcurl delivers the bytes that it holds back before this call returns. It reports an error of that only
            // here.
            let code = curl_easy_pause(easy.pointer, transfer.paused.rawValue)
            if case .stopped(let cause)? = transfer.outcome {
                stop(transfer, cause)
            } else if code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT, let multi {
                // (If libcurl has finished with a handle, it reports a wrong argument.)
                transfer.endConnectionIfAlone()
                curl_multi_remove_handle(multi, easy.pointer)
                end(transfer, .finished(code))
            }
        }

        func deliver(_ transfer: CurlTransfer) {
            guard !transfer.kept.isEmpty else { return }
            transfer.exchange.withLock { $0.deliver(&transfer.kept) }
            markReady(transfer)
        }

        func drain(_ transfer: CurlTransfer) {
            guard transfer.isActive else { return }
            // In a second call, the transfer has more of its own body to send.
            if transfer.deadlines.drain != nil { return resume(transfer) }
            guard transfer.limits.errorBody > 0, transfer.received <= transfer.limits.errorBody else {
                return stop(transfer, .drained)
            }
            let deadline = now.adding(transfer.limits.errorBodyTime.nanoseconds)
            transfer.deadlines.drain = deadline
            sweep(by: deadline)
            resume(transfer)
        }

        /// Records that the Task of a transfer may have something to do at the end of this turn.
        func markReady(_ transfer: CurlTransfer) {
            guard !transfer.isReady else { return }
            transfer.isReady = true
            ready.append(transfer)
        }

        func wakeTasks() {
            for transfer in ready {
                transfer.isReady = false
                transfer.exchange.withLock { $0.wake() }?.resume()
            }
            ready.removeAll(keepingCapacity: true)
        }
    }

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
