import RequestOperations

/// What a dispatcher is doing. It is a pure state machine: each transition says what to do.
struct DispatchState: Sendable {
    /// Whether deliveries begin.
    enum Phase: Sendable {
        case sending
        case paused
        /// What is being sent may finish.
        case closing
        case closed
    }

    /// The search for records that can be sent. One runs at a time.
    private enum Search {
        case idle
        case running
        /// It runs, and something has changed that it may not have seen.
        case outdated
    }

    /// A delivery under way.
    struct Delivery: Sendable {
        let lease: Lease
        let task: Task<Void, Never>?
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
    private(set) var deliveries: [OfflineRecord.ID: Delivery] = [:]
    private var isTicking = false

    /// How many deliveries can wait in memory for each place.
    private static let waitingPerPlace = 15

    /// Notes that something has changed. Returns whether a search must be started.
    mutating func wantsSearch() -> Bool {
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

    /// Notes deliveries before their tasks exist, so that none of them is missed.
    mutating func claim(_ ids: [OfflineRecord.ID], under lease: Lease) {
        for id in ids { deliveries[id] = Delivery(lease: lease, task: nil) }
    }

    /// Adds the task of a delivery, unless that has ended already.
    mutating func began(_ id: OfflineRecord.ID, _ task: Task<Void, Never>) {
        guard let delivery = deliveries[id] else { return }
        deliveries[id] = Delivery(lease: delivery.lease, task: task, stage: delivery.stage)
    }

    /// Notes how far a delivery has come.
    mutating func enter(_ stage: Stage, _ id: OfflineRecord.ID) {
        deliveries[id]?.stage = stage
    }

    /// Notes the end of a delivery. Returns whether it was the last one.
    mutating func ended(_ id: OfflineRecord.ID) -> Bool {
        deliveries[id] = nil
        return deliveries.isEmpty
    }

    /// The lease of the deliveries; `nil` if there is none under way.
    var lease: Lease? { deliveries.values.map(\.lease).max { $0.fence < $1.fence } }

    /// Pauses or resumes. A closed dispatcher stays closed.
    mutating func setPaused(_ isPaused: Bool) {
        if phase == .sending || phase == .paused { phase = isPaused ? .paused : .sending }
    }

    /// Begins to close. Returns the deliveries that send nothing now, which are cancelled.
    mutating func beginClosing() -> [OfflineRecord.ID] {
        guard phase != .closed else { return [] }
        phase = .closing
        return deliveries.filter { $0.value.stage != .sending }.map(\.key)
    }

    /// Whether a cancelled delivery leaves its record as it is.
    var isEnding: Bool { phase == .closing || phase == .closed }

    /// Closes. Returns whether it was open before.
    mutating func close() -> Bool {
        defer { phase = .closed }
        return phase != .closed
    }

    /// Begins the ticking. Returns whether it was not ticking before.
    mutating func startTicking() -> Bool {
        defer { isTicking = true }
        return !isTicking && phase != .closed
    }

    /// Ends the ticking unless there is still a reason for it. Returns whether it goes on.
    mutating func keepsTicking(for others: Bool) -> Bool {
        isTicking = phase != .closed && (others || !deliveries.isEmpty)
        return isTicking
    }
}
