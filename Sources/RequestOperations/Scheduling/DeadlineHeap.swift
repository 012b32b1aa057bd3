/// All real-time deadlines of the process, in one heap with one timer.
///
/// A waiting request is an entry here. It has no thread and no timer of its own. Deadlines are rounded up to the
/// millisecond. So deadlines in the same millisecond share a wake-up, and none is early. Those of the same millisecond
/// run in the order in which they were scheduled.
final class DeadlineHeap: Sendable {
    static let shared = DeadlineHeap()

    /// Identifies an entry for ``cancel(_:)``.
    struct Entry: Sendable, Hashable {
        fileprivate let id: UInt64
    }

    private struct Deadline: Comparable {
        let time: Int64
        let id: UInt64

        static func < (first: Deadline, second: Deadline) -> Bool {
            (first.time, first.id) < (second.time, second.id)
        }
    }

    private struct State {
        /// Cancelled entries stay until they come to the front, or until most of the heap is cancelled.
        var heap = Heap<Deadline>()
        var actions: [UInt64: @Sendable () -> Void] = [:]
        var lastID: UInt64 = 0
        /// The time for which the timer is set.
        var alarm = Int64.max
    }

    private let state = Locked(State())
    private let origin = ContinuousClock.now
    private let queue = DispatchQueue(label: "RequestOperations.DeadlineHeap", qos: .userInitiated)
    // Dispatch sources are thread-safe, although they are not marked so on Linux. This one is set only on `queue`.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    init() {
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.fire() }
        timer.activate()
    }

    /// How many entries there are. Cancelled ones that are still kept count too.
    var count: Int { state.withLock { $0.heap.count } }

    /// Runs an action once, at a time or soon after it, on the heap's own queue. The action must only resume or cancel
    /// something.
    func schedule(at deadline: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) -> Entry {
        let time = origin.duration(to: deadline).nanoseconds.roundedUp(to: 1_000_000)
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

    /// Removes an entry. Its action does not run, unless it is already running.
    func cancel(_ entry: Entry) {
        // We free the action outside of the lock, because it may hold the last reference to something large.
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
        let delay = min(max(alarm - origin.duration(to: .now).nanoseconds, 0), Self.longestSleep)
        timer.schedule(deadline: .now() + .nanoseconds(Int(delay)), leeway: .microseconds(100))
    }

    /// Dispatch's clock stops while the machine sleeps, but ours does not. So we set the timer for at most a minute.
    /// Actions that became due during the sleep then run at most a minute after it.
    private static let longestSleep: Int64 = 60_000_000_000

    private func fire() {
        let now = origin.duration(to: .now).nanoseconds
        let due = state.withLock { state in
            var due: [@Sendable () -> Void] = []
            while let first = state.heap.first, first.time <= now {
                _ = state.heap.popFirst()
                if let action = state.actions.removeValue(forKey: first.id) { due.append(action) }
            }
            // We remove cancelled entries from the front, because they need no alarm.
            while let first = state.heap.first, state.actions[first.id] == nil { _ = state.heap.popFirst() }
            state.alarm = state.heap.first?.time ?? .max
            return due
        }
        setTimer()
        for action in due { action() }
    }
}

extension Int64 {
    /// The smallest multiple of a unit that is not below this number. If that does not fit, the number itself.
    fileprivate func roundedUp(to unit: Int64) -> Int64 {
        let remainder = self % unit
        guard remainder != 0 else { return self }
        let (rounded, overflow) = addingReportingOverflow(remainder > 0 ? unit - remainder : -remainder)
        return overflow ? self : rounded
    }
}

extension Duration {
    /// The duration in whole nanoseconds, limited to the range of an `Int64` (292 years).
    package var nanoseconds: Int64 {
        // Reading the components of a longer duration traps, because they do not fit.
        guard self <= .seconds(Int64.max) else { return .max }
        guard self >= .seconds(Int64.min) else { return .min }
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }
}

/// A binary heap with its least element at the front.
struct Heap<Element: Comparable> {
    private var elements: [Element] = []

    var first: Element? { elements.first }
    var count: Int { elements.count }

    mutating func push(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            child = parent
        }
    }

    mutating func popFirst() -> Element? {
        guard !elements.isEmpty else { return nil }
        elements.swapAt(0, elements.count - 1)
        let first = elements.removeLast()
        siftDown(from: 0)
        return first
    }

    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        elements.removeAll(where: isRemoved)
        for parent in stride(from: elements.count / 2 - 1, through: 0, by: -1) { siftDown(from: parent) }
    }

    private mutating func siftDown(from start: Int) {
        var parent = start
        while true {
            var least = parent
            let left = 2 * parent + 1
            if left < elements.count, elements[left] < elements[least] { least = left }
            if left + 1 < elements.count, elements[left + 1] < elements[least] { least = left + 1 }
            guard least != parent else { return }
            elements.swapAt(parent, least)
            parent = least
        }
    }
}

extension Int64 {
    /// The sum, or the largest number if it overflows.
    func adding(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
