import Foundation
import RequestOperations

extension SQLiteStore {
    package func claim(_ request: ClaimRequest) async throws -> Claim {
        let now = date()
        let view = try await read { [owner] connection in try ClaimView(request, at: now, owner: owner, connection) }
        guard view.hasWork else { return Claim(answer: .idle, next: view.next) }
        let (claim, unused) = try await writeLease { [self] connection -> (Claim, [String]) in
            guard request.isWanted() else { return (Claim(answer: .idle, next: view.next), []) }
            var claiming = Claiming(request: request, now: now, store: self, connection: connection)
            guard let lease = try takeLease(request, at: now, connection) else {
                return (Claim(answer: .held, next: view.next), [])
            }
            let claim = try claiming.run(under: lease)
            try connection.releaseIfIdle(owner)
            return (claim, claiming.unusedFiles)
        }
        for file in unused { removeBody(file) }
        return claim
    }

    /// The lease of this store, taken if it is free; `nil` if another owner has it.
    private func takeLease(
        _ request: ClaimRequest, at now: Date, _ connection: SQLiteConnection
    ) throws -> Lease? {
        let row = try connection.first("SELECT owner, fence, beat, patience FROM lease") {
            (
                owner: $0.text(0), fence: $0.integer(1), beat: $0.integer(2),
                patience: Duration.rounded(seconds: $0.real(3))
            )
        }
        guard let row else { throw OfflineQueueError(.storeFailed) }
        if row.owner == owner {
            try connection.run("UPDATE lease SET beat = beat + 1")
            for id in try connection.inFlight() where !request.delivering.contains(id) {
                try connection.run(
                    "\(SQLiteStore.takeBack) AND id = ?", .real(request.latestShortDue(at: now)), .integer(id.rawValue))
            }
            return Lease(fence: row.fence)
        }
        if let other = row.owner, try !OwnerLock.isDead(other, in: files) {
            // The owner's own limit counts: it shows a sign of life as often as that requires. A limit that is out of
            // range is damaged.
            let known = OfflineConfiguration.leaseDurations
            let patience = known.contains(row.patience) ? row.patience : request.leaseDuration
            let isSilent = rival.withLock {
                $0.isSilent(fence: row.fence, beat: row.beat, at: elapsed(), for: patience)
            }
            guard isSilent else { return nil }
        }
        try ownerLock.lock()
        // A number that is out of range restarts at 1, so that it can go on to rise.
        let fence = (0..<Int64.max).contains(row.fence) ? row.fence + 1 : 1
        try connection.run(
            "UPDATE lease SET owner = ?, fence = ?, beat = 0, patience = ?", .text(owner), .integer(fence),
            .real(request.leaseDuration / .seconds(1)))
        // Deliveries of an earlier owner may have arrived or not. They are sent again with the same key.
        try connection.run(SQLiteStore.takeBack, .real(request.latestShortDue(at: now)))
        return Lease(fence: fence)
    }
}

extension SQLiteStore {
    /// Ends the wait of the records that a condition selects.
    static let endWait = "UPDATE records SET state = 0, reason = 0, due = 0"
    /// Ends what is in flight. A record whose attempt failed before keeps the wait that was noted then, unless that is later
    /// than the value.
    static let takeBack =
        "UPDATE records SET state = CASE WHEN due > 0 AND due <= ? THEN 1 ELSE 0 END, fence = 0 WHERE state = 2"
}

/// What can be seen of the queue before anything is changed.
private struct ClaimView {
    let hasWork: Bool
    let next: Duration?

    init(_ request: ClaimRequest, at date: Date, owner: String, _ connection: SQLiteConnection) throws {
        let now = SQLiteValue.real(date.timeIntervalSince1970)
        func exists(_ condition: String, _ values: SQLiteValue...) throws -> Bool { try exists(condition, values) }
        func exists(_ condition: String, _ values: [SQLiteValue]) throws -> Bool {
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
            || !request.delivering.isSuperset(of: connection.inFlight())
            || exists("head = 1 AND state = 0 AND network = 0")
            || request.isOnline && exists("head = 1 AND state = 0 AND network = 1")
            || exists("head = 1 AND state = 1 AND due <= ?", now)
            || exists("expires IS NOT NULL AND state < 2 AND expires <= ?", now)
            || exists(request.lackedHandler, request.handlers.map(SQLiteValue.text))
            || request.oldestAllowed(at: date).map { oldest in try connection.oldestAdded().map { $0 < oldest } ?? false
            }
                ?? false
        next = try connection.next(request, after: date)
    }
}

extension ClaimRequest {
    /// No wait of a record in flight ends later than this, unless the time of the calendar was changed.
    fileprivate func latestShortDue(at now: Date) -> Double {
        now.timeIntervalSince1970 + longestShortWait / .seconds(1)
    }

    /// Messages that waited for one of these handlers. Another process may have made them wait.
    fileprivate var lackedHandler: String {
        let names = handlers.map { _ in "?" }.joined(separator: ", ")
        let reason = OfflineRecord.WaitReason.handler.rawValue
        return "head = 1 AND state = 1 AND reason = \(reason) AND message IN (\(names))"
    }

