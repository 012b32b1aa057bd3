/// All deadlines of real time in the process: one heap, one timer, whatever their number.
///
/// A waiting request is an entry here and one suspended Task; it has no thread and no timer of its own. Entries due
/// within the same millisecond share a wake-up.
final class DeadlineHeap: Sendable {
    static let shared = DeadlineHeap()

    /// Identifies an entry for ``cancel(_:)``.
    struct Entry: Sendable, Hashable {
        fileprivate let id: UInt64
    }

    private struct Deadline: Comparable {
        let time: Int64
        let id: UInt64

        static func < (first: Deadline, second: Deadline) -> Bool { first.time < second.time }
    }

    private struct State {
        /// Entries that were cancelled stay until they surface or most of the heap is cancelled.
        var heap = Heap<Deadline>()
        var actions: [UInt64: @Sendable () -> Void] = [:]
        var lastID: UInt64 = 0
        /// The time for which the timer is set.
        var alarm = Int64.max
    }

    private let state = Locked(State())
    private let origin = ContinuousClock.now
    private let queue = DispatchQueue(label: "RequestOperations.DeadlineHeap", qos: .userInitiated)
    // Dispatch sources are thread-safe, though not marked so on Linux; this one is set on `queue` only.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    init() {
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [unowned self] in fire() }
        timer.activate()
    }

    /// Runs an action once at a time or soon after it, on a queue of the heap's own: it must only resume or cancel.
    func schedule(at deadline: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) -> Entry {
        let time = origin.duration(to: deadline).nanoseconds
        let (entry, isEarliest) = state.withLock { state in
            state.lastID += 1
            let id = state.lastID
            state.actions[id] = action
            state.heap.push(Deadline(time: time, id: id))
            let isEarliest = time < state.alarm
            if isEarliest { state.alarm = time }
            return (Entry(id: id), isEarliest)
        }
        if isEarliest { queue.async { [self] in setTimer() } }
        return entry
    }

    /// Removes an entry; its action does not run, unless it is running already.
    func cancel(_ entry: Entry) {
        // The action is freed outside the lock: it may hold the last reference to something large.
        let action = state.withLock { state in
            let action = state.actions.removeValue(forKey: entry.id)
            if state.heap.count > 64, state.heap.count > 2 * state.actions.count {
                state.heap.removeAll { state.actions[$0.id] == nil }
            }
            return action
        }
        withExtendedLifetime(action) {}
    }

    private func setTimer() {
        let alarm = state.withLock { $0.alarm }
        guard alarm != .max else { return }
        let delay = alarm - origin.duration(to: .now).nanoseconds
        timer.schedule(deadline: .now() + .nanoseconds(Int(max(delay, 0))), leeway: .milliseconds(1))
    }

    private func fire() {
        // Half a millisecond ahead joins what is due within the same one.
        let now = origin.duration(to: .now).nanoseconds + 500_000
        let due = state.withLock { state in
            var due: [@Sendable () -> Void] = []
            while let first = state.heap.first, first.time <= now {
                _ = state.heap.popFirst()
                if let action = state.actions.removeValue(forKey: first.id) { due.append(action) }
            }
            state.alarm = state.heap.first?.time ?? .max
            return due
        }
        setTimer()
        for action in due { action() }
    }
}

extension Duration {
    /// The duration in whole nanoseconds, bounded by what an `Int64` holds (292 years).
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }
}
