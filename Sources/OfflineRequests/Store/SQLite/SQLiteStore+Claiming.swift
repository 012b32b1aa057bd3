import Foundation
import RequestOperations

extension SQLiteStore {
    package func claim(_ request: ClaimRequest) async throws -> Claim {
        let view = try await read { [owner] connection in try ClaimView(request, owner: owner, connection) }
        guard view.hasWork else { return Claim(answer: .idle, nextDue: view.nextDue) }
        let (claim, unused) = try await write { [self] connection -> (Claim, [String]) in
            guard request.isWanted() else { return (Claim(answer: .idle, nextDue: view.nextDue), []) }
            var claiming = Claiming(request: request, files: files, connection: connection)
            guard let lease = try takeLease(request, connection) else {
                return (Claim(answer: .held, nextDue: view.nextDue), [])
            }
            let claim = try claiming.run(under: lease)
            if try connection.releaseIfIdle(owner) { ownerLock.unlock() }
            return (claim, claiming.unusedFiles)
        }
        for file in unused { removeBody(file) }
        return claim
    }

    /// The lease of this store, taken if it is free; `nil` if another owner has it.
    private func takeLease(_ request: ClaimRequest, _ connection: SQLiteConnection) throws -> Lease? {
        let row = try connection.first("SELECT owner, fence, beat FROM lease") {
            (owner: $0.text(0), fence: $0.integer(1), beat: $0.integer(2))
        }
        guard let row else { throw OfflineQueueError(.storeFailed) }
        if row.owner == owner {
            try connection.run("UPDATE lease SET beat = beat + 1")
            // A claim that failed after its commit would leave such records.
            if !request.isBusy { try connection.run(SQLiteStore.takeBack) }
            return Lease(fence: row.fence)
        }
        // A lock that can be had shows that the owner is dead, or that there is none.
        if !ownerLock.tryLock(.exclusive), row.owner != nil {
            let isSilent = rival.withLock {
                $0.isSilent(fence: row.fence, beat: row.beat, at: request.elapsed, for: request.leaseDuration)
            }
            guard isSilent else { return nil }
        }
        try connection.run(
            "UPDATE lease SET owner = ?, fence = fence + 1, beat = beat + 1", .text(owner))
        // What an earlier owner had begun may have arrived or not. It is sent again with the same key.
        try connection.run(SQLiteStore.takeBack)
        return Lease(fence: row.fence + 1)
    }
}

extension SQLiteStore {
    /// Ends what is in flight. A record whose attempt failed before keeps the wait that was noted then.
    static let takeBack = "UPDATE records SET state = CASE WHEN due > 0 THEN 1 ELSE 0 END, fence = 0 WHERE state = 2"
}

/// What can be seen of the queue before anything is changed.
private struct ClaimView {
    let hasWork: Bool
    let nextDue: Date?

    init(_ request: ClaimRequest, owner: String, _ connection: SQLiteConnection) throws {
        let now = SQLiteValue.real(request.now.timeIntervalSince1970)
        let oldest = request.maximumAge.map { request.now.timeIntervalSince1970 - $0 / .seconds(1) }
        func exists(_ condition: String, _ values: SQLiteValue...) throws -> Bool {
            var found = false
            try connection.forEach("SELECT 1 FROM records WHERE \(condition) LIMIT 1", values) { _ in
                found = true
                return false
            }
            return found
        }
        // What another owner has in flight must be taken over when it dies.
        let isRivalled = try connection.first(
            "SELECT 1 FROM lease WHERE owner IS NOT ? AND EXISTS (SELECT 1 FROM records WHERE state = 2)",
            .text(owner), row: { $0.integer(0) })
        hasWork =
            try isRivalled != nil
            || !request.isBusy && exists("state = 2")
            || exists("head = 1 AND state = 0 AND network = 0")
            || request.isOnline && exists("head = 1 AND state = 0 AND network = 1")
            || exists("head = 1 AND state = 1 AND due <= ?", now)
            || exists("expires IS NOT NULL AND state < 2 AND expires <= ?", now)
            || oldest.map { try Self.isTooOld($0, connection) } ?? false
        nextDue = try connection.first(
            """
            SELECT min(t) FROM (SELECT min(due) AS t FROM records WHERE head = 1 AND state = 1
              UNION ALL SELECT min(expires) FROM records WHERE expires IS NOT NULL AND state < 2)
            """
        ) { $0.optionalReal(0) }?.flatMap { $0 < RecordRow.never ? Date(timeIntervalSince1970: $0) : nil }
    }

    /// The records have been added in the order of their ids, apart from changes of the clock.
    private static func isTooOld(_ oldest: Double, _ connection: SQLiteConnection) throws -> Bool {
        try connection.first("SELECT added < ? FROM records ORDER BY id LIMIT 1", .real(oldest)) { $0.integer(0) == 1 }
            ?? false
    }
}