    /// Records that were added earlier are too old; `nil` if none is.
    fileprivate func oldestAllowed(at now: Date) -> Double? {
        maximumAge.map { now.timeIntervalSince1970 - $0 / .seconds(1) }
    }
}

extension SQLiteConnection {
    /// Records whose age can be judged: not in flight, and added when the clock was set. A board without a battery
    /// begins in 1970; no record is from before 2020.
    fileprivate static let hasAge = "state <> 2 AND added > 1577836800"

    fileprivate func inFlight() throws -> [OfflineRecord.ID] {
        try rows("SELECT id FROM records WHERE state = 2") { OfflineRecord.ID(rawValue: $0.integer(0)) }
    }

    /// When the oldest record was added that could be dropped for its age.
    ///
    /// The records have been added in the order of their ids, apart from changes of the clock.
    fileprivate func oldestAdded() throws -> Double? {
        try first("SELECT added FROM records WHERE \(Self.hasAge) ORDER BY id LIMIT 1") { $0.real(0) }
    }

    /// How long until something must be done because of the time.
    fileprivate func next(_ request: ClaimRequest, after now: Date) throws -> Duration? {
        let due = try first(
            """
            SELECT min(t) FROM (SELECT min(due) AS t FROM records WHERE head = 1 AND state = 1
              UNION ALL SELECT min(expires) FROM records WHERE expires IS NOT NULL AND state < 2)
            """
        ) { $0.optionalReal(0) }
        var times = [due?.flatMap { $0 < RecordRow.never ? $0 : nil }]
        if let age = request.maximumAge { times.append(try oldestAdded().map { $0 + age / .seconds(1) }) }
        return times.compactMap(\.self).min().map { .rounded(seconds: max($0 - now.timeIntervalSince1970, 0)) }
    }
}

/// One claim within a transaction.
private struct Claiming {
    let request: ClaimRequest
    let now: Date
    let store: SQLiteStore
    let connection: SQLiteConnection
    private var ended: [(OfflineRecord.ID, OfflineOutcome)] = []
    private var claimed: [StoredRecord] = []
    /// How many records of each origin have a place.
    private var placesTaken: [String: Int]
    /// Files of bodies that no record has any more.
    private(set) var unusedFiles: [String] = []
    private var hasPausedLanes = false

    /// The most records of each kind that one transaction changes.
    private static let batch = 256
    /// The most records that a search looks at before it searches by origins.
    private static let view = 1024
    /// The most origins that a search by origins looks at. The next search goes on behind them.
    private static let originsInView = 256

    init(request: ClaimRequest, now: Date, store: SQLiteStore, connection: SQLiteConnection) {
        self.request = request
        self.now = now
        self.store = store
        self.connection = connection
        placesTaken = request.placesTaken
    }

    mutating func run(under lease: Lease) throws -> Claim {
        try dropOld()
        try expire()
        try wakeDue()
        let isMoreHandled = try wakeHandled()
        hasPausedLanes = try connection.hasPausedLanes()
        var judged = 0
        while claimed.count < request.limit, judged < Self.batch {
            let candidates = try candidates(request.limit - claimed.count)
            if candidates.isEmpty { break }
            for candidate in candidates { try judge(candidate, lease) }
            judged += candidates.count
        }
        let answer: Claim.Answer = claimed.isEmpty ? .idle : .claimed(lease, claimed)
        // The rest follows at once, in a transaction of its own, so that others can write in between.
        let isMore = claimed.count < request.limit && (judged >= Self.batch || isMoreHandled)
        return Claim(
            answer: answer, next: isMore ? .zero : try connection.next(request, after: now), ended: ended)
    }

    private mutating func dropOld() throws {
        guard let oldest = request.oldestAllowed(at: now) else { return }
        let records = try connection.rows(
            "SELECT id, added FROM records WHERE \(SQLiteConnection.hasAge) ORDER BY id LIMIT \(Self.batch)"
        ) { (id: OfflineRecord.ID(rawValue: $0.integer(0)), added: $0.real(1)) }
        for record in records where record.added < oldest {
            let file = try connection.end(
                record.id, as: .dropped(.age), at: now, keepingOutcomesFor: store.outcomeRetention)
            if let file { unusedFiles.append(file) }
            ended.append((record.id, .dropped(.age)))
        }
    }

    private mutating func expire() throws {
        let expired = try connection.rows(
            "SELECT id FROM records WHERE expires IS NOT NULL AND state < 2 AND expires <= ? LIMIT \(Self.batch)",
            .real(now.timeIntervalSince1970)
        ) { OfflineRecord.ID(rawValue: $0.integer(0)) }
        for id in expired { try bury(id, DeadLetterReason(.expired, detail: "it expired before it was delivered")) }
    }

    private func wakeDue() throws {
        try connection.run(
            """
            UPDATE records SET state = 0, reason = 0 WHERE id IN (SELECT id FROM records
              WHERE head = 1 AND state = 1 AND due <= ? ORDER BY due LIMIT \(Self.batch))
            """, .real(now.timeIntervalSince1970))
    }

