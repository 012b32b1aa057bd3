#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// How the thread of a driver waits until there is work.
    extension CurlDriver {
        /// Returns when a socket, a timer or the inbox has work for the thread, or when a deadline has come.
        func waitForWork(_ multi: UnsafeMutableRawPointer) {
            nextTurn = now
            guard inbox.withLock({ $0.fallsAsleep(hasTransfers: hasTransfers) }) else { return }
            let began = CurlLibrary.now
            rest()
            var events: Int32 = 0
            let milliseconds = goesOnAtOnce ? 0 : millisecondsToSleep
            nextTurn = now.adding(Int64(milliseconds) * 1_000_000)
            curl_multi_poll(multi, nil, 0, milliseconds, &events)
            goesOnAtOnce = events > 0 && forgetsAddresses
            noticeFruitlessTurn(waited: CurlLibrary.now - began)
        }

        private var millisecondsToSleep: Int32 {
            if !queuesWithRoom.isEmpty { return 0 }
            let deadline = min(nextSweep, lookups.deadline, descriptorLine.deadline, descriptorBoundEnd)
            guard deadline != .max else { return 60_000 }
            return Int32(clamping: min(max((deadline - CurlLibrary.now + 999_999) / 1_000_000, 0), 60_000))
        }
    }
#endif