/// One claim within a transaction.
private struct Claiming {
    let request: ClaimRequest
    let files: QueueFiles
    let connection: SQLiteConnection
    private var ended: [(OfflineRecord.ID, OfflineOutcome)] = []
    private var claimed: [StoredRecord] = []
    /// Files of bodies that no record has any more.
    private(set) var unusedFiles: [String] = []

    /// The most records of each kind that one transaction changes.
    private static let batch = 256

    init(request: ClaimRequest, files: QueueFiles, connection: SQLiteConnection) {
        self.request = request
        self.files = files
        self.connection = connection
    }

    mutating func run(under lease: Lease) throws -> Claim {
        try dropOld()
        try expire()
        try wakeDue()
        while claimed.count < request.limit {
            let candidates = try candidates(request.limit - claimed.count)
            if candidates.isEmpty { break }
            for candidate in candidates { try judge(candidate, lease) }
        }
        let answer: Claim.Answer = claimed.isEmpty ? .idle : .claimed(lease, claimed)
        return Claim(answer: answer, nextDue: try nextDue(), ended: ended)
    }

    private func nextDue() throws -> Date? {
        let due = try connection.first(
            """
            SELECT min(t) FROM (SELECT min(due) AS t FROM records WHERE head = 1 AND state = 1
              UNION ALL SELECT min(expires) FROM records WHERE expires IS NOT NULL AND state < 2)
            """
        ) { $0.optionalReal(0) }
        return due?.flatMap { $0 < RecordRow.never ? Date(timeIntervalSince1970: $0) : nil }
    }

    private mutating func dropOld() throws {
        guard let age = request.maximumAge else { return }
        let oldest = request.now.timeIntervalSince1970 - age / .seconds(1)
        let old = try connection.rows("SELECT id, added, state FROM records ORDER BY id LIMIT \(Self.batch)") {
            (id: OfflineRecord.ID(rawValue: $0.integer(0)), isOld: $0.real(1) < oldest, state: $0.integer(2))
        }
        for record in old where record.isOld && record.state != 2 {
            if let file = try connection.end(record.id, as: .dropped(.age), at: request.now) {
                unusedFiles.append(file)
            }
            ended.append((record.id, .dropped(.age)))
        }
    }

    private mutating func expire() throws {
        let expired = try connection.rows(
            "SELECT id FROM records WHERE expires IS NOT NULL AND state < 2 AND expires <= ? LIMIT \(Self.batch)",
            .real(request.now.timeIntervalSince1970)
        ) { OfflineRecord.ID(rawValue: $0.integer(0)) }
        for id in expired { try bury(id, DeadLetterReason(.expired, detail: "it expired before it was delivered")) }
    }

    private func wakeDue() throws {
        try connection.run(
            """
            UPDATE records SET state = 0, reason = 0 WHERE id IN (SELECT id FROM records
              WHERE head = 1 AND state = 1 AND due <= ? ORDER BY due LIMIT \(Self.batch))
            """, .real(request.now.timeIntervalSince1970))
    }

    private func candidates(_ count: Int) throws -> [RecordRow.Reading] {
        var candidates: [RecordRow.Reading] = []
        for network in request.isOnline ? [0, 1] : [0] {
            candidates += try connection.rows(
                """
                SELECT \(RecordRow.columnsWithBody) FROM records WHERE head = 1 AND state = 0 AND network = \(network)
                ORDER BY priority DESC, id LIMIT ?
                """, .integer(count)
            ) { RecordRow.read($0, hasBody: true, bodies: files.bodies) }
        }
        candidates.sort { ($1.record.priority, $0.record.id) < ($0.record.priority, $1.record.id) }
        return Array(candidates.prefix(count))
    }

    /// Marks a record as in flight, or says why it cannot be sent.
    private mutating func judge(_ candidate: RecordRow.Reading, _ lease: Lease) throws {
        let record = candidate.record
        guard candidate.isSound else {
            return try bury(record.id, DeadLetterReason(.damaged, detail: "its bytes do not fit their checksum"))
        }
        if case .file(let file) = record.body, !FileManager.default.fileExists(atPath: file.path) {
            return try bury(record.id, DeadLetterReason(.damaged, detail: "the file of its body is gone"))
        }
        if let message = record.content.message, !request.handlers.contains(message) {
            return try park(record.id, .handler)
        }
        guard request.met.isSuperset(of: record.content.constraints) else { return try park(record.id, .constraint) }
        try connection.run(
            "UPDATE records SET state = 2, reason = 0, due = 0, fence = ? WHERE id = ?", .integer(lease.fence),
            .integer(record.id.rawValue))
        claimed.append(record)
    }

    private mutating func bury(_ id: OfflineRecord.ID, _ reason: DeadLetterReason) throws {
        try connection.bury(id, because: reason)
        ended.append((id, .dead(reason)))
    }

    /// Lets a record wait until an event.
    private func park(_ id: OfflineRecord.ID, _ reason: OfflineRecord.WaitReason) throws {
        try connection.run(
            "UPDATE records SET state = 1, reason = ?, due = ? WHERE id = ?", .integer(reason.rawValue),
            .real(RecordRow.never), .integer(id.rawValue))
    }
}
