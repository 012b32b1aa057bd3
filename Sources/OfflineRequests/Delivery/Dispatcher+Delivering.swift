import Foundation
import RequestOperations

extension Dispatcher {
    /// Delivers a record and stores the outcome.
    ///
    /// - Parameter number: The number of the delivery.
    func deliver(_ record: StoredRecord, _ number: Int, under lease: Lease) async {
        events.send(.began(record.id))
        let settlement = await attempt(record, number, under: lease)
        await settle(record, as: settlement, under: lease)
        let (isLast, isQuiet) = state.withLock { ($0.ended(number), $0.isQuiet) }
        if isLast { activity.end() }
        if isQuiet { waiters.announce(.quiet) }
        search()
    }

    private func attempt(_ record: StoredRecord, _ number: Int, under lease: Lease) async -> Settlement {
        do {
            guard try await store.isWhole(record) else {
                return .dead(DeadLetterReason(.damaged, detail: "the file of its body is damaged"))
            }
            guard let name = record.content.message else {
                guard let request = record.content.request else {
                    return .dead(DeadLetterReason(.damaged, detail: "the request has no URL"))
                }
                return await send(request, body: record.body.requestBody, record, number, under: lease)
            }
            guard let handler = handlers[name], try await maySend(record.id, number, lease) else {
                throw CancellationError()
            }
            let payload = try await record.body.payload()
            switch try await runUserCode({ try await handler.handle(payload) }) {
            case .done: return .delivered(status: nil)
            case .request(let request):
                return await send(request, body: RequestBody(of: request), record, number, under: lease)
            }
        } catch let error as MessageHandlers.Undecodable {
            return .dead(DeadLetterReason(.undecodable, detail: DeliveryRules.line(error.underlying)))
        } catch {
            return rules.settlement(
                after: DeliveryRules.Failure(error, after: DeliveryRules.History(record)), at: configuration.date(),
                using: configuration.request.randomSource)
        }
    }

    private func maySend(_ id: OfflineRecord.ID, _ number: Int, _ lease: Lease) async throws -> Bool {
        let may = try await store.maySend(id, under: lease)
        // A delivery that was cancelled because the queue closes sends nothing.
        try Task.checkCancellation()
        try enter(.sending, number)
        return may
    }

    /// Notes how far a delivery has come. While the queue closes, it ends instead. While the queue is paused, or its host
    /// has no place, it ends instead of another attempt.
    private func enter(_ stage: DispatchState.Stage, _ number: Int) throws {
        let refused = state.withLock { state in
            state.enter(stage, number, perOrigin: perOrigin) ? nil : state.deliveries[number]
        }
        guard let refused else { return }
        refused.task?.cancel()
        throw CancellationError()
    }

    private func send(
        _ request: URLRequest, body: RequestBody, _ record: StoredRecord, _ number: Int, under lease: Lease
    ) async -> Settlement {
        var request = request
        request.httpBody = nil
        request.httpBodyStream = nil
        if request.value(forHTTPHeaderField: IdempotencyKey.field) == nil {
            request.setValue(record.content.idempotencyKey, forHTTPHeaderField: IdempotencyKey.field)
        }
        let operation = DeliveryOperation(
            request, body: body, record: record, rules: rules, hooks: hooks(record.id, number, lease),
            configuration: requestConfiguration(for: record))
        requests.addOperation(operation)
        do { return .delivered(status: try await operation.value) } catch {
            // A cancelled Task stops waiting at once, but the operation may still note something for a moment.
            if operation.isExecuting {
                await withCheckedContinuation { end in operation.whenFinished { _ in end.resume() } }
            }
            return operation.settlement(after: error)
        }
    }

    private func hooks(_ id: OfflineRecord.ID, _ number: Int, _ lease: Lease) -> DeliveryOperation.Hooks {
        let conditions = state.withLock { $0.conditionsNumber }
        return DeliveryOperation.Hooks(
            maySend: { [self] in try await maySend(id, number, lease) },
            note: { [self] step in
                try await store.note(step, of: id, under: lease)
                events.send(waits(id, step))
                // Its place is free until its next attempt.
                try enter(.waiting, number)
                search()
            },
            // Each attempt at a shared store is claimed.
            mayGoOn: { [state, store] in
                !store.isShared && state.withLock { $0.sends && $0.conditionsNumber == conditions }
            },
            date: configuration.date)
    }

