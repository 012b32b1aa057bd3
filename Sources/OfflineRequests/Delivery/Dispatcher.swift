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
    let recoveries: RecoveryWatches
    let activity = BackgroundActivity()
    /// How many attempts run at the same time.
    let width: Int
    /// The most attempts to one origin. With several places, at least one is left for other origins.
    var perOrigin: Int { max(width - max(width / 4, 1), 1) }

    /// How often a sender or a waiter looks for what other processes have done.
    static let tick = Duration.milliseconds(200)
    /// How often an idle process looks for what others have added, and whether it must take over from one.
    private static let idleTick = Duration.milliseconds(500)
    /// The longest sleep. A change of the calendar's time is noticed after it.
    private static let longestSleep = Duration.seconds(900)
    /// The pause after the store has failed.
    static let pauseAfterFailure = Duration.seconds(1)
    /// How long the closure of a constraint may take to answer.
    private static let conditionLimit = Duration.seconds(10)
    /// For how many hosts at most the records of an earlier process watch.
    private static let watchedAtStart = 1000

    init(store: any OfflineStore, configuration: OfflineConfiguration, events: EventHub, waiters: Waiters) {
        self.store = store
        self.configuration = configuration
        self.events = events
        self.waiters = waiters
        rules = DeliveryRules(configuration)
        clock = WaitClock(configuration.request.clock)
        recoveries = RecoveryWatches(configuration.request.hosts, clock)
        width = min(max(configuration.width, 1), OfflineConfiguration.largestWidth)
        requests.maxConcurrentOperationCount = width
    }

    /// Begins to send, and to watch the network and other processes.
    func start() {
        let changes = configuration.request.networkPath.changes
        keep(
            Task { [weak self] in
                var wasReachable = true
                for await reachability in changes {
                    guard let self else { return }
                    if reachability.isReachable, !wasReachable { await self.wake(.network) }
                    wasReachable = reachability.isReachable
                    // The kind of network may have changed too.
                    await self.wake(.constraint)
                    self.search()
                }
            })
        keep(Task { [weak self] in await self?.watchHosts() })
        keep(
            Task { [weak self, clock] in
                // No other work delays the signs of life.
                while let interval = self?.beatInterval {
                    do { try await clock.sleep(for: interval) } catch { return }
                    await self?.beat()
                }
            })
        keep(
            Task { [weak self, clock] in
                var (seen, calendar): (StoreVersion?, CalendarWatch) = (nil, CalendarWatch())
                // It may have been set back before this process began.
                await self?.endLongWaits()
                while let interval = self?.lookInterval {
                    if let date = self?.configuration.date(), calendar.wasSetBack(date, at: clock.elapsed) {
                        await self?.endLongWaits()
                    }
                    do { try await clock.sleep(for: interval) } catch { return }
                    seen = await self?.look(since: seen)
                }
            })
        keep(
            Task { [weak self, changes = store.changes] in
                for await _ in changes { await self?.storeChanged() }
            })
        search()
    }

    private func keep(_ watch: Task<Void, Never>) {
        state.withLock { $0.add(watch) }?.cancel()
    }

    /// Ends waits early, in steps.
    func wake(_ sleepers: Sleepers) async {
        if sleepers == .constraint { state.withLock { $0.conditionsChanged() } }
        do {
            while try await store.wake(sleepers) == Sleepers.batch {
                // Others change the store in between.
            }
        } catch {
            report(error)
        }
    }

    /// Ends waits that have become too long, since the time of the calendar was set back.
    private func endLongWaits() async {
        do {
            var count = 0
            repeat {
                count = try await store.endWaits(longerThan: rules.longestWaits)
                if count > 0 { search() }
            } while count == Sleepers.batch
        } catch {
            report(error)
        }
    }

    /// Watches the hosts that records of an earlier process wait for.
    private func watchHosts() async {
        do {
            for origin in try await store.waitingOrigins(limit: Self.watchedAtStart) { watch(origin) }
        } catch {
            report(error)
        }
    }

    // MARK: Searching

    /// Looks for records that can be sent, now or after the search that runs.
    func search() {
        guard state.withLock({ $0.wantsSearch() }) else { return }
        Task {
            repeat { await searchOnce() } while state.withLock { $0.searchEnded() }
            if state.withLock({ $0.isQuiet }) { waiters.announce(.quiet) }
        }
    }

    private func searchOnce() async {
        let room = state.withLock { $0.room(width: width) }
        guard room > 0 else { return }
        do {
            let claim = try await store.claim(await request(room))
            for (id, outcome) in claim.ended { announce(id, outcome) }
            switch claim.answer {
            case .claimed(let lease, let records):
                begin(records, under: lease)
                if records.count < room { setAlarm(after: claim.next ?? Self.longestSleep) }
            case .idle:
                setAlarm(after: claim.next ?? Self.longestSleep)
                await announceIfDrained()
            case .held:
                setAlarm(after: Self.tick)
            }
        } catch {
            report(error)
            setAlarm(after: Self.pauseAfterFailure)
        }
    }

    private func request(_ room: Int) async -> ClaimRequest {
        let conditions = state.withLock { $0.conditionsNumber }
        let reachability = configuration.request.networkPath.reachability
        var met: Set<String> = [OfflineConstraint.reachable.name]
        if reachability.isReachable, reachability.interface != .cellular {
            met.insert(OfflineConstraint.unmetered.name)
        }
        for (constraint, isMet) in configuration.conditions where await holds(isMet) { met.insert(constraint.name) }
        let (taken, delivering) = state.withLock { ($0.placesTaken, $0.deliveredRecords) }
        return ClaimRequest(
            limit: room, perOrigin: perOrigin, placesTaken: taken, leaseDuration: configuration.leaseDuration,
            isOnline: reachability.isReachable,
            handlers: handlers.names, met: met, maximumAge: configuration.bounds.age,
            originBound: configuration.request.limiter?.perHost, originRate: configuration.request.limiter?.rate,
            longestShortWait: DeliveryOperation.longestWait,
            isWanted: { [state] in state.withLock { $0.sends && $0.conditionsNumber == conditions } },
            delivering: delivering)
    }

    private func holds(_ isMet: @escaping @Sendable () async -> Bool) async -> Bool {
        do {
            return try await TimeLimit.run(
                Self.conditionLimit, on: clock.underlying, exceeded: HandlerTimedOut.init
            ) { await self.runUserCode { await isMet() } }
        } catch {
            // A closure that does not answer must not stop the other records. It is asked again at the next search.
            return false
        }
    }

    /// The queues whose handlers or conditions run on the current Task, or have begun it.
    @TaskLocal private static var callers: Set<ObjectIdentifier> = []

    /// Whether the current Task runs a handler or a condition of this queue, which cannot wait for its own end. A Task that
    /// such code has begun inherits the mark.
    var isCaller: Bool { Self.callers.contains(ObjectIdentifier(self)) }

    /// Runs a handler or a condition.
    func runUserCode<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await Self.$callers.withValue(Self.callers.union([ObjectIdentifier(self)]), operation: body)
    }

    private func begin(_ records: [StoredRecord], under lease: Lease) {
        guard let numbers = state.withLock({ $0.begin(records, under: lease) }) else { return }
        activity.begin { [weak self] in self?.yieldLease() }
        for (number, record) in zip(numbers, records) {
            let task = Task { await deliver(record, number, under: lease) }
            if state.withLock({ $0.began(number, task) }) { task.cancel() }
        }
    }

    // MARK: Time

    /// Searches again after a time. This replaces an earlier alarm.
    func setAlarm(after delay: Duration) {
        let task = Task { [weak self, clock] in
            // A cancelled alarm does not ring. Any other error of a clock ends the wait.
            do { try await clock.sleep(for: min(delay, Self.longestSleep)) } catch is CancellationError { return } catch
            {}
            self?.search()
        }
        state.withLock { $0.setAlarm(task) }?.cancel()
    }

    private var beatInterval: Duration { configuration.leaseDuration / 3 }

    /// Shows that this process lives.
    private func beat() async {
        guard let lease = state.withLock({ $0.lease }) else { return }
        // What begins while the store answers is not in the answer.
        let begun = state.withLock { $0.records(under: lease) }
        do {
            let inFlight = try await store.beat(lease)
            // Another process has removed the others.
            cancel(begun.subtracting(inFlight))
        } catch OfflineQueueError.Code.leaseLost {
            loseLease(lease)
        } catch {
            report(error)
        }
    }

    private var lookInterval: Duration {
        waiters.isAwaited || state.withLock({ !$0.deliveries.isEmpty }) ? Self.tick : Self.idleTick
    }

    /// Looks for what other processes have done: adds, outcomes, and their end.
    ///
    /// - Returns: What has been seen now; `nil` if the store failed.
    private func look(since seen: StoreVersion?) async -> StoreVersion? {
        guard waiters.isAwaited || state.withLock({ $0.sends }) else { return seen }
        do {
            let version = try await store.version()
            guard version != seen else { return seen }
            await storeChanged()
            return version
        } catch {
            report(error)
            return nil
        }
    }

    private func storeChanged() async {
        await announceOutcomes()
        search()
    }

    /// Cancels what was in flight under a lease that another process has taken over.
    func loseLease(_ lease: Lease) {
        guard let tasks = state.withLock({ $0.lose(lease) }) else { return }
        events.send(.leaseLost)
        for task in tasks { task.cancel() }
    }

    // MARK: Announcements

    /// Announces that a record has its outcome.
    func announce(_ id: OfflineRecord.ID, _ outcome: OfflineOutcome) {
        events.send(.ended(id, outcome))
        waiters.announce(.outcome(id))
    }

    /// Checks whether an event has already happened that a caller began to wait for.
    func look(for event: Waiters.Event) {
        Task {
            switch event {
            case .outcome(let id): await announceOutcomes(of: [id])
            case .drained: await announceIfDrained()
            case .quiet: if state.withLock({ $0.isQuiet }) { waiters.announce(.quiet) }
            }
        }
    }

    /// Announces outcomes that other processes have recorded.
    private func announceOutcomes() async {
        await announceOutcomes(of: waiters.awaited)
        if waiters.isDrainAwaited { await announceIfDrained() }
    }

    private func announceOutcomes(of ids: [OfflineRecord.ID]) async {
        guard !ids.isEmpty else { return }
        do {
            for id in Set(ids).subtracting(try await store.undecided(of: ids)) { waiters.announce(.outcome(id)) }
        } catch {
            report(error)
        }
    }

    private func announceIfDrained() async {
        do {
            if try await store.isDrained() { waiters.announce(.drained) }
        } catch {
            report(error)
        }
    }

    func report(_ error: any Error) {
        // After the end no caller can react to it. A Task that was cancelled has not failed.
        if case OfflineQueueError.Code.closed = error { return }
        if error is CancellationError { return }
        events.send(.storeFailed(OfflineQueueError(wrapping: error)))
    }

    // MARK: The end

    /// Cancels deliveries whose records are gone or not ours.
    func cancel(_ ids: Set<OfflineRecord.ID>) {
        for task in state.withLock({ $0.tasks(of: ids) }) { task.cancel() }
    }

    /// Releases the lease and cancels what is in flight, because the system is about to suspend the process.
    private func yieldLease() {
        let (lease, tasks) = state.withLock { ($0.lease, $0.deliveries.values.compactMap(\.task)) }
        guard let lease else { return }
        Task {
            do { try await store.release(lease) } catch { report(error) }
            for task in tasks { task.cancel() }
            activity.end()
            setAlarm(after: Self.pauseAfterFailure)
        }
    }

    /// Begins nothing new.
    ///
    /// - Parameter isPatient: Whether attempts under way may finish.
    func beginClosing(isPatient: Bool) {
        for task in state.withLock({ $0.beginClosing(isPatient: isPatient) }) { task.cancel() }
    }

    /// Ends all deliveries and releases the lease.
    ///
    /// - Parameter isPatient: Whether attempts under way may finish first. No further one begins.
    func close(isPatient: Bool) async {
        beginClosing(isPatient: isPatient)
        let lease = state.withLock { $0.lease }
        // The Task that closes may be cancelled. That must not cut this wait short.
        await Task { await waiters.wait(for: .quiet) { [self] in look(for: .quiet) } }.value
        guard let watches = state.withLock({ $0.close() }) else { return }
        for watch in watches { watch.cancel() }
        recoveries.close()
        if let lease = state.withLock({ $0.lease }) ?? lease {
            do { try await store.release(lease) } catch { report(error) }
        }
        await store.close()
        // Callers that wait now find the store closed.
        waiters.close()
    }
}
