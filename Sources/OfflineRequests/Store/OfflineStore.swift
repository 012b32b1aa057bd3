package import Foundation
package import RequestOperations

/// Where a queue keeps its records. All SQL is behind this protocol.
///
/// Each function is one transaction. When it returns, its changes are durable. Several processes may use one store. Its
/// own clock decides what is due, so processes with other clocks agree.
package protocol OfflineStore: Sendable {
    /// Whether processes on several machines send at the same time. Each attempt is then claimed, so that the bounds of an
    /// origin apply to all of them.
    var isShared: Bool { get }
    /// An element means that other processes may have changed the store. It ends at once if only ``version()`` can say so.
    var changes: AsyncStream<Void> { get }

    /// Takes a body into the store: a short one stays in memory until it is added, a long one goes to a file.
    func keep(_ body: StoredBody, inlineLimit: Int) async throws -> OwnedBody
    /// Discards a body that no record has taken.
    func discard(_ body: OwnedBody) async throws
    /// Whether the body of a record has the bytes that were added. A body within the record was checked with it.
    func isWhole(_ record: StoredRecord) async throws -> Bool
    /// Adds records in their order, unless their uniqueness prevents that. If one of them is refused, none is added.
    ///
    /// - Parameter place: The function waits for its turn, and leaves it once these records come before all that are
    ///   added later.
    func add(_ records: [NewRecord], bounds: OfflineBounds, in place: AddingPlace?) async throws -> [AddResult]
    /// The newest record with a unique key that is neither in flight nor dead, with its body.
    func mergeable(withKey key: String) async throws -> StoredRecord?

    /// Takes the lease if it is free or dead, marks records as in flight, and returns them with their bodies.
    ///
    /// Records whose time is over become dead letters here.
    func claim(_ request: ClaimRequest) async throws -> Claim
    /// Whether a record is still in flight under a lease. Asked before each attempt is sent. This ends a wait that was
    /// noted. After a noted attempt, no other follows in a paused lane.
    func maySend(_ id: OfflineRecord.ID, under lease: Lease) async throws -> Bool
    /// Records a failed attempt of a record that stays in flight. Until the record is due, it is shown as waiting.
    ///
    /// - Throws: ``OfflineQueueError/Code/leaseLost``.
    func note(_ step: FailureNote, of id: OfflineRecord.ID, under lease: Lease) async throws
    /// Records the outcome of a delivery. If the store knows for how long a lane may fail (``LanePausePolicy/failingFor``), it
    /// pauses a named lane that fails for longer.
    ///
    /// - Throws: ``OfflineQueueError/Code/leaseLost``.
    ///
    /// - Parameter reason: Why the lane of the record is paused with this. `nil` if it is not.
    func settle(
        _ id: OfflineRecord.ID, as settlement: Settlement, under lease: Lease, pausingLane reason: LanePauseReason?
    ) async throws -> SettleResult
    /// Shows that the sender lives. Returns the records that are in flight under the lease.
    ///
    /// - Throws: ``OfflineQueueError/Code/leaseLost``.
    func beat(_ lease: Lease) async throws -> Set<OfflineRecord.ID>
    /// Releases the lease. Records in flight under it become pending.
    func release(_ lease: Lease) async throws
    /// Ends waits early, of ``Sleepers/batch`` records at most. Returns how many there were.
    func wake(_ sleepers: Sleepers) async throws -> Int
    /// Ends waits that are longer than they can be, of ``Sleepers/batch`` records at most. Returns how many there were. It
    /// reads all that wait for a time.
    func endWaits(longerThan longest: LongestWaits) async throws -> Int
    /// The origins that records wait for after a failure.
    func waitingOrigins(limit: Int) async throws -> [String]
    /// Pauses a lane; an empty name means the lane of the records without one. Its first record is not claimed any more, and
    /// waits for ``OfflineRecord/WaitReason/paused``. Returns `false` if the lane is paused already.
    func pause(lane: String, because reason: LanePauseReason) async throws -> Bool
    /// Ends the pause of a lane, and the wait of its first record. Returns `false` if the lane is not paused.
    func resume(lane: String) async throws -> Bool
    /// The paused lanes, in the order of their names.
    func pausedLanes() async throws -> [PausedLane]
    /// Changes with each change of the store, also by another process. Cheap enough to be asked often.
    func version() async throws -> StoreVersion

    /// A page of records in the order of their ids, without bodies.
    func records(_ filter: RecordFilter, after id: OfflineRecord.ID?, limit: Int) async throws -> [StoredRecord]
    /// One record, with its body.
    func record(_ id: OfflineRecord.ID) async throws -> StoredRecord?
    /// The given records that exist and are not dead letters.
    func undecided(of ids: [OfflineRecord.ID]) async throws -> Set<OfflineRecord.ID>
    /// The highest id; `nil` if there is no record.
    func lastID() async throws -> OfflineRecord.ID?
    /// Removes a record, also one in flight. Returns `false` if there is none.
    func remove(_ id: OfflineRecord.ID) async throws -> Bool
    /// Removes at most `limit` records up to an id and returns them. Records in flight are removed too.
    func remove(
        _ filter: RecordFilter, upTo last: OfflineRecord.ID, limit: Int
    ) async throws -> [OfflineRecord.ID]
    /// Makes a dead letter pending again. Returns `false` if there is no such dead letter.
    func revive(_ id: OfflineRecord.ID) async throws -> Bool
    /// How many records there are.
    func counts() async throws -> OfflineCounts
    /// The queue as a whole, for people. The cost does not grow with the number of records.
    func overview() async throws -> QueueOverview
    /// A page of records for people, the newest first, without bodies. It looks at ``RecordQuery/steps`` records at most.
    func page(_ query: RecordQuery) async throws -> RecordPage
    /// Whether all existing records are dead letters. Cheap enough to be asked often.
    func isDrained() async throws -> Bool
    /// The recorded outcome of a record that is no longer there.
    func outcome(of id: OfflineRecord.ID) async throws -> OfflineOutcome?
    /// Moves the content of a log to its final place.
    ///
    /// - Throws: ``OfflineQueueError/Code/busy`` if another process prevents that.
    func checkpoint() async throws
    /// Ends all use of the store.
    func close() async
}

