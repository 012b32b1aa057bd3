public import Foundation
import RequestOperations

extension OfflineRequestQueue {
    // MARK: Looking

    /// A page of records in the order of adding.
    ///
    /// - Parameters:
    ///   - filter: Which records. All by default.
    ///   - id: The page begins after this record. `nil`, at the beginning, by default.
    ///   - limit: The most records of the page. 100 by default.
    /// - Throws: ``OfflineQueueError``.
    public func records(
        _ filter: RecordFilter = .all, after id: OfflineRecord.ID? = nil, limit: Int = 100
    ) async throws -> [OfflineRecord] {
        try await store.records(filter, after: id, limit: max(limit, 0)).map(\.snapshot)
    }

    /// Calls a closure with each record, in the order of adding, until it says stop.
    ///
    /// The records are read in pages, so the closure may get records that are added meanwhile.
    ///
    /// - Parameters:
    ///   - filter: Which records. All by default.
    ///   - body: Called once for each record. Set `stop` to `true` to end.
    /// - Throws: ``OfflineQueueError``, or the error of the closure.
    public func enumerate(
        _ filter: RecordFilter = .all, _ body: (_ record: OfflineRecord, _ stop: inout Bool) async throws -> Void
    ) async throws {
        var last: OfflineRecord.ID?
        var stop = false
        while true {
            let page = try await records(filter, after: last)
            for record in page {
                try await body(record, &stop)
                if stop { return }
            }
            guard let id = page.last?.id else { return }
            last = id
        }
    }

    /// One record; `nil` if it has an outcome or never existed. A dead letter is still a record.
    ///
    /// - Throws: ``OfflineQueueError``.
    public func record(_ id: OfflineRecord.ID) async throws -> OfflineRecord? {
        try await store.record(id)?.snapshot
    }

    /// The body of a request, or the payload of a message, as it is stored; `nil` if there is none.
    ///
    /// - Throws: ``OfflineQueueError``, or an error of the file system.
    public func body(of id: OfflineRecord.ID) async throws -> Data? {
        guard let record = try await store.record(id), record.body != .none else {
            return nil
        }
        return try await record.body.payload()
    }

    /// How many records there are. In files, the cost does not depend on their number. In PostgreSQL, it reads all records.
    ///
    /// - Throws: ``OfflineQueueError``.
    public var counts: OfflineCounts {
        get async throws { try await store.counts() }
    }

    /// The queue as a whole, for a view. The first call makes indices, which stay.
    package func overview() async throws -> QueueOverview { try await store.overview() }

    /// A page of records for a view, the newest first.
    package func page(_ query: RecordQuery) async throws -> RecordPage {
        try await store.page(query)
    }

    /// Changes with each change of the store by any process. Cheap enough to be asked often.
    package func storeVersion() async throws -> StoreVersion { try await store.version() }

    // MARK: Removing and retrying

    /// Removes a record. It is not sent afterwards. A delivery in flight is cancelled.
    ///
    /// - Returns: Whether there was such a record.
    /// - Throws: ``OfflineQueueError``.
    @discardableResult
    public func remove(_ id: OfflineRecord.ID) async throws -> Bool {
        guard try await store.remove(id) else { return false }
        finish([id])
        return true
    }

    /// Removes all records that match a filter. They are not sent afterwards. Deliveries in flight are cancelled.
    ///
    /// Records that are added after the call stay.
    ///
    /// ```swift
    /// try await queue.removeAll(RecordFilter(lane: "uploads"))
    /// ```
    ///
    /// - Returns: How many records were removed.
    /// - Throws: ``OfflineQueueError``. Some records may have been removed before.
    @discardableResult
    public func removeAll(_ filter: RecordFilter = .all) async throws -> Int {
        var count = 0
        // What is added meanwhile stays. Otherwise this might never end.
        guard let last = try await store.lastID() else { return 0 }
        while true {
            let removed = try await removeSome(filter, upTo: last)
            guard removed > 0 else { return count }
            count += removed
        }
    }

    /// Removes at most 1,000 records that match a filter, up to an id, in one transaction. Returns how many it removed.
    package func removeSome(_ filter: RecordFilter, upTo last: OfflineRecord.ID) async throws -> Int {
        let removed = try await store.remove(filter, upTo: last, limit: 1000)
        if !removed.isEmpty { finish(removed) }
        return removed.count
    }

    private func finish(_ removed: [OfflineRecord.ID]) {
        dispatcher.cancel(Set(removed))
        for id in removed { dispatcher.announce(id, .removed) }
        dispatcher.search()
    }

    /// Makes a dead letter pending again, at its old place in its lane. Its count of attempts starts again at 0.
    ///
    /// An expiry that has passed is dropped.
    ///
    /// - Returns: Whether there was such a dead letter.
    /// - Throws: ``OfflineQueueError``.
    @discardableResult
    public func retry(_ id: OfflineRecord.ID) async throws -> Bool {
        let isRevived = try await store.revive(id)
        dispatcher.search()
        return isRevived
    }

    // MARK: Waiting

    /// The outcome of a record. Waits until it is known, also after a restart, and also if another process delivers the
    /// record.
    ///
    /// Outcomes are kept for ``OfflineConfiguration/outcomeRetention`` at least.
    ///
    /// - Throws: ``OfflineQueueError/Code/unknownRecord`` if there is neither the record nor an outcome,
    ///   ``OfflineQueueError/Code/closed`` if the queue is closed meanwhile, or `CancellationError`.
    public func outcome(of id: OfflineRecord.ID) async throws -> OfflineOutcome {
        while true {
            if let outcome = try await knownOutcome(of: id) { return outcome }
            try Task.checkCancellation()
            // It may have ended since we looked.
            await dispatcher.waiters.wait(for: .outcome(id)) { [dispatcher] in dispatcher.look(for: .outcome(id)) }
            try Task.checkCancellation()
        }
    }

    /// - Returns: `nil` if the record has no outcome yet.
    private func knownOutcome(of id: OfflineRecord.ID) async throws -> OfflineOutcome? {
        if let record = try await store.record(id) {
            if case .dead(let reason) = record.state { return .dead(reason) }
            return nil
        }
        guard let outcome = try await store.outcome(of: id) else { throw OfflineQueueError(.unknownRecord) }
        return outcome
    }

    /// Waits until every record has its outcome. Dead letters do not count.
    ///
    /// - Throws: ``OfflineQueueError/Code/closed`` if the queue is closed meanwhile, or `CancellationError`.
    public func drain() async throws {
        while try await !store.isDrained() {
            try Task.checkCancellation()
            await dispatcher.waiters.wait(for: .drained) { [dispatcher] in dispatcher.look(for: .drained) }
            try Task.checkCancellation()
        }
    }
}
