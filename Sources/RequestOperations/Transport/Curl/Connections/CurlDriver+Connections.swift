#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// How transfers get their connections, on the thread of a driver.
    extension CurlDriver {
        // MARK: Queues

        /// Makes a transfer wait for its turn among the transfers to its origin. The turn may come at once.
        func enterQueue(_ transfer: CurlTransfer) {
            let queue = queue(to: transfer)
            transfer.queue = queue
            queue.enter(transfer)
            submitWaiting(of: queue)
            if transfer.place == .inQueue { transfer.wait?.begin() }
        }

        private func queue(to transfer: CurlTransfer) -> OriginQueue {
            if let queue = queues[transfer.origin] { return queue }
            if queues.count >= mostQueues {
                queues = queues.filter { !$0.value.isIdle }
                mostQueues = max(64, 2 * queues.count)
            }
            let queue = OriginQueue(of: transfer, mayShare: transfer.mayShare)
            queues[transfer.origin] = queue
            return queue
        }

        /// Transfers of a queue may have room. libcurl takes them at the end of this turn.
        func noteRoom(in queue: OriginQueue) {
            guard !queue.isListed, queue.waitingCount > 0 else { return }
            queue.isListed = true
            queuesWithRoom.append(queue)
        }

        /// Submits the waiting transfers to libcurl for which there is room now.
        func submitWaiting() {
            while let queue = queuesWithRoom.popLast() {
                queue.isListed = false
                submitWaiting(of: queue)
            }
            while let queue = lookups.next(at: now) { submitWaiting(of: queue) }
        }

        private func submitWaiting(of queue: OriginQueue) {
            while let transfer = queue.next() {
                let connects = queue.nextConnects
                if connects, transfer.hasName || settings.mayUseProxy {
                    guard lookups.hasRoom else { return lookups.wait(queue) }
                    beginLookup(transfer)
                }
                let isNew = queue.takeNext()
                if transfer.makesConnectionsApart, isNew || connects {
                    transfer.easy?.askForFreshHTTP2()
                } else if isNew {
                    transfer.easy?.askForFreshConnection()
                }
                submit(transfer)
            }
        }

        // MARK: Transfers

        /// Submits a transfer to libcurl. If libcurl does not take it, the transfer ends.
        func submit(_ transfer: CurlTransfer) {
            guard let easy = transfer.easy, let multi else { return }
            transfer.place = .submitted(until: transfer.place.connectDeadline)
            submitted.append(transfer)
            let code = curl_multi_add_handle(multi, easy.pointer)
            guard code != CURLM_OK else { return }
            end(transfer, .stopped(.failed(.outOfLocalResources, String(cString: curl_multi_strerror(code)))))
        }

        /// libcurl has run. The transfers for which it did nothing wait in libcurl's own queue for a connection.
        func noteWaiting() {
            for transfer in submitted {
                guard case .submitted = transfer.place, transfer.outcome == nil else { continue }
                transfer.place = .submitted(until: nil)
                endLookup(transfer)
                transfer.easy?.liftConnectLimit()
                transfer.wait?.begin()
            }
            submitted.removeAll(keepingCapacity: true)
        }

        /// A request is sent, over a connection that was made for it or over another transfer's.
        func noteSent(_ transfer: CurlTransfer) {
            endLookup(transfer)
            transfer.place = .sent
            transfer.wait?.end()
            guard let queue = transfer.queue else { return }
            queue.noteSent(transfer, at: now)
            noteRoom(in: queue)
        }

        /// A status has come for a transfer.
        func noteAnswer(_ transfer: CurlTransfer) {
            guard transfer.mayUseHTTP2, let queue = transfer.queue else { return }
            queue.speaksHTTP2 = transfer.head.takesSeveral
            noteRoom(in: queue)
        }

        func leaveQueue(_ transfer: CurlTransfer) {
            endLookup(transfer)
            if let queue = transfer.queue {
                transfer.queue = nil
                queue.noteEnd(transfer)
                noteRoom(in: queue)
            }
            transfer.place = .ended
        }

        /// Submits a request again that was not sent, because libcurl chose a connection that has ended. Returns whether it
        /// does so. The first time, a request that can share a connection goes back to its queue. The second time it asks for
        /// a connection of its own. libcurl keeps an ended connection while another of its streams waits for a consumer.
        func retriesConnection(_ transfer: CurlTransfer, _ easy: EasyHandle) -> Bool {
            guard transfer.outcome == nil, transfer.connection.loss == .beforeUse else { return false }
            transfer.forgetConnecting()
            easy.keepConnection(true)
            if let queue = transfer.queue, transfer.mayShare, queue.speaksHTTP2 != false, !transfer.wasTakenBack {
                transfer.wasTakenBack = true
                queue.takeBack(transfer)
                transfer.wait?.begin()
                noteRoom(in: queue)
                return true
            }
            if transfer.makesConnectionsApart { easy.askForFreshHTTP2() } else { easy.askForFreshConnection() }
            submit(transfer)
            return true
        }

        // MARK: Descriptors

        func allows(_ descriptor: Int32, for transfer: CurlTransfer) -> Bool {
            let files =
                !transfer.usesFile ? 0 : active.count { $0.usesFile && ($0.connection.hasSocket || $0.sends > 0) }
            return descriptors.allows(descriptor, isFirst: sockets.count == 0, filesToOpen: files)
        }

        /// Makes a transfer wait that libcurl ended for lack of a descriptor or a thread. Returns whether it waits.
        func awaitsDescriptor(_ transfer: CurlTransfer, _ easy: EasyHandle, after code: CURLcode) -> Bool {
            guard code != CURLE_OK, transfer.isUntouched, transfer.outcome == nil else { return false }
            let lacksThread = easy.message.map(CurlLibrary.lacksThread) ?? false
            guard lacksThread || transfer.connection.lacksDescriptor && code == CURLE_COULDNT_CONNECT else {
                return false
            }
            endLookup(transfer)
            transfer.forgetConnecting()
            // If no descriptor of ours will become free, this is time to connect.
            transfer.place = .awaitingDescriptor(until: sockets.count == 0 ? transfer.connectDeadline() : nil)
            if sockets.count > 0 { transfer.wait?.begin() }
            // libcurl closes idle connections for new ones, and makes requests wait for their turn.
            boundConnections(by: sockets.count)
            withoutDescriptor.append(transfer)
            nextDescriptorCheck = min(nextDescriptorCheck, now.adding(20_000_000))
            return true
        }

        /// Submits the transfers again that lacked a descriptor. If no transfer lacked one for a while, lifts the bound on
        /// connections.
        func checkDescriptors() {
            guard nextDescriptorCheck <= now else { return }
            if withoutDescriptor.isEmpty { liftDescriptorBound() }
            nextDescriptorCheck = withoutDescriptor.isEmpty ? .max : now.adding(100_000_000)
            let transfers = withoutDescriptor
            withoutDescriptor = []
            for transfer in transfers where transfer.place.isAwaitingDescriptor { submit(transfer) }
        }

        /// libcurl looks at its own queue only when a transfer ends. So the transfers that wait there are submitted
        /// again.
        private func liftDescriptorBound() {
            boundConnections()
            for transfer in active where transfer.place == .submitted(until: nil) {
                if let easy = transfer.easy { curl_multi_remove_handle(multi, easy.pointer) }
                submit(transfer)
            }
        }

        /// Bounds the number of connections, in use and idle.
        func boundConnections(by count: Int = .max) {
            guard let multi else { return }
            let bound = min(count, configuration.maximumConnections ?? .max, Int(clamping: descriptors.bound))
            _ = rocurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, min(max(bound, 1), Int(Int32.max)))
        }
    }

    /// How many names libcurl looks up at a time for a driver.
    ///
    /// Each look-up takes a thread and three descriptors. The look-ups of one driver get at most half of the process's
    /// descriptors and a quarter of its threads. A queue whose next request needs one waits for its turn.
    struct Lookups {
        /// How many look-ups may run at a time.
        let bound: Int
        private var running = 0
        /// The times until which look-ups count whose transfers have ended. libcurl does not report when those look-ups
        /// end.
        private var abandoned: [Int64] = []
        private var waiting = Queue<OriginQueue>()

        /// How long the system's resolver mostly goes on with a name for which it gets no answer.
        private static let patience: Int64 = 10_000_000_000
        private static let mostAtATime = 256

        init(bound: Int = Lookups.boundOfProcess) {
            self.bound = bound
        }

        /// The bound that follows from the current limits of the process.
        private static var boundOfProcess: Int {
            var threads = rlimit()
            getrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &threads)
            let share = min(Int(clamping: DescriptorShare.limitOfProcess) / 6, Int(clamping: threads.rlim_cur) / 4)
            return min(max(share, 4), mostAtATime)
        }

        var hasRoom: Bool { running + abandoned.count < bound }

        mutating func begin() {
            running += 1
        }

        mutating func end() {
            running -= 1
        }

        /// The transfer of a look-up is about to end, and the look-up goes on. So it counts for a while.
        mutating func abandon(at now: Int64) {
            abandoned.append(now.adding(Self.patience))
        }

        mutating func wait(_ queue: OriginQueue) {
            guard !queue.awaitsLookup else { return }
            queue.awaitsLookup = true
            waiting.append(queue)
        }

        /// Takes out the queue whose turn it is, if there is room.
        mutating func next(at now: Int64) -> OriginQueue? {
            guard !waiting.isEmpty else { return nil }
            abandoned.removeAll { $0 <= now }
            guard hasRoom, let next = waiting.popFirst() else { return nil }
            next.awaitsLookup = false
            return next
        }

        /// When a waiting queue can go on.
        var deadline: Int64 { waiting.isEmpty ? .max : hasRoom ? 0 : abandoned.first ?? .max }
    }

    extension CurlLibrary {
        /// Whether the threads of look-ups belong to the multi handle, which waits for them to end and bounds their number.
        /// Such a library connects to the first address, and keeps the name once both families have answered. A request that
        /// begins between the two looks the name up once more.
        static let keepsThreadsForLookups = version >= Version(8, 20)
    }

    extension CurlDriver {
        func beginLookup(_ transfer: CurlTransfer) {
            guard !transfer.looksUp else { return }
            transfer.looksUp = true
            lookups.begin()
        }

        func endLookup(_ transfer: CurlTransfer) {
            guard transfer.looksUp else { return }
            transfer.looksUp = false
            lookups.end()
        }
    }
#endif
