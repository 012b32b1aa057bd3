#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// How the thread of a driver waits until there is work.
    extension CurlDriver {
        /// Returns when a socket, a timer or the inbox has work for the thread, or when a deadline has come.
        func waitForWork(_ multi: UnsafeMutableRawPointer) {
            guard inbox.withLock({ $0.fallsAsleep(hasTransfers: hasTransfers) }) else { return }
            let began = CurlLibrary.now
            rest()
            var events: Int32 = 0
            curl_multi_poll(multi, nil, 0, goesOnAtOnce ? 0 : millisecondsToSleep, &events)
            goesOnAtOnce = events > 0 && forgetsAddresses
            noticeFruitlessTurn(waited: CurlLibrary.now - began)
        }

        /// Whether libcurl may have to run twice to try the next address of a host; see
        /// ``CurlLibrary/forgetsAddresses``.
        private var forgetsAddresses: Bool {
            CurlLibrary.forgetsAddresses && active.contains { $0.phase == .connect && $0.hasSocket }
        }

        // MARK: Turns without a result

        /// Some versions of libcurl ask for events that they cannot use. So while the window of an HTTP/2 upload is
        /// full, they ask when they can write. The thread would then run without end. After some turns without any
        /// result, it rests a little before the next one, each time twice as long.
        private func noticeFruitlessTurn(waited: Int64) {
            let isFruitless = waited < Self.longestRest && steps == stepsBefore && !hasMail && !isConnecting
            fruitlessTurns = isFruitless ? fruitlessTurns + 1 : 0
            stepsBefore = steps
        }

        private var hasMail: Bool { inbox.withLock { !$0.isEmpty } }

        /// The steps of a TLS handshake are not told.
        private var isConnecting: Bool { active.contains { $0.phase == .connect } }

        private func rest() {
            guard fruitlessTurns > Self.freeTurns else { return }
            let length = min(Self.shortestRest << Int64(min(fruitlessTurns - Self.freeTurns, 10)), Self.longestRest)
            var time = timespec(tv_sec: 0, tv_nsec: Int(length))
            nanosleep(&time, nil)
        }

        private static let freeTurns = 8
        private static let shortestRest: Int64 = 20_000
        private static let longestRest: Int64 = 2_000_000

        private var millisecondsToSleep: Int32 {
            let deadline = min(nextSweep, lookups.deadline, descriptorLine.deadline, descriptorBoundEnd)
            guard deadline != .max else { return 60_000 }
            return Int32(clamping: min(max((deadline - CurlLibrary.now + 999_999) / 1_000_000, 0), 60_000))
        }
    }
#endif
