import Foundation
import RequestOperations

/// Finds records that can be sent and delivers them.
final class Dispatcher: Sendable {
    let store: any OfflineStore
    let configuration: OfflineConfiguration
    let events: EventHub
    let waiters: Waiters
    let handlers = MessageHandlers()
    let rules: DeliveryRules
    let clock: WaitClock
    let requests = RequestQueue()
    let state = Locked(DispatchState())
    let recoveries = RecoveryWatches()
    private let alarm = Locked<Task<Void, Never>?>(nil)
    private let pathWatch = Locked<Task<Void, Never>?>(nil)
    private let ticking = Locked<Task<Void, Never>?>(nil)
    let activity = BackgroundActivity()

    /// How often a process looks whether the sender has died, or another one has added something.
    private static let tick = Duration.milliseconds(200)
    /// The longest sleep. A change of the calendar's time is noticed after it.
    private static let longestSleep = Duration.seconds(900)
    /// The pause after the store has failed.
    static let pauseAfterFailure = Duration.seconds(1)

    init(store: any OfflineStore, configuration: OfflineConfiguration, events: EventHub, waiters: Waiters) {
        self.store = store
        self.configuration = configuration
        self.events = events
        self.waiters = waiters
        rules = DeliveryRules(configuration)
        clock = WaitClock(configuration.request.clock)
        requests.maxConcurrentOperationCount = max(configuration.width, 1)
    }

    /// Begins to send, and to watch the network.
    func start() {
        let changes = configuration.request.networkPath.changes
        let watch = Task { [weak self] in
            var wasReachable = true
            for await reachability in changes {
                guard let self else { return }
                if reachability.isReachable, !wasReachable { await self.wake(.network) }
                wasReachable = reachability.isReachable
                // The kind of network may have changed too.
                await self.wake(.constraint)
                self.search()
            }
        }
        pathWatch.withLock { $0 = watch }
        search()
    }

    /// Ends waits early.
    func wake(_ sleepers: Sleepers) async {
        do { _ = try await store.wake(sleepers) } catch { report(error) }
    }

    /// Looks for records that can be sent, now or after the search that runs.
    func search() {
        guard state.withLock({ $0.phase == .sending && $0.wantsSearch() }) else { return }
        Task {
            repeat { await searchOnce() } while state.withLock { $0.searchEnded() }
        }
    }

    private func searchOnce() async {
        let room = state.withLock { $0.room(width: configuration.width) }
        guard room > 0 else { return }
        do {
            try await wakeFresh()
            let claim = try await store.claim(await request(room))
            for (id, outcome) in claim.ended { announce(id, outcome) }
            switch claim.answer {
            case .claimed(let lease, let records):
                begin(records, under: lease)
                if records.count < room { setAlarm(at: claim.nextDue) }
            case .idle:
                setAlarm(at: claim.nextDue)
                if waiters.needsPolling { startTicking() }
                await announceIfDrained()
            case .held:
                setAlarm(after: Self.tick)
            }
        } catch {
            report(error)
            setAlarm(after: Self.pauseAfterFailure)
        }
    }

    /// Wakes the messages whose handler is new.
    private func wakeFresh() async throws {
        let names = handlers.takeFresh()
        do { for name in names { _ = try await store.wake(.message(name)) } } catch {
            handlers.putBack(names)
            throw error
        }
    }

    private func request(_ room: Int) async -> ClaimRequest {
        let reachability = configuration.request.networkPath.reachability
        var met: Set<String> = [OfflineConstraint.reachable.name]
        if reachability.isReachable, reachability.interface != .cellular {
            met.insert(OfflineConstraint.unmetered.name)
        }
        for (constraint, isMet) in configuration.conditions {
            if await isMet() { met.insert(constraint.name) }
        }
        return ClaimRequest(
            limit: room, now: configuration.date(), elapsed: clock.elapsed,
            leaseDuration: configuration.leaseDuration, isOnline: reachability.isReachable, handlers: handlers.names,
            met: met, maximumAge: configuration.bounds.age,
            isWanted: { [state] in state.withLock { $0.phase == .sending } },
            isBusy: state.withLock { !$0.deliveries.isEmpty })
    }

    private func begin(_ records: [StoredRecord], under lease: Lease) {
        state.withLock { $0.claim(records.map(\.id), under: lease) }
        activity.begin { [weak self] in self?.yieldLease() }
        for record in records {
            let task = Task { await deliver(record, under: lease) }
            // It may have ended already.
            state.withLock { $0.began(record.id, task) }
        }
        startTicking()
    }

    // MARK: Time

    private func setAlarm(at date: Date?) {
        guard let date else { return setAlarm(after: Self.longestSleep) }
        setAlarm(after: .seconds(max(date.timeIntervalSince(configuration.date()), 0)))
    }

