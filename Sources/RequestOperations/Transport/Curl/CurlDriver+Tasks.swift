#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// What a driver does since the Task of a transfer wants it, and how it tells Tasks of what there is.
    extension CurlDriver {
        func resume(_ transfer: CurlTransfer) {
            guard transfer.isActive, let easy = transfer.easy else { return }
            let mask = transfer.pauseMask
            if transfer.isReceivingPaused { transfer.setInput(isWithheld: false) }
            transfer.isReceivingPaused = false
            if transfer.isSendingPaused, (transfer.upload as? StreamUpload)?.isReadable != false {
                transfer.isSendingPaused = false
            }
            guard transfer.pauseMask != mask else { return }
            transfer.deadlines.activity = now
            if let idle = transfer.limits.idle { sweep(by: now.adding(idle)) }
            // libcurl delivers what it holds back before this returns. An error of that it tells nobody else.
            let code = curl_easy_pause(easy.pointer, transfer.pauseMask)
            if case .stopped(let cause)? = transfer.outcome {
                stop(transfer, cause)
            } else if code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT, let multi {
                // (A handle that libcurl is done with is a wrong argument.)
                transfer.endConnectionIfAlone()
                curl_multi_remove_handle(multi, easy.pointer)
                end(transfer, .finished(code))
            }
        }

        func deliver(_ transfer: CurlTransfer) {
            guard let kept = transfer.kept, !kept.isEmpty, transfer.received <= transfer.limits.body ?? .max else {
                return
            }
            transfer.exchange.withLock { $0.deliver(kept) }
            becomesReady(transfer)
        }

        func drain(_ transfer: CurlTransfer) {
            guard transfer.isActive else { return }
            // Called again, it has more of its own body to send.
            if transfer.deadlines.drain != nil { return resume(transfer) }
            guard transfer.limits.errorBody > 0, transfer.received <= transfer.limits.errorBody else {
                return stop(transfer, .drained)
            }
            let deadline = now.adding(transfer.limits.errorBodyTime.nanoseconds)
            transfer.deadlines.drain = deadline
            sweep(by: deadline)
            resume(transfer)
        }

        /// Remembers that the Task of a transfer may have something to do at the end of this turn.
        ///
        /// - Parameter canWait: Whether that can wait for what comes next, if that comes soon.
        func becomesReady(_ transfer: CurlTransfer, canWait: Bool = false) {
            guard !transfer.isReady else {
                if !canWait { transfer.canWait = false }
                return
            }
            transfer.isReady = true
            transfer.canWait = canWait
            ready.append(transfer)
        }

        func wakeTasks() {
            nextTelling = .max
            var waiting = 0
            for index in ready.indices {
                let transfer = ready[index]
                if transfer.canWait, waits(transfer) {
                    ready.swapAt(waiting, index)
                    waiting += 1
                } else {
                    transfer.isReady = false
                    transfer.exchange.withLock { $0.wake() }?.resume()
                }
            }
            ready.removeLast(ready.count - waiting)
        }

        /// Whether the news of a transfer wait for more; if they do, until when at the latest.
        private func waits(_ transfer: CurlTransfer) -> Bool {
            let deadline = transfer.firstByte.adding(Self.longestWaitForMore)
            guard CurlLibrary.now < deadline else { return false }
            nextTelling = min(nextTelling, deadline)
            return true
        }

        /// After the first byte of a response.
        private static let longestWaitForMore: Int64 = 2_000_000
    }
#endif
