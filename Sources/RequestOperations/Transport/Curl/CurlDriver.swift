#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// The thread of a transport: it owns the multi handle and runs no code of the user.
    ///
    /// Each turn takes the inbox, lets libcurl work, ends what is finished or overdue, and then resumes the Tasks that have
    /// something to do, all together. The thread starts with the first transfer.
    // Unchecked: `inbox` is a lock; everything below "The thread's own" is touched by the thread alone.
    final class CurlDriver: @unchecked Sendable {
        private enum Life {
            case notStarted
            case awake
            /// Waiting in libcurl, or about to: whoever puts something into the inbox must wake it.
            case asleep
            case over
        }

        private struct Inbox {
            var transfers: [CurlTransfer] = []
            var life = Life.notStarted
            /// How the transport is shut down, once it is; no transfer is taken any more.
            var ending: CurlTransport.ShutdownMode?
            var waiters: [CheckedContinuation<Void, Never>] = []
        }

        private let inbox = Locked(Inbox())
        private let wakeDescriptor: Int32
        private let settings: HandleSettings
        private let configuration: CurlTransport.Configuration
        let handles: EasyHandlePool

        // MARK: The thread's own

        /// The time at the beginning of the turn.
        private(set) var now: Int64 = 0
        private var multi: UnsafeMutableRawPointer?
        private var active: [CurlTransfer] = []
        private var ready: [CurlTransfer] = []
        private var desk = LookupDesk()
        private var nextSweep = Int64.max
        /// Handles whose transfers ended during a look-up, which libcurl could only take off by waiting for it.
        private var orphans: [UnsafeMutableRawPointer: EasyHandle] = [:]
        private var finished = [rocurl_finished](repeating: rocurl_finished(), count: 64)

        init(_ configuration: CurlTransport.Configuration) {
            self.configuration = configuration
            settings = HandleSettings(configuration)
            handles = EasyHandlePool(settings)
            wakeDescriptor = rocurl_wake_create()
            // Without a descriptor left, no connection could be made either.
            precondition(wakeDescriptor >= 0, "There is no file descriptor for the transport.")
        }

        deinit {
            close(wakeDescriptor)
        }

        /// Whether requests can go through a proxy.
        var mayUseProxy: Bool { settings.mayUseProxy }

        // MARK: For all threads

        /// Gives a new transfer to the thread, or calls its attention to one that it has. `false` if the transport has been
        /// shut down, for a new one.
        @discardableResult
        func call(for transfer: CurlTransfer, isNew: Bool = false) -> Bool {
            enum Effect {
                case none, start, wake, refuse
            }
            let effect = inbox.withLock { inbox -> Effect in
                if isNew, inbox.ending != nil { return .refuse }
                inbox.transfers.append(transfer)
                switch inbox.life {
                case .notStarted:
                    inbox.life = .awake
                    return .start
                case .asleep:
                    inbox.life = .awake
                    return .wake
                case .awake, .over:
                    return .none
                }
            }
            switch effect {
            case .none: break
            case .start: start()
            case .wake: rocurl_wake(wakeDescriptor)
            case .refuse: return false
            }
            return true
        }

        /// Shuts the transport down; returns when the thread has ended and all connections are closed.
        func shutDown(_ mode: CurlTransport.ShutdownMode) async {
            await withCheckedContinuation { continuation in
                shutDown(mode, continuation)
            }
        }

        /// Shuts the transport down without waiting.
        func shutDown(_ mode: CurlTransport.ShutdownMode, _ waiter: CheckedContinuation<Void, Never>? = nil) {
            let (isOver, wakes) = inbox.withLock { inbox in
                if inbox.ending != .failing { inbox.ending = mode }
                if inbox.life == .notStarted { inbox.life = .over }
                guard inbox.life != .over else { return (true, false) }
                if let waiter { inbox.waiters.append(waiter) }
                defer { inbox.life = .awake }
                return (false, inbox.life == .asleep)
            }
            if wakes { rocurl_wake(wakeDescriptor) }
            if isOver {
                settings.cookies?.save()
                handles.removeAll()
                waiter?.resume()
            }
        }

        // MARK: The loop

        private func start() {
            let thread = Thread { [self] in
                rocurl_block_signals()
                run()
            }
            thread.name = "CurlTransport"
            thread.stackSize = 1 << 20
            thread.start()
        }

        private func run() {
            guard let multi = curl_multi_init() else {
                // As everywhere in Swift, memory that is not there ends the process.
                preconditionFailure("There is no memory for a transport.")
            }
            self.multi = multi
            _ = rocurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.keptConnections)
            if let limit = configuration.maximumConnectionsPerHost {
                _ = rocurl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, limit)
            }
            if let limit = configuration.maximumConnections {
                _ = rocurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, limit)
            }
            var calls: [CurlTransfer] = []
            var running: Int32 = 0
            while takeInbox(&calls) {
                curl_multi_perform(multi, &running)
                takeFinished(multi)
                if now >= nextSweep { sweep() }
                wakeTasks()
                if fallsAsleep() {
                    rocurl_wait(multi, wakeDescriptor, millisecondsToSleep)
                }
            }
            end(multi)
        }

        /// Attends to the inbox; `false` when the thread has to end.
        private func takeInbox(_ calls: inout [CurlTransfer]) -> Bool {
            let ending = inbox.withLock { inbox in
                inbox.life = .awake
                swap(&calls, &inbox.transfers)
                return inbox.ending
            }
            now = CurlLibrary.now
            for transfer in calls { attend(to: transfer) }
            calls.removeAll(keepingCapacity: true)
            guard let ending else { return true }
            if ending == .failing { stopAll() }
            wakeTasks()
            return !active.isEmpty || !desk.held.isEmpty
        }

        private func fallsAsleep() -> Bool {
            inbox.withLock { inbox in
                guard inbox.transfers.isEmpty, inbox.life == .awake else { return false }
                inbox.life = .asleep
                return true
            }
        }

        private var millisecondsToSleep: Int32 {
            guard nextSweep != .max else { return 60_000 }
            return Int32(clamping: min((nextSweep - CurlLibrary.now + 999_999) / 1_000_000, 60_000).clampedToZero)
        }

        private func end(_ multi: UnsafeMutableRawPointer) {
            for (pointer, handle) in orphans {
                curl_multi_remove_handle(multi, handle.pointer)
                orphans[pointer] = nil
            }
            curl_multi_cleanup(multi)
            self.multi = nil
            handles.removeAll()
            settings.cookies?.save()
            let waiters = inbox.withLock { inbox in
                inbox.life = .over
                return inbox.waiters
            }
            for waiter in waiters { waiter.resume() }
        }

        // MARK: Beginning and end of transfers

        private func attend(to transfer: CurlTransfer) {
            switch transfer.exchange.withLock({ $0.attend() }) {
            case .begin:
                if case .nowhere = transfer.place { admit(transfer) }
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

        private func admit(_ transfer: CurlTransfer) {
            transfer.began = now
            if !configuration.boundsConnections, let limit = transfer.limits.connect {
                transfer.deadlines.connect = now.adding(limit)
                sweep(by: now.adding(limit))
            }
            if desk.admits(transfer, at: now) {
                begin(transfer)
            } else {
                transfer.place = .held
            }
        }

        private func begin(_ transfer: CurlTransfer) {
            guard let easy = transfer.easy, let multi, transfer.exchange.withLock({ $0.begin() }) else {
                return end(transfer, .stopped(.aborted))
            }
            easy.transfer = transfer
            transfer.place = .active(active.count)
            active.append(transfer)
            let code = curl_multi_add_handle(multi, easy.pointer)
            // It refuses only a handle that is in use, or without memory.
            precondition(
                code == CURLM_OK, "libcurl does not take a transfer: \(String(cString: curl_multi_strerror(code)))")
        }

        private func takeFinished(_ multi: UnsafeMutableRawPointer) {
            while true {
                let count = finished.withUnsafeMutableBufferPointer {
                    rocurl_take_finished(multi, $0.baseAddress, Int32($0.count))
                }
                for index in 0..<Int(count) {
                    // Every easy handle has been given its object as context.
                    let context = finished[index].context!
                    if let orphan = orphans.removeValue(forKey: context) {
                        withExtendedLifetime(orphan) {}
                    } else if let transfer = Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue().transfer {
                        if transfer.head.status == 417, transfer.head.isComplete, transfer.phase != .body {
                            transfer.publishHead()
                        }
                        end(transfer, transfer.outcome ?? .finished(finished[index].code))
                    }
                }
                guard count == finished.count else { return }
            }
        }

        /// Ends a transfer before libcurl does.
        private func stop(_ transfer: CurlTransfer, _ cause: CurlTransfer.Cause) {
            switch transfer.place {
            case .nowhere:
                break
            case .held:
                desk.remove(transfer)
            case .active:
                guard let easy = transfer.easy, let multi else { break }
                if transfer.isLookingUp {
                    // Older versions of libcurl wait for the look-up when they let go of the handle.
                    easy.transfer = nil
                    easy.set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
                    orphans[Unmanaged.passUnretained(easy).toOpaque()] = easy
                    transfer.easy = nil
                } else {
                    curl_multi_remove_handle(multi, easy.pointer)
                }
            }
            end(transfer, .stopped(cause))
        }

        private func end(_ transfer: CurlTransfer, _ outcome: CurlTransfer.Outcome) {
            if case .active(let index) = transfer.place {
                active.swapAt(index, active.count - 1)
                active.removeLast()
                if index < active.count { active[index].place = .active(index) }
            }
            transfer.place = .nowhere
            transfer.outcome = outcome
            if transfer.lookupName != nil { releaseHeld(by: transfer, outcome) }
            (transfer.upload as? StreamUpload)?.close()
            deliver(transfer)
            transfer.exchange.withLock { machine in
                // A transfer that came to its end before the driver heard of the cancel counts as cancelled.
                if machine.isAborting { transfer.outcome = .stopped(.aborted) }
                machine.end()
            }
            becomesReady(transfer)
        }

        /// Transfers that waited for the look-up of one that ended share its failure; otherwise the first of them is next.
        private func releaseHeld(by transfer: CurlTransfer, _ outcome: CurlTransfer.Outcome) {
            let held = desk.lookupFailed(for: transfer)
            guard !held.isEmpty else { return }
            if case .finished(CURLE_COULDNT_RESOLVE_HOST) = outcome {
                for other in held {
                    other.place = .nowhere
                    end(other, .stopped(.lookupFailed(transfer.easy?.message)))
                }
            } else {
                for other in held {
                    other.place = .nowhere
                    if desk.admits(other, at: now) { begin(other) } else { other.place = .held }
                }
            }
        }

        /// Begins the transfers that waited for a look-up; called by libcurl, which does not take new ones meanwhile.
        func lookupEnded(for transfer: CurlTransfer) {
            guard transfer.lookupName != nil else { return }
            for other in desk.lookupEnded(for: transfer, at: now) {
                other.place = .nowhere
                call(for: other)
            }
        }

        private func stopAll() {
            for transfer in active.reversed() { stop(transfer, .shutDown) }
            for transfer in desk.held { stop(transfer, .shutDown) }
        }

        // MARK: Going on

        private func resume(_ transfer: CurlTransfer) {
            guard case .active = transfer.place, let easy = transfer.easy else { return }
            let mask = transfer.pauseMask
            transfer.isReceivingPaused = false
            if transfer.isSendingPaused, (transfer.upload as? StreamUpload)?.isReadable != false {
                transfer.isSendingPaused = false
            }
            guard transfer.pauseMask != mask else { return }
            transfer.deadlines.activity = now
            if let idle = transfer.limits.idle { sweep(by: now.adding(idle)) }
            // libcurl delivers what it holds back before this returns.
            curl_easy_pause(easy.pointer, transfer.pauseMask)
        }

        private func deliver(_ transfer: CurlTransfer) {
            guard let kept = transfer.kept, !kept.isEmpty, transfer.received <= transfer.limits.body ?? .max else {
                return
            }
            transfer.exchange.withLock { $0.deliver(kept) }
            becomesReady(transfer)
        }

        private func drain(_ transfer: CurlTransfer) {
            guard case .active = transfer.place, transfer.deadlines.drain == nil else { return }
            guard transfer.limits.errorBody > 0, transfer.received <= transfer.limits.errorBody else {
                return stop(transfer, .drained)
            }
            let deadline = now.adding(transfer.limits.errorBodyTime)
            transfer.deadlines.drain = deadline
            sweep(by: deadline)
            resume(transfer)
        }

        /// Remembers that the Task of a transfer may have something to do at the end of this turn.
        func becomesReady(_ transfer: CurlTransfer) {
            guard !transfer.isReady else { return }
            transfer.isReady = true
            ready.append(transfer)
        }

        private func wakeTasks() {
            guard !ready.isEmpty else { return }
            for transfer in ready {
                transfer.isReady = false
                transfer.exchange.withLock { $0.wake() }?.resume()
            }
            ready.removeAll(keepingCapacity: true)
        }

        // MARK: Time

        /// Looks at the deadlines at this time at the latest.
        func sweep(by time: Int64) {
            if time < nextSweep { nextSweep = time }
        }

        private func sweep() {
            nextSweep = .max
            for transfer in active.reversed() { check(transfer) }
            for transfer in desk.held { check(transfer) }
        }

        private func check(_ transfer: CurlTransfer) {
            if let due = transfer.deadlines.progress, due <= now {
                transfer.deadlines.progress = nil
                progressed(transfer)
            }
            guard let (deadline, cause) = nextDeadline(of: transfer) else { return }
            if deadline <= now { stop(transfer, cause) } else { sweep(by: deadline) }
        }

        private func nextDeadline(of transfer: CurlTransfer) -> (Int64, CurlTransfer.Cause)? {
            if let progress = transfer.deadlines.progress { sweep(by: progress) }
            if let drain = transfer.deadlines.drain { return (drain, .drained) }
            if transfer.phase == .connect { return transfer.deadlines.connect.map { ($0, .connectLimit) } }
            guard let idle = transfer.limits.idle, transfer.pauseMask == 0 else { return nil }
            if transfer.upload != nil, let easy = transfer.easy {
                // libcurl reads a body in pieces that take long to send over a slow line.
                let sent = rocurl_sent(easy.pointer)
                if sent != transfer.deadlines.sent {
                    transfer.deadlines.sent = sent
                    transfer.deadlines.activity = now
                }
            }
            return (transfer.deadlines.activity.adding(idle), .idleLimit)
        }

        /// Tells the Task how far the transfer has come, but not too often.
        func progressed(_ transfer: CurlTransfer) {
            let due = transfer.deadlines.lastProgress + TransferDeadlines.progressInterval
            guard due <= now else {
                transfer.deadlines.progress = due
                return sweep(by: due)
            }
            transfer.deadlines.lastProgress = now
            let progress = transfer.progress
            transfer.exchange.withLock { $0.progressed(progress) }
            becomesReady(transfer)
        }
    }

    extension Int64 {
        fileprivate var clampedToZero: Int64 { self < 0 ? 0 : self }
    }
#endif
