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

        /// Polls on for a moment instead of sleeping. A wake-up takes as long as the answer of a nearby server, or as the
        /// next of several requests in a row takes to come. So the thread does so after a short wait, if there is one
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
            if !queuesWithRoom.isEmpty { return 0 }
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

    /// The deadlines of a driver's transfers, on its thread.
    extension CurlDriver {
        /// Makes the driver check the deadlines at this time at the latest.
        func sweep(by time: Int64) {
            if time < nextSweep { nextSweep = time }
        }

        /// If the thread could not run for a while, postpones the idle limits: a signal may have stopped the process, or the
        /// machine stood still. What servers sent meanwhile is still unread.
        func noticeStop() {
            let stop = now - nextTurn
            guard stop > Self.longestTurn else { return }
            for transfer in active {
                transfer.deadlines.activity = min(transfer.deadlines.activity.adding(stop + Self.recovery), now)
            }
        }

        /// How long a turn takes on a busy machine, at most.
        private static let longestTurn: Int64 = 1_000_000_000
        /// The longest time until everything that came during a stop has been read.
        private static let recovery: Int64 = 5_000_000_000

        func sweep() {
            nextSweep = .max
            for transfer in active.reversed() { check(transfer) }
        }

        private func check(_ transfer: CurlTransfer) {
            // The end of one transfer can end another.
            guard transfer.isActive else { return }
            if case .stopped(let cause)? = transfer.outcome { return stop(transfer, cause) }
            if let due = transfer.deadlines.progress, due <= now {
                transfer.deadlines.progress = nil
                progressed(transfer)
            }
            guard let (deadline, cause) = nextDeadline(of: transfer) else { return }
            guard deadline <= now else { return sweep(by: deadline) }
            switch cause {
            case .idleLimit: stopIdle(transfer)
            case .connectLimit where transfer.place.isAwaitingDescriptor:
                stop(transfer, .failed(.outOfLocalResources, "there is no file descriptor for the connection"))
            default: stop(transfer, cause)
            }
        }

        private func nextDeadline(of transfer: CurlTransfer) -> (Int64, CurlTransfer.Cause)? {
            if let progress = transfer.deadlines.progress { sweep(by: progress) }
            if let drain = transfer.deadlines.drain { return (drain, .drained) }
            // Either the transfer connects, or a connection is made over which its request is sent again.
            if let connect = transfer.place.connectDeadline { return (connect, .connectLimit) }
            // It waits for a connection that others make, or for a descriptor.
            if transfer.phase == .connect { return nil }
            // Time that a consumer takes does not count as idle; time that a source takes does.
            guard let idle = transfer.limits.idle, !transfer.paused.contains(.receiving) else { return nil }
            if transfer.sendsBody, let easy = transfer.easy {
                let isDue = min(transfer.deadlines.nextUploadCheck, transfer.deadlines.activity.adding(idle)) <= now
                if isDue { noticeSent(of: transfer, easy, idle) }
                sweep(by: transfer.deadlines.nextUploadCheck)
            }
            return (transfer.deadlines.activity.adding(idle), .idleLimit)
        }

        /// Records how much of a body was sent and received. libcurl reads a body in pieces, and a piece takes long
        /// over a slow connection. The kernel accepts more in advance, and all of a short body.
        private func noticeSent(of transfer: CurlTransfer, _ easy: EasyHandle, _ idle: Int64) {
            let sent = easy.sent
            let unreceived = transfer.connection.known?.socket.map { rocurl_unreceived($0) } ?? -1
            let last = transfer.deadlines
            // On a connection with other streams, a few bytes may be no more than a head of another stream.
            let isReceived =
                unreceived >= 0 && unreceived < last.unreceived && last.unreceived > leastUnreceived(of: transfer)
            if isReceived || transfer.upload != nil && sent != last.sent { transfer.deadlines.activity = now }
            transfer.deadlines.sent = sent
            transfer.deadlines.unreceived = unreceived
            // What happened since the last look gets the time of this one.
            let isSending = transfer.upload != nil && sent != transfer.upload?.length
            transfer.deadlines.nextUploadCheck = isSending || unreceived > 0 ? look(after: idle) : .max
        }

        private func leastUnreceived(of transfer: CurlTransfer) -> Int64 { transfer.mayUseHTTP2 ? 4 << 10 : 0 }

        /// When to look next at how far a body has come.
        func look(after idle: Int64) -> Int64 { now.adding(max(idle / 8, Self.shortestLook)) }

        private static let shortestLook: Int64 = 5_000_000

        /// Reports progress to the Task, but not too often.
        func progressed(_ transfer: CurlTransfer) {
            let due = transfer.deadlines.lastProgress + CurlTransfer.Deadlines.progressInterval
            guard due <= now else {
                transfer.deadlines.progress = due
                return sweep(by: due)
            }
            transfer.deadlines.lastProgress = now
            let progress = transfer.progress
            transfer.exchange.withLock { $0.progressed(progress) }
            markReady(transfer)
        }
    }

    /// Connections that take several requests at a time, and over which nothing comes any more.
    ///
    /// When a stream ends, libcurl keeps its connection for others. A relay on the way may have forgotten that
    /// connection. Without these functions, libcurl would use it for one request after the other, forever.
    extension CurlDriver {
        /// Ends a transfer whose idle limit has passed. Also ends its connection if nothing has moved over it
        /// meanwhile: libcurl then reports the loss to the other transfers, and uses it for no new one.
        func stopIdle(_ transfer: CurlTransfer) {
            if let silent = silentConnection(of: transfer), let socket = silent.socket {
                shutdown(socket, Int32(SHUT_RDWR))
                for other in users(of: silent) { other.connection.loss = .silence }
            }
            stop(transfer, .idleLimit)
        }

        private func users(of connection: EstablishedConnection) -> [CurlTransfer] {
            active.filter { $0.connection.known === connection }
        }

        /// The connection of a stream, if nothing moved over that connection while the stream was idle.
        private func silentConnection(of transfer: CurlTransfer) -> EstablishedConnection? {
            guard transfer.mayBreakOffStream, let connection = transfer.connection.known, let socket = connection.socket
            else { return nil }
            let since = transfer.deadlines.activity
            let silence = rocurl_silence(socket)
            guard silence >= 0, silence.adding(Self.tick) >= now - since else { return nil }
            // A transfer that waits for its consumer may have filled the connection's window. Then we are silent, not
            // the server.
            let isInUse = users(of: connection).contains { other in
                other.paused.contains(.receiving) || isSending(other, beside: transfer, since: since)
            }
            return isInUse ? nil : connection
        }

        /// Whether another upload on the connection makes progress. (The kernel of a relay may accept the first bytes
        /// of a new one.)
        private func isSending(_ other: CurlTransfer, beside transfer: CurlTransfer, since: Int64) -> Bool {
            guard other !== transfer, other.upload != nil else { return false }
            let start = other.sent.adding((transfer.limits.idle ?? 0) / 2)
            return other.deadlines.activity > max(since, start)
        }

        /// The longest tick of a kernel, which is its unit for measuring silence.
        private static let tick: Int64 = 10_000_000
    }

    extension CurlTransfer {
        /// When something is due for one transfer. The driver checks all of these when the earliest may be due. Times are
        /// those of `CurlLibrary.now`.
        struct Deadlines {
            /// Until when a rejected response is read.
            var drain: Int64?
            /// When bytes last went in either direction.
            var activity: Int64 = 0
            /// When the driver checks next how far the request's body has come.
            var nextUploadCheck = Int64.max
            /// How many bytes were sent at the last check.
            var sent: Int64 = 0
            /// How many bytes the other side had not received at the last check; -1 if that was not known.
            var unreceived: Int64 = -1
            /// When to report progress that came too soon after the last report.
            var progress: Int64?
            var lastProgress: Int64 = 0

            /// The shortest time between two reports of progress.
            static let progressInterval: Int64 = 50_000_000
        }
    }
#endif