    /// Searches again after a time. It takes the place of an earlier alarm.
    func setAlarm(after delay: Duration) {
        let task = Task { [weak self, clock] in
            // A cancelled alarm does not ring. Any other error of a clock ends the wait.
            do { try await clock.sleep(for: min(delay, Self.longestSleep)) } catch is CancellationError { return } catch
            {}
            self?.search()
        }
        let earlier = alarm.withLock { alarm in
            defer { alarm = task }
            return alarm
        }
        earlier?.cancel()
    }

    /// Shows that this process lives, and notices what others do, as long as there is a reason for it.
    func startTicking() {
        guard state.withLock({ $0.startTicking() }) else { return }
        let task = Task { [weak self, clock] in
            var lastBeat = clock.elapsed
            while let self, self.state.withLock({ $0.keepsTicking(for: self.waiters.needsPolling) }) {
                do { try await clock.sleep(for: Self.tick) } catch { return }
                if clock.elapsed - lastBeat >= self.configuration.leaseDuration / 3 {
                    lastBeat = clock.elapsed
                    await self.beat()
                }
                await self.announceOutcomes()
                self.search()
            }
        }
        ticking.withLock { $0 = task }
    }

    private func beat() async {
        guard let lease = state.withLock({ $0.lease }) else { return }
        do {
            let inFlight = try await store.beat(lease)
            // Another process has removed the others.
            let removed = state.withLock { state in state.deliveries.filter { $0.value.lease == lease }.map(\.key) }
            cancel(removed.filter { !inFlight.contains($0) })
        } catch OfflineQueueError.Code.leaseLost {
            loseLease(lease)
        } catch {
            report(error)
        }
    }

    /// Cancels what was in flight under a lease that another process has taken over.
    func loseLease(_ lease: Lease) {
        let lost = state.withLock { state in state.deliveries.filter { $0.value.lease.fence <= lease.fence }.map(\.key)
        }
        guard !lost.isEmpty else { return }
        events.send(.leaseLost)
        cancel(lost)
    }

    // MARK: Announcements

    /// Tells that a record has its outcome.
    func announce(_ id: OfflineRecord.ID, _ outcome: OfflineOutcome) {
        events.send(.ended(id, outcome))
        waiters.announce(.outcome(id))
    }

    /// Tells of outcomes that were recorded before somebody began to wait for them.
    func lookAtOutcomes() {
        Task { await announceOutcomes() }
    }

    /// Tells of outcomes that other processes have recorded.
    private func announceOutcomes() async {
        do {
            for id in waiters.awaited where try await isEnded(id) { waiters.announce(.outcome(id)) }
        } catch {
            report(error)
        }
        await announceIfDrained()
    }

    private func isEnded(_ id: OfflineRecord.ID) async throws -> Bool {
        guard let record = try await store.record(id) else { return true }
        if case .dead = record.state { return true }
        return false
    }

    private func announceIfDrained() async {
        do {
            if try await store.counts().undelivered == 0 { waiters.announce(.drained) }
        } catch {
            report(error)
        }
    }

    func report(_ error: any Error) {
        // After the end nobody can do anything about it.
        if case OfflineQueueError.Code.closed = error { return }
        events.send(.storeFailed(OfflineQueueError(wrapping: error)))
    }

    // MARK: The end

    /// Cancels deliveries whose records are gone or not ours.
    func cancel(_ ids: [OfflineRecord.ID]) {
        let tasks = state.withLock { state in ids.compactMap { state.deliveries[$0]?.task } }
        for task in tasks { task.cancel() }
    }

    /// Gives the lease back and cancels what is in flight, since the system is about to suspend the process.
    private func yieldLease() {
        let (lease, ids) = state.withLock { ($0.lease, Array($0.deliveries.keys)) }
        guard let lease else { return }
        Task {
            do { try await store.release(lease) } catch { report(error) }
            cancel(ids)
            activity.end()
            setAlarm(after: Self.pauseAfterFailure)
        }
    }

    /// Ends all deliveries and gives the lease back.
    ///
    /// - Parameter isPatient: Whether deliveries under way may finish first.
    func close(isPatient: Bool) async {
        if isPatient {
            cancel(state.withLock { $0.beginClosing() })
            await waiters.wait(for: .quiet) { [self] in
                if state.withLock({ $0.deliveries.isEmpty }) { waiters.announce(.quiet) }
            }
        }
        guard state.withLock({ $0.close() }) else { return }
        for task in [alarm, pathWatch, ticking].compactMap({ $0.withLock { $0 } }) { task.cancel() }
        recoveries.close()
        let (lease, tasks) = state.withLock { ($0.lease, $0.deliveries.values.compactMap(\.task)) }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        if let lease {
            do { try await store.release(lease) } catch { report(error) }
        }
        waiters.announceAll()
        await store.close()
    }
}
