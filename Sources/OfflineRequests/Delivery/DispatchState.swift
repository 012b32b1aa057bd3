import RequestOperations

/// What a dispatcher is doing. It is a pure state machine: each transition says what to do.
struct DispatchState: Sendable {
    /// Whether deliveries begin.
    enum Phase: Sendable, Equatable {
        case sending
        case paused
        /// No delivery begins, and none goes on to another attempt. What is being sent may finish, or is cancelled.
        case closing(isPatient: Bool)
        case closed
    }

    /// The search for records that can be sent. One runs at a time.
    private enum Search {
        case idle
        case running
        /// A search runs, and something has changed that it may not have seen.
        case outdated
    }

    /// A delivery under way. Its number distinguishes it from an earlier delivery of the same record, which may not be
    /// over.
    struct Delivery: Sendable {
        let id: OfflineRecord.ID
        let origin: String?
        let lease: Lease
        var task: Task<Void, Never>?
        var stage = Stage.starting
    }

    /// How far a delivery has come.
    enum Stage: Sendable {
        /// It waits for a place, or for its host.
        case starting
        /// An attempt is under way, or a handler works.
        case sending
        /// It waits before its next attempt.
        case waiting
    }

    private(set) var phase = Phase.sending
    private var search = Search.idle
    private(set) var deliveries: [Int: Delivery] = [:]
    private var lastNumber = 0
    /// The lease of records that were claimed but not begun, because the dispatcher closes.
    private var unused: Lease?
    /// The newest lease that is known to be lost.
    private var lost: Int64 = .min
    /// The search that is set for later.
    private var alarm: Task<Void, Never>?
    /// What runs until the end.
    private var watches: [Task<Void, Never>] = []

    /// How many deliveries can wait in memory for each place.
    private static let waitingPerPlace = 15

    // MARK: Searching

    /// Notes that something has changed. Returns whether a search must be started.
    mutating func wantsSearch() -> Bool {
        guard phase == .sending else { return false }
        switch search {
        case .idle:
            search = .running
            return true
        case .running, .outdated:
            search = .outdated
            return false
        }
    }

    /// Ends a search. Returns whether another one follows at once.
    mutating func searchEnded() -> Bool {
        defer { search = search == .outdated ? .running : .idle }
        return search == .outdated
    }

    /// How many deliveries can begin.
    func room(width: Int) -> Int {
        guard phase == .sending else { return 0 }
        let waiting = deliveries.values.count { $0.stage == .waiting }
        return max(min(width - (deliveries.count - waiting), width * (Self.waitingPerPlace + 1) - deliveries.count), 0)
    }

    /// How many deliveries to each origin have a place.
    var placesTaken: [String: Int] {
        deliveries.values.reduce(into: [:]) { taken, delivery in
            if let origin = delivery.origin, delivery.stage != .waiting { taken[origin, default: 0] += 1 }
        }
    }

    /// How often the answers about constraints may have changed. A claim with older answers would make woken records
    /// wait again.
    private(set) var conditionsNumber = 0

    /// Notes that the answers about constraints may have changed.
    mutating func conditionsChanged() { conditionsNumber += 1 }

    /// Whether this process must watch other processes: to send what they add, and to take over from them.
    var sends: Bool { phase == .sending }

    // MARK: Deliveries

    /// Notes deliveries before their tasks exist, so that none of them is missed. Returns their numbers.
    ///
    /// - Returns: `nil` if they must not begin, since the dispatcher closes. Their lease is then released at the end.
    mutating func begin(_ records: [StoredRecord], under lease: Lease) -> [Int]? {
        guard !isEnding else {
            unused = lease
            return nil
        }
        return records.map { record in
            lastNumber += 1
            deliveries[lastNumber] = Delivery(id: record.id, origin: record.content.origin, lease: lease)
            return lastNumber
        }
    }

    /// Adds the task of a delivery, unless that has ended already. Returns whether it must be cancelled.
    mutating func began(_ number: Int, _ task: Task<Void, Never>) -> Bool {
        deliveries[number]?.task = task
        guard case .closing(let isPatient) = phase, let delivery = deliveries[number] else { return false }
        return !isPatient || delivery.stage != .sending
    }