extension OfflineStore {
    /// Records the outcome of a delivery, which pauses no lane.
    package func settle(
        _ id: OfflineRecord.ID, as settlement: Settlement, under lease: Lease
    ) async throws -> SettleResult {
        try await settle(id, as: settlement, under: lease, pausingLane: nil)
    }
}

/// The right to send, with the number that fences off earlier owners.
package struct Lease: Sendable, Hashable {
    package let fence: Int64

    package init(fence: Int64) {
        self.fence = fence
    }
}

/// What a store looked like at a moment.
package struct StoreVersion: Sendable, Equatable {
    package let number: Int64

    package init(number: Int64) {
        self.number = number
    }
}

/// What a claim needs to know.
package struct ClaimRequest: Sendable {
    /// The most records to return.
    package var limit: Int
    /// The most records of one origin that have a place.
    package var perOrigin: Int
    /// How many records of each origin have a place already.
    package var placesTaken: [String: Int]
    /// How long this owner may be silent.
    package var leaseDuration: Duration
    /// Whether requests that need a network can be sent.
    package var isOnline: Bool
    /// The messages that have a handler.
    package var handlers: Set<String>
    /// The constraints that are met.
    package var met: Set<String>
    /// The longest time that a record is kept.
    package var maximumAge: Duration?
    /// The most requests in flight to one origin, and how many may begin a second. A shared store applies both to all
    /// processes. `nil` means no bound.
    package var originBound: Int?
    package var originRate: RequestLimiter.Rate?
    /// The longest wait that is noted of a record in flight. A longer wait comes from a change of the calendar's time, and
    /// ends.
    package var longestShortWait: Duration
    /// Asked within the transaction. If it returns `false`, nothing is claimed: the queue was paused meanwhile, or this
    /// request is out of date.
    package var isWanted: @Sendable () -> Bool
    /// The records that this process delivers. Others that are in flight here are left from a claim that failed after its
    /// commit. They become pending again.
    package var delivering: Set<OfflineRecord.ID>

    package init(
        limit: Int, perOrigin: Int, placesTaken: [String: Int], leaseDuration: Duration, isOnline: Bool,
        handlers: Set<String>, met: Set<String>, maximumAge: Duration? = nil, originBound: Int? = nil,
        originRate: RequestLimiter.Rate? = nil, longestShortWait: Duration, isWanted: @escaping @Sendable () -> Bool,
        delivering: Set<OfflineRecord.ID>
    ) {
        self.limit = limit
        self.perOrigin = perOrigin
        self.placesTaken = placesTaken
        self.leaseDuration = leaseDuration
        self.isOnline = isOnline
        self.handlers = handlers
        self.met = met
        self.maximumAge = maximumAge
        self.originBound = originBound
        self.originRate = originRate
        self.longestShortWait = longestShortWait
        self.isWanted = isWanted
        self.delivering = delivering
    }
}

