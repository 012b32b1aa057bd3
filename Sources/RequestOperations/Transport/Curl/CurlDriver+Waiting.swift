#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Synchronization

    /// How the thread of a driver waits until there is work.
    extension CurlDriver {
        private enum Awaited {
            case request
            /// The first bytes of the only transfer's response.
            case response
            /// More of a body, a connection or a look-up.
            case progress
            case several
        }

        private var awaited: Awaited {
            switch active.count + desk.heldCount {
            case 0: .request
            case 1: active.first?.phase == .head ? .response : .progress
            default: .several
            }
        }

        /// Returns when a socket, a timer or the inbox has work for the thread, or when a deadline has come.
        func waitForWork() {
            let awaited = awaited
            let began = CurlLibrary.now
            if !looksOut(for: awaited, since: began),
                inbox.withLock({ $0.fallsAsleep(hasTransfers: hasTransfers) })
            {
                _ = sockets.wait(milliseconds: millisecondsToSleep)
                lastAsked = began
            } else if began - lastAsked > Self.longestUnasked {
                // Otherwise, transfers could arrive faster than they are taken, and the sockets would wait forever.
                sockets.ask()
                lastAsked = began
            }
            learn(from: CurlLibrary.now - began, for: awaited)
        }

        /// Polls for work without sleeping, if that is worthwhile. Returns whether there is some.
        private func looksOut(for awaited: Awaited, since began: Int64) -> Bool {
            guard let polling = polling(for: awaited), polling.isWorthwhile, busyThreads.enter() else { return false }
            defer { busyThreads.leave() }
            let end = min(began.adding(polling.limit), nextDeadline)
            let known = callCount.load(ordering: .relaxed)
            if inbox.withLock({ $0.keepsAwake(hasTransfers: hasTransfers) }) { return true }
            repeat {
                // Checking under the lock each time would hold up the callers.
                if callCount.load(ordering: .relaxed) != known { return true }
                if awaited == .response, sockets.wait(milliseconds: 0) { return true }
                rocurl_spin_hint()
            } while CurlLibrary.now < end
            return false
        }

        /// For a body or several transfers, the thread does more in one turn after some sleep. So it does not poll for
        /// those.
        private func polling(for awaited: Awaited) -> BusyPolling? {
            switch awaited {
            case .request: requestPolling
            case .response: responsePolling
            case .progress, .several: nil
            }
        }

        /// The longest time that the sockets may wait while the inbox is busy.
        private static let longestUnasked: Int64 = 1_000_000

        private func learn(from length: Int64, for awaited: Awaited) {
            switch awaited {
            case .request: requestPolling.waited(for: length)
            case .response: responsePolling.waited(for: length)
            case .progress: break
            case .several:
                responsePolling.startOver()
                requestPolling.startOver()
            }
        }

        private var nextDeadline: Int64 {
            min(
                nextSweep, nextTelling, nextRun, nextRotation, sockets.deadline, descriptorLine.deadline,
                descriptorBoundEnd)
        }

        private var millisecondsToSleep: Int32 {
            guard nextDeadline != .max else { return 60_000 }
            return Int32(clamping: min((nextDeadline - CurlLibrary.now + 999_999) / 1_000_000, 60_000).clampedToZero)
        }
    }

    extension Int64 {
        fileprivate var clampedToZero: Int64 { self < 0 ? 0 : self }
    }
#endif