    /// Wakes messages for which there is a handler now. Returns whether there may be more of them.
    private func wakeHandled() throws -> Bool {
        try connection.forEach(
            """
            \(SQLiteStore.endWait) WHERE id IN (SELECT id FROM records
              WHERE \(request.lackedHandler) LIMIT \(Self.batch))
            """, request.handlers.map(SQLiteValue.text)
        ) { _ in true }
        return connection.changes == Self.batch
    }

    /// A record that could be sent.
    private typealias Candidate = (id: Int64, priority: Int64, origin: String?)

    /// The first records whose origins have a place, highest priority first.
    private func candidates(_ count: Int) throws -> [RecordRow.Reading] {
        var found: [Candidate] = []
        for network in request.isOnline ? [0, 1] : [0] {
            let first = try firstCandidates(count, network)
            found += first.found
            // Many records of an origin without a place stand in front.
            if first.isMore { found += try candidatesByOrigin(count, network, besides: Set(first.found.map(\.id))) }
        }
        found.sort { ($1.priority, $0.id) < ($0.priority, $1.id) }
        // Both kinds share the places of an origin.
        var taken = placesTaken
        return try found.filter { takePlace($0.origin, &taken) }.prefix(count).compactMap { record in
            try connection.first(
                "SELECT \(RecordRow.columnsWithBody) FROM records WHERE id = ?", .integer(record.id)
            ) { RecordRow.read($0, hasBody: true, bodies: store.files.bodies) }
        }
    }

    /// Looks at the first records in their order. Returns also whether there are more to look at.
    private func firstCandidates(_ count: Int, _ network: Int) throws -> (found: [Candidate], isMore: Bool) {
        var (found, taken, seen) = ([Candidate](), placesTaken, 0)
        try connection.forEach(
            """
            SELECT id, priority, origin FROM records WHERE head = 1 AND state = 0 AND network = \(network)
            ORDER BY priority DESC, id LIMIT \(Self.view)
            """, []
        ) { row in
            seen += 1
            let origin = row.text(2)
            if takePlace(origin, &taken) { found.append((row.integer(0), row.integer(1), origin)) }
            return found.count < count
        }
        return (found, found.count < count && seen == Self.view)
    }

    /// The first records of each origin that has a place. The cost does not depend on how many records an origin has.
    private func candidatesByOrigin(
        _ count: Int, _ network: Int, besides known: Set<Int64>
    ) throws -> [Candidate] {
        let ready = "head = 1 AND state = 0 AND network = \(network)"
        var found: [Candidate] = []
        func look(at origin: String?, limit: Int) throws {
            try connection.forEach(
                """
                SELECT id, priority FROM records WHERE \(ready) AND origin IS ? ORDER BY priority DESC, id LIMIT ?
                """, [.optional(origin), .integer(limit + known.count)]
            ) { row in
                if !known.contains(row.integer(0)) { found.append((row.integer(0), row.integer(1), origin)) }
                return true
            }
        }
        try look(at: nil, limit: count)
        let start = store.lastOrigin.withLock { $0 }
        var (last, isAround) = (start, false)
        for _ in 0..<Self.originsInView where found.count < Self.view {
            let next = try connection.first(
                "SELECT origin FROM records WHERE \(ready) AND origin > ? ORDER BY origin LIMIT 1", .text(last)
            ) { $0.text(0) }
            guard let origin = next ?? nil else {
                if isAround { break }
                (last, isAround) = ("", true)
                continue
            }
            if isAround, origin > start { break }
            last = origin
            let places = request.perOrigin - placesTaken[origin, default: 0]
            if places > 0 { try look(at: origin, limit: min(places, count)) }
        }
        store.lastOrigin.withLock { [last] in $0 = last }
        return found
    }

    /// Takes a place for a record of an origin, if there is one. A message of no origin always has one.
    private func takePlace(_ origin: String?, _ taken: inout [String: Int]) -> Bool {
        guard let origin else { return true }
        guard taken[origin, default: 0] < request.perOrigin else { return false }
        taken[origin, default: 0] += 1
        return true
    }

    /// Marks a record as in flight, or says why it cannot be sent.
    private mutating func judge(_ candidate: RecordRow.Reading, _ lease: Lease) throws {
        let record = candidate.record
        guard candidate.isSound else {
            return try bury(record.id, RecordRow.damage)
        }
        if case .file(let file) = record.body, BodyFiles.size(of: file) != record.bodySize {
            return try bury(record.id, DeadLetterReason(.damaged, detail: "the file of its body is missing or cut off"))
        }
        if hasPausedLanes, try connection.isPaused(record.lane) { return try park(record.id, .paused) }
        if let message = record.content.message, !request.handlers.contains(message) {
            return try park(record.id, .handler)
        }
        guard request.met.isSuperset(of: record.content.constraints) else { return try park(record.id, .constraint) }
        try connection.run(
            "UPDATE records SET state = 2, reason = 0, due = 0, fence = ? WHERE id = ?", .integer(lease.fence),
            .integer(record.id.rawValue))
        claimed.append(record)
        if let origin = record.content.origin { placesTaken[origin, default: 0] += 1 }
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
