#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// How transfers get their connections, on the thread of a driver.
    extension CurlDriver {
        /// Gives a transfer to libcurl, or has it wait for others to its origin.
        func connect(_ transfer: CurlTransfer, _ easy: EasyHandle, _ multi: UnsafeMutableRawPointer) {
            let queue = queue(of: transfer)
            transfer.queue = queue
            let known = sockets.reached(transfer.origin)
            if let route = queue.begin(transfer, known) { return go(transfer, route, easy, multi) }
            if queue.isReached(known) || queue.makerWaits {
                transfer.wait?.begin()
            } else {
                // The time until it is known what a connection can do counts as time to connect.
                queue.waitsToConnect = true
                if transfer.mayUseHTTP2 { transfer.startConnectLimit() }
            }
        }

        private func queue(of transfer: CurlTransfer) -> OriginQueue {
            if let queue = queues[transfer.queueKey] { return queue }
            let queue = OriginQueue(of: transfer)
            queues[transfer.queueKey] = queue
            return queue
        }

        /// Gives a transfer to libcurl again that was not sent, for a new connection.
        func connectAnew(_ transfer: CurlTransfer, _ easy: EasyHandle, _ multi: UnsafeMutableRawPointer) {
            easy.forgetMessage()
            guard let route = transfer.queue?.beginAnew(transfer, sockets.reached(transfer.origin)) else {
                // Where there are connections, it may also wait for one of them.
                if sockets.reached(transfer.origin) != nil {
                    transfer.deadlines.connect = nil
                    transfer.wait?.begin()
                }
                return
            }
            go(transfer, route, easy, multi)
        }

        private func go(
            _ transfer: CurlTransfer, _ route: OriginQueue.Route, _ easy: EasyHandle, _ multi: UnsafeMutableRawPointer
        ) {
            let makesApart = transfer.queue?.makesApart ?? false
            if route == .new || route == .first && makesApart { easy.askForFreshConnection() }
            if route != .shared, makesApart { easy.askForHTTP2() }
            transfer.route = route
            giveAgain(transfer, easy, multi)
        }

        /// Gives a transfer to libcurl that waited.
        func giveAgain(_ transfer: CurlTransfer, _ easy: EasyHandle, _ multi: UnsafeMutableRawPointer) {
            move(transfer, to: .given)
            tried.append(transfer)
            othersConnect(by: transfer)
            give(transfer, easy, multi)
        }

        /// From now on, the others in the line of a transfer wait for a connection that it makes, if there is no other. That is
        /// time to connect.
        private func othersConnect(by transfer: CurlTransfer) {
            guard let queue = transfer.queue, queue.waits(for: transfer), !queue.waitsToConnect,
                sockets.reached(transfer.origin) == nil
            else { return }
            queue.waitsToConnect = true
            for other in queue.waiting { other.startConnectLimit() }
        }

        /// libcurl has had its turn. Transfers given to it that did nothing wait in libcurl for one of a limited number of
        /// connections.
        func noticeWaiting() {
            guard !tried.isEmpty else { return }
            for transfer in tried where transfer.waitsForConnection {
                move(transfer, to: .awaitingConnection)
                transfer.easy?.liftConnectLimit()
                transfer.deadlines.connect = nil
                noteWait(transfer)
            }
            tried.removeAll(keepingCapacity: true)
        }

        /// A transfer waits for something that no transfer of its line provides.
        func noteWait(_ transfer: CurlTransfer) {
            transfer.wait?.begin()
            othersWait(for: transfer)
            if let queue = transfer.queue { noteRoom(in: queue) }
        }

        /// A request is sent, over a connection that was made for it or over another transfer's.
        func noteSent(_ transfer: CurlTransfer) {
            transfer.route = .shared
            guard let queue = transfer.queue else { return }
            queue.noteSent(transfer)
            othersWait(for: transfer)
            noteRoom(in: queue)
        }

        /// From now on, the others in the line of a transfer wait for a connection to become free, or for a transfer that itself
        /// waits. That is no time to connect.
        func othersWait(for transfer: CurlTransfer) {
            guard let queue = transfer.queue, queue.waitsToConnect else { return }
            queue.waitsToConnect = false
            for other in queue.waiting {
                other.deadlines.connect = nil
                other.wait?.begin()
            }
        }

        /// A status has come for a transfer.
        func noteAnswer(_ transfer: CurlTransfer) {
            guard transfer.mayUseHTTP2, let queue = transfer.queue else { return }
            sockets.noteAnswer(transfer.origin, isHTTP2: transfer.head.takesSeveral)
            queue.noteAnswer(isHTTP2: transfer.head.takesSeveral)
            noteRoom(in: queue)
        }

        /// A transfer has ended.
        func leaveQueue(_ transfer: CurlTransfer) {
            descriptorLine.noteRoom()
            guard let queue = transfer.queue else { return }
            transfer.queue = nil
            queue.noteEnd(transfer)
            if queue.isIdle { forget(queue) } else { noteRoom(in: queue) }
        }

        /// Another queue of the same key may have come after it.
        private func forget(_ queue: OriginQueue) {
            if queues[queue.key] === queue { queues[queue.key] = nil }
        }

        /// Takes transfers back from libcurl that found no connection and must not make one. One makes one now, and the
        /// others wait for that. (libcurl would try all addresses of a host before it ends them, one now and one later.)
        func connectTurnedBack(_ multi: UnsafeMutableRawPointer) {
            guard !turnedBack.isEmpty else { return }
            for transfer in turnedBack {
                guard transfer.isActive, transfer.outcome == nil, let easy = transfer.easy else { continue }
                curl_multi_remove_handle(multi, easy.pointer)
                transfer.queue?.noteTurnedBack()
                connectAnew(transfer, easy, multi)
            }
            turnedBack.removeAll(keepingCapacity: true)
        }

        func noteRoom(in queue: OriginQueue) {
            guard !queue.isListed else { return }
            queue.isListed = true
            queuesWithRoom.append(queue)
        }

        /// Gives libcurl the waiting transfers for which there is room now.
        func giveWaiting(_ multi: UnsafeMutableRawPointer) {
            guard !queuesWithRoom.isEmpty else { return }
            // What libcurl does not take ends at once, and makes room as well.
            let listed = queuesWithRoom
            queuesWithRoom = []
            for queue in listed {
                queue.isListed = false
                while let (transfer, route) = queue.takeNext(sockets.reached(queue.key.origin)) {
                    if let easy = transfer.easy { go(transfer, route, easy, multi) }
                    if queue.isFull { break }
                }
                if queue.isIdle { forget(queue) }
            }
        }
    }

    extension CurlTransfer {
        /// libcurl found no connection for a transfer that must not make one.
        func turnBack() {
            // libcurl may try the other addresses of the host before the transfer is removed.
            guard place != .turnedBack else { return }
            driver.move(self, to: .turnedBack)
            // After it was sent once, it may have to wait for others to connect.
            if sends > 0 { deadlines.connect = nil }
            driver.turnedBack.append(self)
        }

        /// Whether libcurl may make a connection for the transfer.
        var mayMakeConnection: Bool {
            guard route == .shared, let queue else { return true }
            return !queue.makesApart && (isLastSend || !queue.mustShare(driver.sockets.reached(origin)))
        }

        var queueKey: OriginQueue.Key { .init(origin: origin, mayShare: mayUseHTTP2) }

        /// Whether libcurl has the transfer and has done nothing for it yet: no look-up and nothing with a connection.
        var waitsForConnection: Bool {
            isActive && outcome == nil && phase == .connect && (place == .given || place == .awaitingConnection)
        }
    }
#endif
