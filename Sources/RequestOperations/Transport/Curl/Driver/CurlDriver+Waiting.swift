#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// How the thread of a driver waits until there is work.
    extension CurlDriver {
        /// Returns when a socket, a timer or the inbox has work for the thread, or when a deadline has come.
        func waitForWork(_ multi: UnsafeMutableRawPointer) {
            nextTurn = now
            let began = CurlLibrary.now
            if !findsWork(multi, since: began) {
                guard inbox.withLock({ $0.fallsAsleep(hasTransfers: hasTransfers) }) else { return }
                rest()
                let milliseconds = goesOnAtOnce ? 0 : millisecondsToSleep
                nextTurn = now.adding(Int64(milliseconds) * 1_000_000)
                poll(multi, milliseconds)
            }
            let waited = CurlLibrary.now - began
            lastWaitWasShort = waited < (lastWaitWasShort ? Self.moment : 2 * Self.moment)
            noteTurn(waited: waited)
        }

        /// Polls on for a moment instead of sleeping. To be woken takes as long as the answer of a server near by, and as
        /// the next of several requests that follow one another. So the thread does so after a short wait, if there is one
        /// request at most. Returns whether there is work.
        private func findsWork(_ multi: UnsafeMutableRawPointer, since began: Int64) -> Bool {
            guard lastWaitWasShort, !goesOnAtOnce, fruitlessTurns == 0, active.count <= 1, Self.hasSeveralProcessors
            else { return false }
            while CurlLibrary.now - began < Self.moment {
                if poll(multi, 0) || inbox.withLock({ $0.keepsAwake(hasTransfers: hasTransfers) }) { return true }
            }
            return false
        }

        /// Waits for events of sockets. Returns whether there are some.
        @discardableResult
        private func poll(_ multi: UnsafeMutableRawPointer, _ milliseconds: Int32) -> Bool {
            var events: Int32 = 0
            curl_multi_poll(multi, nil, 0, milliseconds, &events)
            goesOnAtOnce = events > 0 && forgetsAddresses
            return events > 0
        }

        private static let moment: Int64 = 100_000
        private static let hasSeveralProcessors = ProcessInfo.processInfo.activeProcessorCount > 1

        private var millisecondsToSleep: Int32 {
            if !linesWithRoom.isEmpty { return 0 }
            let deadline = min(nextSweep, lookups.deadline, nextDescriptorCheck)
            guard deadline != .max else { return 60_000 }
            return Int32(clamping: min(max((deadline - CurlLibrary.now + 999_999) / 1_000_000, 0), 60_000))
        }
    }

    /// The multi handle of a driver, which has the driver's connections and options.
    extension CurlDriver {
        /// A new multi handle; `nil` if the system has no memory or no descriptor for it. Without a descriptor, libcurl
        /// would make one that cannot be woken.
        static func makeMulti() -> UnsafeMutableRawPointer? {
            guard let multi = curl_multi_init() else { return nil }
            if curl_multi_wakeup(multi) == CURLM_OK { return multi }
            curl_multi_cleanup(multi)
            return nil
        }

        func setUp(_ multi: UnsafeMutableRawPointer) {
            _ = rocurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.keptConnections)
            if let limit = configuration.maximumConnectionsPerHost {
                _ = rocurl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, limit)
            }
            boundConnections()
            if !CurlLibrary.sharesConnections {
                _ = rocurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
            }
            if CurlLibrary.keepsThreadsForLookups {
                // The same as for each easy handle; see `HandleSettings.apply`.
                _ = rocurl_multi_set_long(multi, rocurl_multi_option_quick_exit, 1)
                // Each look-up takes one thread for each family of addresses.
                _ = rocurl_multi_set_long(multi, rocurl_multi_option_lookup_threads, 2 * lookups.bound)
            }
        }
    }
#endif
