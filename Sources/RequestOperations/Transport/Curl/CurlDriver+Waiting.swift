#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Synchronization

    /// How the thread of a driver waits until there is something to do.
    extension CurlDriver {
        /// Returns when a socket, a timer or the inbox has something for the thread, or a deadline has come.
        func waitForWork(_ multi: UnsafeMutableRawPointer) {
            let awaitsResponse = !active.isEmpty
            let began = CurlLibrary.now
            if !looksOut(multi, awaitsResponse ? responsePolling : requestPolling, since: began),
                inbox.withLock({ $0.fallsAsleep(hasTransfers: hasTransfers) })
            {
                rocurl_wait(multi, wakeDescriptor, millisecondsToSleep)
            }
            learn(from: CurlLibrary.now - began, awaitsResponse: awaitsResponse)
        }

        /// Looks out for work without sleeping, if that is worthwhile; whether there is some.
        private func looksOut(_ multi: UnsafeMutableRawPointer, _ polling: BusyPolling, since began: Int64) -> Bool {
            guard polling.isWorthwhile, active.count <= 1 else { return false }
            let end = min(began.adding(polling.limit), nextDeadline)
            let known = callCount.load(ordering: .relaxed)
            if inbox.withLock({ $0.keepsAwake(hasTransfers: hasTransfers) }) { return true }
            repeat {
                // (Who calls would have to wait for a thread that asks under the lock each time.)
                if callCount.load(ordering: .relaxed) != known { return true }
                if !active.isEmpty, rocurl_is_ready(multi) { return true }
                rocurl_pause()
            } while CurlLibrary.now < end
            return false
        }

        /// Several transfers are in no hurry: what comes for them during a wait is done in one turn.
        private func learn(from length: Int64, awaitsResponse: Bool) {
            if active.count > 1 {
                responsePolling.startOver()
                requestPolling.startOver()
            } else if awaitsResponse {
                responsePolling.waited(for: length)
            } else {
                requestPolling.waited(for: length)
            }
        }

        private var nextDeadline: Int64 { min(nextSweep, nextTelling) }

        private var millisecondsToSleep: Int32 {
            guard nextDeadline != .max else { return 60_000 }
            return Int32(clamping: min((nextDeadline - CurlLibrary.now + 999_999) / 1_000_000, 60_000).clampedToZero)
        }
    }

    extension Int64 {
        fileprivate var clampedToZero: Int64 { self < 0 ? 0 : self }
    }
#endif
