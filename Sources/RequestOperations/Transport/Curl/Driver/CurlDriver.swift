#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// The thread of a transport: it owns the multi handle and runs no code of the user.
    ///
    /// Each turn takes the inbox, lets libcurl work, ends transfers that are finished or overdue, and notifies their Tasks.
    /// Then the thread sleeps in libcurl. It starts with the first transfer.
    // Unchecked: `inbox` and `bell` are locks, and the constants do not change. Only the driver's thread touches the members
    // below "The thread's own"; before it runs, only the thread that starts it.
    final class CurlDriver: @unchecked Sendable {
        let inbox = Locked(DriverInbox())
        let bell = WakeBell()
        let settings: HandleSettings
        let configuration: CurlTransport.Configuration
        let handles: EasyHandlePool
        let sockets = ConnectionTable()
        let descriptors: DescriptorShare

        // MARK: The thread's own

        /// The time at the beginning of the turn.
        private(set) var now: Int64 = 0
        var multi: UnsafeMutableRawPointer?
        private(set) var active: [CurlTransfer] = []
        /// For how many of them a connection is made.
        var connecting = 0
        /// The transfers whose Task may have something to do.
        var ready: [CurlTransfer] = []
        var lookups = Lookups()
        /// The transfers submitted to libcurl in this turn that may have to wait for a connection.
        var submitted: [CurlTransfer] = []
        /// The queues of the origins to which there are transfers or connections, and of some others.
        var queues: [Origin: OriginQueue] = [:]
        /// How many queues there are before those of other origins are removed.
        var mostQueues = 64
        /// The queues whose waiting transfers may go.
        var queuesWithRoom: [OriginQueue] = []
        /// Transfers whose body ends by a length that libcurl may not use.
        var framedByLength: [CurlTransfer] = []
        /// Transfers for which the process had no descriptor.
        var withoutDescriptor: [CurlTransfer] = []
        /// When to look whether there are descriptors again.
        var nextDescriptorCheck = Int64.max
        var nextSweep = Int64.max
        /// When the next turn begins at the latest, if the system lets the thread run.
        var nextTurn = Int64.max
        /// Whether libcurl has to run once more without a wait; see ``forgetsAddresses``.
        var goesOnAtOnce = false
        /// Whether there was work again a moment after the last turn.
        var lastWaitWasShort = false
        /// How many of libcurl's calls made a step of a transfer, and how many had when the thread last waited.
        var steps = 0
        var stepsBefore = 0
        /// How many turns in a row had no result.
        var fruitlessTurns = 0
        /// The handles of look-ups whose transfers have ended, by their context; see ``CurlLibrary/waitsForLookups``.
        var lastingLookups: [UnsafeMutableRawPointer: EasyHandle] = [:]

        init(
            _ configuration: CurlTransport.Configuration, cookies: CookieJar? = nil,
            descriptors: DescriptorShare = .ofProcess
        ) {
            self.configuration = configuration
            self.descriptors = descriptors
            settings = HandleSettings(configuration, cookies: cookies)
            handles = EasyHandlePool(settings, sockets)
        }

        deinit {
            // It exists only if the thread never started.
            if let multi { curl_multi_cleanup(multi) }
        }

        // MARK: The loop

        /// Starts the thread. If the system cannot start one, ends the transfers that it would have served.
        func start() {
            PreparedRuntime.prepare()
            if multi == nil { multi = Self.makeMulti() }
            bell.hang(on: multi)
            let shortage = multi == nil ? "there is no file descriptor for the transport" : startThread()
            if let shortage { endAll(shortage) }
        }

        private func startThread() -> String? {
            let context = Unmanaged.passRetained(self)
            let code = rocurl_start_thread(
                { context in
                    // This is the context passed to `rocurl_start_thread` below.
                    Unmanaged<CurlDriver>.fromOpaque(context!).takeRetainedValue().run()
                    return nil
                }, context.toOpaque())
            guard code != 0 else { return nil }
            context.release()
            return "there is no thread for the transport: \(String(cString: strerror(code)))"
        }

        /// Ends the transfers for which no thread could be started, as the thread would.
        private func endAll(_ shortage: String) {
            while let (transfers, waiters) = inbox.withLock({ $0.failToStart() }) {
                // A transfer can be in the inbox twice.
                for transfer in transfers where !transfer.exchange.withLock({ $0.isEnded }) {
                    end(transfer, .stopped(.failed(.outOfLocalResources, shortage)))
                }
                wakeTasks()
                for waiter in waiters { waiter.resume() }
            }
        }

        private func run() {
            rocurl_name_thread("CurlTransport")
            // `start` has made the multi handle.
            guard let multi else { return }
            setUp(multi)
            var calls: [CurlTransfer] = []
            var running: Int32 = 0
            rocurl_begin_work()
            while takeInbox(&calls) {
                curl_multi_perform(multi, &running)
                noteWaiting()
                endFinished(multi)
                endFramed(multi)
                if now >= nextSweep { sweep() }
                submitWaiting()
                checkDescriptors()
                wakeTasks()
                // The process may exit while this thread waits.
                rocurl_end_work()
                waitForWork(multi)
                rocurl_begin_work()
            }
            end(multi)
            rocurl_end_work()
        }

        private static let shutDown = CurlTransfer.Cause.failed(.connectionLost, "the transport was shut down")

        /// Handles the inbox. Returns `false` when the thread has to end.
        private func takeInbox(_ calls: inout [CurlTransfer]) -> Bool {
            let ending = inbox.withLock { $0.take(into: &calls) }
            now = CurlLibrary.now
            noticeStop()
            for transfer in calls { attend(to: transfer) }
            calls.removeAll(keepingCapacity: true)
            guard let ending else { return true }
            if ending == .failing { for transfer in active.reversed() { stop(transfer, Self.shutDown) } }
            wakeTasks()
            return hasTransfers
        }

        /// Whether there is a transfer that has not ended.
        var hasTransfers: Bool { !active.isEmpty }

        private func end(_ multi: UnsafeMutableRawPointer) {
            for easy in lastingLookups.values { curl_multi_remove_handle(multi, easy.pointer) }
            lastingLookups = [:]
            bell.hang(on: nil)
            curl_multi_cleanup(multi)
            self.multi = nil
            sockets.removeAll()
            // The driver keeps these transfers until now, and they keep the driver.
            lookups = Lookups()
            submitted = []
            framedByLength = []
            withoutDescriptor = []
            queues = [:]
            queuesWithRoom = []
            handles.removeAll()
            let (late, waiters) = inbox.withLock { $0.end() }
            for waiter in waiters { waiter.resume() }
            // Releasing `late` releases objects of the user. That must happen outside the lock.
            withExtendedLifetime(late) {}
        }

        // MARK: Beginning and end of transfers

        private func attend(to transfer: CurlTransfer) {
            switch transfer.exchange.withLock({ $0.attend() }) {
            case .begin:
                if !transfer.isActive { begin(transfer) }
            case .goOn:
                resume(transfer)
            case .deliver:
                deliver(transfer)
                resume(transfer)
            case .drain:
                drain(transfer)
            case .abort:
                stop(transfer, .aborted)
            }
        }

        private func begin(_ transfer: CurlTransfer) {
            guard let easy = transfer.easy, transfer.exchange.withLock({ $0.begin() }) else {
                return end(transfer, .stopped(.aborted))
            }
            easy.transfer = transfer
            transfer.began = now
            transfer.index = active.count
            active.append(transfer)
            enterQueue(transfer)
        }

        /// Ends the transfers that libcurl has finished with.
        func endFinished(_ multi: UnsafeMutableRawPointer) {
            var code = CURLE_OK
            while let context = rocurl_next_finished(multi, &code) {
                steps &+= 1
                guard lastingLookups.removeValue(forKey: context) == nil else { continue }
                // Every easy handle has its object as context.
                endFinished(Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue(), code)
            }
        }

        private func endFinished(_ easy: EasyHandle, _ code: CURLcode) {
            guard let transfer = easy.transfer, !awaitsDescriptor(transfer, easy, after: code),
                !retriesConnection(transfer, easy)
            else { return }
            if transfer.head.status == 417, transfer.head.isComplete, transfer.phase != .body {
                transfer.publishHead()
            }
            end(transfer, .finished(transfer.isAnswered(despite: code) ? CURLE_OK : transfer.result(for: code)))
        }

        /// Ends a transfer before libcurl does.
        func stop(_ transfer: CurlTransfer, _ cause: CurlTransfer.Cause) {
            if transfer.isActive, let easy = transfer.easy {
                let isLookingUp = transfer.place.isLookingUp
                if isLookingUp { lookups.abandon(at: now) }
                if isLookingUp, CurlLibrary.waitsForLookups, !transfer.connection.hasSocket {
                    leaveLookup(of: transfer, easy)
                } else {
                    transfer.stop(cause)
                    curl_multi_remove_handle(multi, easy.pointer)
                }
            }
            end(transfer, .stopped(cause))
        }

        func end(_ transfer: CurlTransfer, _ outcome: CurlTransfer.Outcome) {
            if let index = transfer.index {
                active.swapAt(index, active.count - 1)
                active.removeLast()
                if index < active.count { active[index].index = index }
            }
            transfer.index = nil
            // The first outcome counts.
            if transfer.outcome == nil { transfer.outcome = outcome }
            transfer.wait?.end()
            if transfer.mayHaveUnsentHead { transfer.easy?.isWornOut = true }
            leaveQueue(transfer)
            transfer.connection.end()
            (transfer.upload as? StreamUpload)?.close()
            if !transfer.isForMemory { deliver(transfer) }
            transfer.ended = CurlLibrary.now
            transfer.exchange.withLock { machine in
                // The Task may cancel before the driver learns of it. A transfer that ended meanwhile counts as
                // cancelled.
                if machine.isAborting { transfer.outcome = .stopped(.aborted) }
                machine.end()
            }
            markReady(transfer)
        }
    }
#endif
