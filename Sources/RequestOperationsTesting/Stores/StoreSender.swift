import Foundation
import OfflineRequests

/// Claims and delivers records of a store, as a dispatcher does.
struct StoreSender {
    let store: any OfflineStore
    /// The lease of the last records that were claimed.
    private(set) var lease = Lease(fence: 0)
    /// The records that were claimed and not delivered.
    var delivering: Set<OfflineRecord.ID> = []
    /// What has ended in the claims.
    private(set) var ended: [OfflineRecord.ID: OfflineOutcome] = [:]
    /// How long until the last claim is worth to be repeated.
    private(set) var next: Duration?

    init(_ store: any OfflineStore) { self.store = store }

    /// What a claim asks, if a check does not change it: up to ten records, with a network, and without handlers.
    var request: ClaimRequest {
        ClaimRequest(
            limit: 10, perOrigin: 10, placesTaken: [:], leaseDuration: .seconds(60), isOnline: true, handlers: [],
            met: ["reachable"], longestShortWait: .seconds(5), isWanted: { true }, delivering: delivering)
    }

    /// Claims once, and notes what the answer says.
    mutating func claimOnce(_ edit: (inout ClaimRequest) -> Void = { _ in }) async throws -> Claim {
        var request = request
        edit(&request)
        let claim = try await store.claim(request)
        for (id, outcome) in claim.ended { ended[id] = outcome }
        next = claim.next
        if case .claimed(let lease, let records) = claim.answer {
            self.lease = lease
            delivering.formUnion(records.map(\.id))
        }
        return claim
    }

    /// Claims until there are records, or nothing can be sent.
    mutating func claim(_ edit: (inout ClaimRequest) -> Void = { _ in }) async throws -> [StoredRecord] {
        for _ in 0..<100 {
            let claim = try await claimOnce(edit)
            switch claim.answer {
            case .claimed(_, let records): return records
            case .idle: if claim.next != .zero { return [] }
            case .held: throw ConformanceFailure("Another store has the lease.")
            }
        }
        throw ConformanceFailure("A hundred claims got nothing, and say that there is more.")
    }

    /// The ids of the records that ``claim(_:)`` returns.
    mutating func claimIDs(_ edit: (inout ClaimRequest) -> Void = { _ in }) async throws -> [OfflineRecord.ID] {
        try await claim(edit).map(\.id)
    }

    /// Settles a record that was claimed.
    @discardableResult
    mutating func settle(_ id: OfflineRecord.ID, as settlement: Settlement) async throws -> SettleResult {
        let result = try await store.settle(id, as: settlement, under: lease)
        delivering.remove(id)
        return result
    }

    @discardableResult
    mutating func deliver(_ id: OfflineRecord.ID) async throws -> SettleResult {
        try await settle(id, as: .delivered(status: 204))
    }

    /// Delivers everything, and returns the records in the order of their claims.
    mutating func deliverAll(_ edit: (inout ClaimRequest) -> Void = { _ in }) async throws -> [OfflineRecord.ID] {
        var ids: [OfflineRecord.ID] = []
        while case let records = try await claimIDs(edit), !records.isEmpty {
            ids += records
            for id in records { try await deliver(id) }
        }
        return ids
    }
}

extension NewRecord {
    /// A POST to an origin that does not exist.
    static func request(
        lane: String = "l", key: String? = nil, _ rule: UniqueRule = .append, tag: String? = nil, priority: Int = 0,
        host: String = "a.example", path: String = "", body: StoredBody = .none, constraints: [String] = ["reachable"],
        notBefore: Date? = nil, expires: Date? = nil
    ) -> NewRecord {
        var size = 0
        if case .data(let data) = body { size = data.count }
        return NewRecord(
            content: StoredContent(
                method: "POST", url: URL(string: "https://\(host)/\(path)"), fields: [:], constraints: constraints,
                idempotencyKey: UUID().uuidString),
            body: body, bodySize: Int64(size), lane: lane, tag: tag, uniqueKey: key, rule: rule, priority: priority,
            notBefore: notBefore, expires: expires)
    }

    /// A message.
    static func message(_ name: String, lane: String = "l") -> NewRecord {
        NewRecord(
            content: StoredContent(message: name, constraints: [], idempotencyKey: UUID().uuidString),
            body: .data(Data("payload".utf8)), bodySize: 7, lane: lane, rule: .append, priority: 0)
    }
}

extension OfflineStore {
    /// Adds records, each of which must be added as a new one.
    @discardableResult
    func addNew(_ records: NewRecord...) async throws -> [OfflineRecord.ID] { try await addNew(records) }

    /// Adds records, each of which must be added as a new one.
    @discardableResult
    func addNew(_ records: [NewRecord]) async throws -> [OfflineRecord.ID] {
        let results = try await add(records, bounds: OfflineBounds(), in: nil)
        try expect("The number of results", results.count, is: records.count)
        return try results.map { result in
            guard case .added(let id, let ended) = result, ended.isEmpty else {
                throw ConformanceFailure("The addition of a new record gave \(result).")
            }
            return id
        }
    }

    /// Adds one record.
    func addOne(_ record: NewRecord, bounds: OfflineBounds = OfflineBounds()) async throws -> AddResult {
        try unwrap(try await add([record], bounds: bounds, in: nil).first, "An addition gave no result.")
    }

    /// A record that must exist.
    func existing(_ id: OfflineRecord.ID) async throws -> StoredRecord {
        try unwrap(try await record(id), "The record \(id) is gone.")
    }

    /// Throws unless a record is in a state.
    func expectState(of id: OfflineRecord.ID, is state: OfflineRecord.State) async throws {
        try expect("The state of the record \(id)", try await existing(id).state, is: state)
    }
}

/// Throws a sentence about `subjects`, such as "The ids", if the two differ.
func expect<Value: Equatable>(_ subjects: String, _ found: Value, are expected: Value) throws {
    guard found != expected else { return }
    throw ConformanceFailure("\(subjects) are \(found), not \(expected).")
}

/// Runs an action that must fail with a code.
func expect<Value>(_ code: OfflineQueueError.Code, _ action: () async throws -> Value) async throws {
    do { _ = try await action() } catch let error as OfflineQueueError {
        return try expect("The code of the error", error.code, is: code)
    }
    throw ConformanceFailure("There is no error \(code).")
}
