#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// The deadlines of a driver's transfers, on its thread.
    extension CurlDriver {
        /// Makes the driver check the deadlines at this time at the latest.
        func sweep(by time: Int64) {
            if time < nextSweep { nextSweep = time }
        }

        /// If the thread could not run for a while, postpones the idle limits: a signal may have stopped the process, or the
        /// machine stood still. What servers sent meanwhile is yet to be read.
        func noticeStop() {
            let stop = now - nextTurn
            guard stop > Self.longestTurn else { return }
            for transfer in active {
                transfer.deadlines.activity = min(transfer.deadlines.activity.adding(stop + Self.recovery), now)
            }
        }

        /// How long a turn takes on a busy machine, at most.
        private static let longestTurn: Int64 = 1_000_000_000
        /// How long it takes at most until all is read that came during a stop.
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
            if case .idleLimit = cause { return stopIdle(transfer) }
            stop(transfer, cause)
        }

        private func nextDeadline(of transfer: CurlTransfer) -> (Int64, CurlTransfer.Cause)? {
            if let progress = transfer.deadlines.progress { sweep(by: progress) }
            if let drain = transfer.deadlines.drain { return (drain, .drained) }
            // The transfer waits for a connection that others make, or for a descriptor.
            if transfer.place.isHeld, transfer.deadlines.connect == nil { return nil }
            // Either the transfer connects, or a connection is made over which its request is sent again.
            if transfer.phase == .connect || transfer.deadlines.connect != nil {
                let lacksDescriptor = transfer.place == .awaitingDescriptor
                return transfer.deadlines.connect.map { ($0, lacksDescriptor ? Self.noDescriptor : .connectLimit) }
            }
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
        /// over a slow line. The kernel accepts more in advance, and all of a short body.
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
            let due = transfer.deadlines.lastProgress + TransferDeadlines.progressInterval
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
#endif
