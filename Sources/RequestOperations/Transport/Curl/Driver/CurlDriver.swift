#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// The thread of a transport: it owns the multi handle and runs no code of the user.
    ///
    /// Each turn takes the inbox, lets libcurl work, and ends transfers that are finished or overdue. It then resumes
    /// all Tasks that have something to do, and waits in libcurl. The thread starts with the first transfer.
    // Unchecked: `inbox` and `bell` are locks, and the constants do not change. Only the driver's thread touches the members
    // below "The thread's own"; before it runs, only the thread that starts it.
    final class CurlDriver: @unchecked Sendable {
        let inbox = Locked(DriverInbox())
        let bell = WakeBell()
        let settings: HandleSettings
        let configuration: CurlTransport.Configuration
        let handles: EasyHandlePool
        let sockets = ConnectionTable()
        let descriptors: DescriptorPool

        // MARK: The thread's own

        /// The time at the beginning of the turn.
        private(set) var now: Int64 = 0
        var multi: UnsafeMutableRawPointer?
        private(set) var active: [CurlTransfer] = []
        /// The transfers whose Task may have something to do.
        var ready: [CurlTransfer] = []
        var lookups = Lookups()
        /// The transfers given to libcurl in this turn that may have to wait for a connection.
        var tried: [CurlTransfer] = []
        /// The queues of the origins to which there are transfers.
        var queues: [OriginQueue.Key: OriginQueue] = [:]
        /// The queues whose waiting transfers may go.
        var queuesWithRoom: [OriginQueue] = []
        /// Transfers for which libcurl would have made a connection, although they must not make one.
        var turnedBack: [CurlTransfer] = []
        /// Transfers whose body ends by a length that libcurl may not use.
        var framedByLength: [CurlTransfer] = []
        /// Transfers for which the process had no descriptor in this turn.
        var lacking: [CurlTransfer] = []
        var descriptorLine = DescriptorLine()
        /// Until when libcurl limits the number of connections because descriptors ran out.
        var descriptorBoundEnd = Int64.max
        /// Whether connections are not kept because another driver needs their descriptors.
        var givesUpIdle = false
        /// The HTTP/2 connections over which something came in this turn, where ``CurlLibrary/overlooksInput``.
        var connectionsWithInput: [EstablishedConnection] = []
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
        private var finished = [rocurl_finished](repeating: rocurl_finished(), count: 64)

        init(
            _ configuration: CurlTransport.Configuration, cookies: CookieJar? = nil,
            descriptors: DescriptorPool = .shared
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

        /// Whether requests can go through a proxy.
        var mayUseProxy: Bool { settings.mayUseProxy }

        // MARK: The loop

        /// Starts the thread. If the system has none to give, ends the transfers it was to serve.
        func start() {
            DescriptorPool.prepareRuntime()
            if let shortage = prepareThread() ?? startThread() { endAll(shortage) }
        }

        private func prepareThread() -> String? {
            if multi == nil { multi = Self.makeMulti() }
            bell.hang(on: multi)
            return multi == nil ? "there is no file descriptor for the transport" : nil
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
                for transfer in transfers { end(transfer, for: shortage) }
                for waiter in waiters { waiter.resume() }
            }
        }

        private func end(_ transfer: CurlTransfer, for shortage: String) {
            let (waiter, upload) = transfer.exchange.withLock {
                machine -> (UnsafeContinuation<Void, Never>?, (any UploadSource)?) in
                // A transfer can be in the inbox twice.
                guard !machine.isEnded else { return (nil, nil) }
                let upload = transfer.upload
                transfer.outcome = .stopped(machine.isAborting ? .aborted : .shortage(shortage))
                transfer.ended = CurlLibrary.now
                machine.end()
                return (machine.wake(), upload)
            }
            (upload as? StreamUpload)?.close()
            waiter?.resume()
        }

        private func run() {
            rocurl_name_thread("CurlTransport")
            // `start` has made the multi handle.
            guard let multi else { return }
            setUp(multi)
            descriptors.join(self) { [weak self] in self?.callForTurn() }
            var calls: [CurlTransfer] = []
            rocurl_begin_work()
            // The multi handle may be a different one in each turn.
            while takeInbox(&calls), let multi = self.multi {
                perform(multi)
                noticeWaiting()
                connectTurnedBack(multi)
                holdLacking(multi)
                takeFinished(multi)
                if !framedByLength.isEmpty { endFramed(multi) }
                if now >= nextSweep { sweep() }
                giveWaiting(multi)
                retryLacking(multi)
                retryLookups(multi)
                lookForInput()
                wakeTasks()
                giveUpIdle()
                // The process may exit while this thread waits.
                rocurl_end_work()
                waitForWork(multi)
                rocurl_begin_work()
            }
            descriptors.leave(self)
            if let multi = self.multi { end(multi) }
            rocurl_end_work()
        }

        /// Handles the inbox. Returns `false` when the thread has to end.
        private func takeInbox(_ calls: inout [CurlTransfer]) -> Bool {
            let ending = inbox.withLock { $0.take(into: &calls) }
            now = CurlLibrary.now
            noticeStop()
            for transfer in calls { attend(to: transfer) }
            calls.removeAll(keepingCapacity: true)
            guard let ending else { return true }
            if ending == .failing { stopAll() }
            wakeTasks()
            return hasTransfers
        }

        /// Lets libcurl do all that it can do now.
        func perform(_ multi: UnsafeMutableRawPointer) {
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
        }

        /// Whether there is a transfer that has not ended.
        var hasTransfers: Bool { !active.isEmpty }

        var transferCount: Int { active.count }

        private func end(_ multi: UnsafeMutableRawPointer) {
            for easy in lastingLookups.values { curl_multi_remove_handle(multi, easy.pointer) }
            lastingLookups = [:]
            bell.hang(on: nil)
            curl_multi_cleanup(multi)
            self.multi = nil
            sockets.removeAll()
            // The driver keeps the transfers that were held until now, and they keep the driver.
            lookups = Lookups()
            tried = []
            framedByLength = []
            turnedBack = []
            lacking = []
            descriptorLine = DescriptorLine()
            queues = [:]
            queuesWithRoom = []
            handles.removeAll()
            let (late, waiters) = inbox.withLock { $0.end() }
            for waiter in waiters { waiter.resume() }
            // Releasing `late` releases what the user gave to it. That must happen outside the lock.
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
            guard let easy = transfer.easy, let multi, transfer.exchange.withLock({ $0.begin() }) else {
                return end(transfer, .stopped(.aborted))
            }
            easy.transfer = transfer
            transfer.began = now
            transfer.index = active.count
            active.append(transfer)
            connect(transfer, easy, multi)
        }

        /// Gives a transfer to libcurl. If libcurl does not take it, the transfer ends.
        func give(_ transfer: CurlTransfer, _ easy: EasyHandle, _ multi: UnsafeMutableRawPointer) {
            let code = curl_multi_add_handle(multi, easy.pointer)
            guard code != CURLM_OK else { return }
            end(transfer, .stopped(.shortage(String(cString: curl_multi_strerror(code)))))
        }

        func takeFinished(_ multi: UnsafeMutableRawPointer) {
            while true {
                let count = finished.withUnsafeMutableBufferPointer {
                    rocurl_take_finished(multi, $0.baseAddress, Int32($0.count))
                }
                for index in 0..<Int(count) {
                    // Every easy handle has its object as context.
                    let context = finished[index].context!
                    guard lastingLookups.removeValue(forKey: context) == nil else { continue }
                    ended(Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue(), finished[index].code)
                }
                guard count == finished.count else { return }
            }
        }

        /// libcurl has finished with a handle.
        private func ended(_ easy: EasyHandle, _ code: CURLcode) {
            steps &+= 1
            guard let transfer = easy.transfer, !waitsForLookup(transfer, easy),
                !waitsForDescriptor(transfer, easy, after: code), !meetsNoConnection(transfer, easy, after: code)
            else { return }
            if CurlLibrary.keepsHeldBackBytes, transfer.paused.contains(.receiving) { easy.wearOut() }
            if transfer.head.status == 417, transfer.head.isComplete, transfer.phase != .body {
                transfer.publishHead()
            }
            if transfer.place == .lackingDescriptor, code == CURLE_COULDNT_CONNECT {
                return end(transfer, .stopped(Self.noDescriptor))
            }
            end(transfer, .finished(transfer.isAnswered(despite: code) ? CURLE_OK : transfer.result(for: code)))
        }

        /// Ends a transfer before libcurl does.
        func stop(_ transfer: CurlTransfer, _ cause: CurlTransfer.Cause) {
            if transfer.isActive, let easy = transfer.easy, let multi { take(transfer, easy, from: multi, for: cause) }
            end(transfer, .stopped(cause))
        }

        private func take(
            _ transfer: CurlTransfer, _ easy: EasyHandle, from multi: UnsafeMutableRawPointer,
            for cause: CurlTransfer.Cause
        ) {
            if transfer.place == .lookingUp {
                lookups.abandon(at: now)
                if CurlLibrary.waitsForLookups, !transfer.connection.hasSocket {
                    return leaveLookup(of: transfer, easy)
                }
            }
            transfer.stop(cause)
            discardHeldBackBytes(of: transfer, easy)
            curl_multi_remove_handle(multi, easy.pointer)
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
            transfer.noticeInput()
            transfer.wait?.end()
            if transfer.mayHaveUnsentHead { transfer.easy?.wearOut() }
            leaveQueue(transfer)
            move(transfer, to: .ended)
            (transfer.upload as? StreamUpload)?.close()
            if !transfer.isForMemory { deliver(transfer) }
            transfer.ended = CurlLibrary.now
            transfer.exchange.withLock { machine in
                // The Task may cancel before the driver hears of it. A transfer that ended meanwhile counts as
                // cancelled.
                if machine.isAborting { transfer.outcome = .stopped(.aborted) }
                machine.end()
            }
            markReady(transfer)
        }

        private func stopAll() {
            for transfer in active.reversed() { stop(transfer, .shutDown) }
        }
    }
#endif
