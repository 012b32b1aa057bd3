import Foundation
import RequestOperations

/// The callers that wait for the outcome of a record, or until nothing is left.
final class Waiters: Sendable {
    /// What is waited for.
    enum Event: Hashable, Sendable {
        case outcome(OfflineRecord.ID)
        /// Every record has its outcome.
        case drained
        /// Nothing is in flight in this process.
        case quiet
    }

    private enum Phase {
        case open
        /// No caller waits any more.
        case closed
    }

    private struct State {
        var phase = Phase.open
        var waiting: [Event: [Int: CheckedContinuation<Void, Never>]] = [:]
        /// Waits that were cancelled before they began.
        var cancelled: Set<Int> = []
        var lastID = 0
    }

    private let state = Locked(State())

    /// Whether a caller waits for something that another process may cause.
    var isAwaited: Bool { state.withLock { $0.waiting.keys.contains { $0 != .quiet } } }

    /// Whether a caller waits until nothing is left.
    var isDrainAwaited: Bool { state.withLock { $0.waiting[.drained] != nil } }

    /// The records whose outcome is awaited.
    var awaited: [OfflineRecord.ID] {
        state.withLock { state in
            state.waiting.keys.compactMap { if case .outcome(let id) = $0 { id } else { nil } }
        }
    }

    /// Waits for an event that may have happened already. Returns also when the Task is cancelled, and after ``close()``.
    ///
    /// - Parameter begin: Called when the wait has begun, so that a later event is not missed.
    func wait(for event: Event, begin: @escaping @Sendable () -> Void) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.cancelled.remove(id) == nil, state.phase == .open else { return false }
                    state.waiting[event, default: [:]][id] = continuation
                    return true
                }
                if waits { begin() } else { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                let continuation = state.waiting[event]?.removeValue(forKey: id)
                if state.waiting[event]?.isEmpty == true { state.waiting[event] = nil }
                if continuation == nil { state.cancelled.insert(id) }
                return continuation
            }
            continuation?.resume()
        }
        _ = state.withLock { $0.cancelled.remove(id) }
    }

    /// Ends all waits for an event.
    func announce(_ event: Event) {
        let waiting = state.withLock { $0.waiting.removeValue(forKey: event) }
        for continuation in (waiting ?? [:]).values { continuation.resume() }
    }

    /// Ends all waits, and lets none begin.
    func close() {
        let waiting = state.withLock { state in
            state.phase = .closed
            defer { state.waiting = [:] }
            return state.waiting.values.flatMap(\.values)
        }
        for continuation in waiting { continuation.resume() }
    }
}