    /// The configuration of a delivery. The rules of the queue limit retries, so the policy does not.
    func requestConfiguration(for record: StoredRecord) -> RequestConfiguration {
        // Its body must arrive.
        var request = configuration.request.requiringBody
        request.retryPolicy.maximumRetries = .max
        request.retryPolicy.elapsedLimit = nil
        request.retryPolicy.maximumRetryAfter = configuration.maximumRetryAfter
        if let expires = record.expires {
            let left = Duration.rounded(seconds: expires.timeIntervalSince(configuration.date()))
            request.deadline = min(request.deadline ?? left, left)
        }
        return request
    }

    /// Stores the end of a delivery. It tries until it succeeds, because otherwise the record would be sent again.
    private func settle(_ record: StoredRecord, as settlement: Settlement, under lease: Lease) async {
        let settlement = store.isShared ? sharing(settlement, of: record) : settlement
        let pause = pauseReason(of: record, after: settlement)
        while !(Task.isCancelled && state.withLock { $0.isEnding }) {
            do {
                let result = try await store.settle(record.id, as: settlement, under: lease, pausingLane: pause)
                if result != .removed { announce(settlement, of: record) }
                if result == .recordedAndLanePaused { await announcePause(of: record.lane, because: pause) }
                return
            } catch OfflineQueueError.Code.leaseLost {
                return loseLease(lease)
            } catch OfflineQueueError.Code.closed {
                return
            } catch {
                report(error)
            }
            do { try await clock.sleep(for: Self.pauseAfterFailure) } catch { return }
        }
    }

    /// Why a dead letter pauses its lane; `nil` if it does not.
    private func pauseReason(of record: StoredRecord, after settlement: Settlement) -> LanePauseReason? {
        guard let policy = configuration.lanePause, !record.lane.isEmpty, case .dead(let reason) = settlement,
            let status = reason.status, policy.statuses.contains(status)
        else { return nil }
        return .status(status)
    }

    /// Pauses a lane, and sends an event if it was not paused.
    func pause(_ lane: String, because reason: LanePauseReason) async throws -> Bool {
        guard try await store.pause(lane: lane, because: reason) else { return false }
        events.send(.lanePaused(lane.isEmpty ? nil : lane, reason))
        return true
    }

    /// Sends the event of a lane that the store has paused. Only the store knows since when a lane fails.
    private func announcePause(of lane: String, because reason: LanePauseReason?) async {
        if let reason { return events.send(.lanePaused(lane, reason)) }
        do {
            let paused = try await store.pausedLanes().first { $0.lane == lane }
            if let paused { events.send(.lanePaused(paused.lane, paused.reason)) }
        } catch {
            report(error)
        }
    }

    /// Adds how long the host asks to be left alone, which the senders of other processes cannot know.
    private func sharing(_ settlement: Settlement, of record: StoredRecord) -> Settlement {
        guard case .waits(var step) = settlement, let url = record.content.url else { return settlement }
        let request = configuration.request
        let rest = request.hosts.timeLeftAlone(url, under: request.retryPolicy.circuitBreaker)
        step.originRests = rest > .zero ? rest : nil
        return .waits(step)
    }

    private func waits(_ id: OfflineRecord.ID, _ step: FailureNote) -> OfflineEvent {
        .waits(id, until: step.due(from: configuration.date()), failure: step.failure)
    }

    private func announce(_ settlement: Settlement, of record: StoredRecord) {
        // A record that failed before may have been woken by a success at its host.
        if record.attempts > 0, let origin = record.content.origin {
            if case .delivered = settlement { recoveries.note(origin, succeeded: true) }
            if case .waits = settlement { recoveries.note(origin, succeeded: false) }
        }
        switch settlement {
        case .delivered(let status): announce(record.id, .delivered(status: status))
        case .dead(let reason): announce(record.id, .dead(reason))
        case .waits(let step):
            events.send(waits(record.id, step))
            if step.reason != .retryAfter, let origin = record.content.origin { watch(origin) }
        }
    }

    /// Lets successes of other requests to an origin wake the records that wait for it.
    func watch(_ origin: String) {
        recoveries.watch(origin) { [weak self] in
            guard let self else { return 0 }
            do {
                let count = try await store.wake(.origin(origin, limit: 2))
                if count > 0 { search() }
                return count
            } catch {
                report(error)
                return 0
            }
        }
    }
}

extension StoredBody {
    fileprivate var requestBody: RequestBody {
        switch self {
        case .none: .none
        case .data(let data): .data(data)
        case .file(let file): .file(file)
        }
    }

    /// The payload of a message, in memory.
    func payload() async throws -> Data {
        switch self {
        case .none: Data()
        case .data(let data): data
        case .file(let file): try await BlockingWork.run { try Data(contentsOf: file) }
        }
    }
}