    /// Notes how far a delivery has come. Returns `false` if it must not go on: the dispatcher closes or is paused, or
    /// others have taken the places of its origin while it waited.
    ///
    /// - Parameter perOrigin: The most deliveries to one origin that have a place.
    mutating func enter(_ stage: Stage, _ number: Int, perOrigin: Int) -> Bool {
        let last = deliveries[number]?.stage
        // A redirect is a part of its attempt.
        if isEnding, last != stage { return false }
        if last == .waiting, stage == .sending {
            if phase == .paused { return false }
            if let origin = deliveries[number]?.origin,
                deliveries.values.count(where: { $0.origin == origin && $0.stage != .waiting }) >= perOrigin
            {
                return false
            }
        }
        deliveries[number]?.stage = stage
        return true
    }

    /// Notes the end of a delivery. Returns whether it was the last one.
    mutating func ended(_ number: Int) -> Bool {
        deliveries[number] = nil
        return deliveries.isEmpty
    }

    /// The tasks of the deliveries of records.
    func tasks(of ids: Set<OfflineRecord.ID>) -> [Task<Void, Never>] {
        deliveries.values.filter { ids.contains($0.id) }.compactMap(\.task)
    }

    // MARK: The lease

    /// The lease of the deliveries, or of what was claimed and not begun; `nil` if there is none.
    var lease: Lease? {
        (deliveries.values.map(\.lease) + [unused].compactMap(\.self)).max { $0.fence < $1.fence }
    }

    /// The records that are being delivered.
    var deliveredRecords: Set<OfflineRecord.ID> { Set(deliveries.values.map(\.id)) }

    /// The records in flight under a lease.
    func records(under lease: Lease) -> Set<OfflineRecord.ID> {
        Set(deliveries.values.filter { $0.lease == lease }.map(\.id))
    }

    /// Notes that a lease is lost. Returns the deliveries to cancel; `nil` if that was known before.
    mutating func lose(_ lease: Lease) -> [Task<Void, Never>]? {
        guard lost < lease.fence else { return nil }
        lost = lease.fence
        return deliveries.values.filter { $0.lease.fence <= lease.fence }.compactMap(\.task)
    }

    // MARK: What runs beside

    /// Sets the later search, and returns the one that it replaces.
    mutating func setAlarm(_ task: Task<Void, Never>) -> Task<Void, Never>? {
        guard phase != .closed else { return task }
        defer { alarm = task }
        return alarm
    }

    /// Adds something that runs until the end. Returns it if the end has come.
    mutating func add(_ watch: Task<Void, Never>) -> Task<Void, Never>? {
        guard phase != .closed else { return watch }
        watches.append(watch)
        return nil
    }

    // MARK: The end

    /// Pauses or resumes. A closed dispatcher stays closed.
    mutating func setPaused(_ isPaused: Bool) {
        if phase == .sending || phase == .paused { phase = isPaused ? .paused : .sending }
    }

    /// Begins to close. Returns the deliveries to cancel: those that send nothing now, or all of them.
    mutating func beginClosing(isPatient: Bool) -> [Task<Void, Never>] {
        guard phase != .closed else { return [] }
        // A cancelled delivery does not go on.
        if phase != .closing(isPatient: false) { phase = .closing(isPatient: isPatient) }
        return deliveries.values.filter { !isPatient || $0.stage != .sending }.compactMap(\.task)
    }

    /// Whether it closes or is closed. A cancelled delivery then leaves its record as it is.
    var isEnding: Bool {
        switch phase {
        case .sending, .paused: false
        case .closing, .closed: true
        }
    }

    /// Whether nothing is in flight, and nothing unknown can begin.
    var isQuiet: Bool { deliveries.isEmpty && search == .idle }

    /// Closes. Returns what runs beside; `nil` if it was closed before.
    mutating func close() -> [Task<Void, Never>]? {
        guard phase != .closed else { return nil }
        phase = .closed
        defer { (alarm, watches) = (nil, []) }
        return watches + [alarm].compactMap(\.self)
    }
}
