import Foundation
import RequestOperations

extension Dispatcher {
    /// Delivers a record and writes down what it comes to.
    func deliver(_ record: StoredRecord, under lease: Lease) async {
        events.send(.began(record.id))
        let result = await attempt(record, under: lease)
        await settle(record, as: result, under: lease)
        let isLast = state.withLock { $0.ended(record.id) }
        if isLast {
            activity.end()
            waiters.announce(.quiet)
        }
        search()
    }

    /// What a delivery came to, and the failure that ended it.
    private struct Result {
        var settlement: Settlement
        var failure: AttemptFailure?
    }

    private func attempt(_ record: StoredRecord, under lease: Lease) async -> Result {
        guard let name = record.content.message else {
            guard let request = record.content.request else {
                return Result(settlement: .dead(DeadLetterReason(.damaged, detail: "the request has no URL")))
            }
            return await send(request, body: record.body.requestBody, record, under: lease)
        }
        guard let handler = handlers[name] else {
            return Result(settlement: settlement(after: CancellationError(), record))
        }
        do {
            guard try await maySend(record.id, lease) else { throw CancellationError() }
            let payload = try record.body.payload()
            switch try await handler.handle(payload) {
            case .done: return Result(settlement: .delivered(status: nil))
            case .request(let request):
                return await send(request, body: RequestBody(of: request), record, under: lease)
            }
        } catch let error as MessageHandlers.Undecodable {
            return Result(settlement: .dead(DeadLetterReason(.undecodable, detail: "\(error.underlying)")))
        } catch {
            return Result(settlement: settlement(after: error, record))
        }
    }

    /// What the error of a handler comes to.
    private func settlement(after error: any Error, _ record: StoredRecord) -> Settlement {
        let failure = DeliveryRules.Failure(
            error: error, status: nil, retryAfter: nil, message: record.content.message, expires: record.expires,
            attempts: record.attempts, refusals: record.refusals)
        return rules.settlement(
            after: failure, at: configuration.date(), using: configuration.request.randomSource)
    }

    private func maySend(_ id: OfflineRecord.ID, _ lease: Lease) async throws -> Bool {
        let may = try await store.maySend(id, under: lease)
        // One that was cancelled to close sends nothing.
        try Task.checkCancellation()
        state.withLock { $0.enter(.sending, id) }
        return may
    }

    private func send(
        _ request: URLRequest, body: RequestBody, _ record: StoredRecord, under lease: Lease
    ) async -> Result {
        var request = request
        request.httpBody = nil
        request.httpBodyStream = nil
        if request.value(forHTTPHeaderField: IdempotencyKey.field) == nil {
            request.setValue(record.content.idempotencyKey, forHTTPHeaderField: IdempotencyKey.field)
        }
        let operation = DeliveryOperation(
            request, body: body, record: record, rules: rules, hooks: hooks(record.id, lease),
            configuration: requestConfiguration(for: record))
        operation.queuePriority = .normal
        requests.addOperation(operation)
        do { return Result(settlement: .delivered(status: try await operation.value)) } catch {
            // A Task that is cancelled leaves at once, but the operation may still note something for a moment.
            if operation.isExecuting {
                await withCheckedContinuation { end in operation.whenFinished { _ in end.resume() } }
            }
            return Result(
                settlement: operation.settlement ?? operation.settlement(after: error), failure: operation.lastFailure)
        }
    }

    private func hooks(_ id: OfflineRecord.ID, _ lease: Lease) -> DeliveryOperation.Hooks {
        DeliveryOperation.Hooks(
            maySend: { [self] in try await maySend(id, lease) },
            note: { [self] progress in
                try await store.note(progress, of: id, under: lease)
                events.send(.waits(id, until: progress.due, failure: progress.failure))
                // Its place is free until its next attempt.
                state.withLock { $0.enter(.waiting, id) }
                search()
            }, date: configuration.date)
    }

    /// The configuration of a delivery. The rules of the queue limit retries, so the policy does not.
    private func requestConfiguration(for record: StoredRecord) -> RequestConfiguration {
        var request = configuration.request
        request.retryPolicy.maximumRetries = .max
        request.retryPolicy.elapsedLimit = nil
        request.retryPolicy.maximumRetryAfter = configuration.maximumRetryAfter
        if let expires = record.expires {
            request.deadline = .seconds(max(expires.timeIntervalSince(configuration.date()), 0))
        }
        return request
    }

    /// Writes the end of a delivery down. It tries until it can, since the record would be sent again otherwise.
    private func settle(_ record: StoredRecord, as result: Result, under lease: Lease) async {
        while !(Task.isCancelled && state.withLock { $0.isEnding }) {
            do {
                let isThere = try await store.settle(
                    record.id, as: result.settlement, under: lease, at: configuration.date())
                if isThere { announce(result, of: record) }
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

    private func announce(_ result: Result, of record: StoredRecord) {
        switch result.settlement {
        case .delivered(let status): announce(record.id, .delivered(status: status))
        case .dead(let reason): announce(record.id, .dead(reason))
        case .waits(let progress):
            events.send(.waits(record.id, until: progress.due, failure: progress.failure))
            guard progress.reason != .retryAfter, let failure = result.failure, let origin = record.content.origin
            else { return }
            recoveries.watch(origin, after: failure) { [weak self] in
                await self?.wake(.origin(origin, limit: 2))
                self?.search()
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
    func payload() throws -> Data {
        switch self {
        case .none: Data()
        case .data(let data): data
        case .file(let file): try Data(contentsOf: file)
        }
    }
}