/// The answer to a claim.
package struct Claim: Sendable {
    /// What can be done now.
    package enum Answer: Sendable {
        /// These records are in flight.
        case claimed(Lease, [StoredRecord])
        /// There is nothing to send.
        case idle
        /// Another owner sends.
        case held
    }

    package var answer: Answer
    /// How long until the next record is due. Zero if a claim had too much to do. `nil` if only an event makes one due.
    package var next: Duration?
    /// Records that were given an outcome.
    package var ended: [(OfflineRecord.ID, OfflineOutcome)] = []

    package init(
        answer: Answer, next: Duration? = nil, ended: [(OfflineRecord.ID, OfflineOutcome)] = []
    ) {
        self.answer = answer
        self.next = next
        self.ended = ended
    }
}

/// What a failed attempt changes in a record.
package struct FailureNote: Sendable, Hashable {
    /// All failed attempts.
    package var attempts: Int
    /// The attempts that the server or a handler answered.
    package var refusals: Int
    /// The failure in one line.
    package var failure: String
    /// How long until the next attempt may begin.
    package var delay: Duration
    package var reason: OfflineRecord.WaitReason
    /// How long the server, or an open circuit, asks to leave the whole origin alone. `nil` if none did.
    package var originRests: Duration?

    package init(
        attempts: Int, refusals: Int, failure: String, delay: Duration, reason: OfflineRecord.WaitReason,
        originRests: Duration? = nil
    ) {
        self.attempts = attempts
        self.refusals = refusals
        self.failure = failure
        self.delay = delay
        self.reason = reason
        self.originRests = originRests
    }

    /// When the next attempt may begin, if the wait begins at a date.
    package func due(from now: Date) -> Date { Date(storedSeconds: now.timeIntervalSince1970 + delay / .seconds(1)) }
}

/// The outcome of a delivery.
package enum Settlement: Sendable, Hashable {
    case delivered(status: Int?)
    case waits(FailureNote)
    case dead(DeadLetterReason)
}

/// What became of a settlement.
package enum SettleResult: Sendable, Hashable {
    /// The record was removed meanwhile. Nothing was recorded.
    case removed
    case recorded
    /// It was recorded, and its lane is paused by it.
    case recordedAndLanePaused
}

/// Records whose wait ends early.
package enum Sleepers: Sendable, Hashable {
    /// Records whose attempt did not reach a server.
    case network
    /// At most this many records whose server failed, by the origin of their URL.
    case origin(String, limit: Int)
    /// Records with an unmet constraint.
    case constraint

    /// The most records that are woken at a time, so that no change of the store takes long.
    package static let batch = 1000
}

/// The longest wait that a record can have. A longer one is due to a change of the calendar's time.
package struct LongestWaits: Sendable {
    package var backoff: Backoff
    /// The longest wait that a server may ask for.
    package var retryAfter: Duration

    package init(backoff: Backoff, retryAfter: Duration) {
        self.backoff = backoff
        self.retryAfter = retryAfter
    }

    /// The longest wait for a reason; `nil` if there is none.
    package func wait(for reason: OfflineRecord.WaitReason, after attempts: Int) -> Duration? {
        let longest = backoff.longestDelay(beforeRetry: attempts)
        return switch reason {
        case .network, .backoff: longest
        case .retryAfter: max(retryAfter, longest)
        case .notBefore, .handler, .constraint, .paused: nil
        }
    }
}
