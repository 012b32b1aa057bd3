import Foundation
import RequestOperations

/// Passes the events of a queue on to any number of streams.
final class EventHub: Sendable {
    private struct State {
        var streams: [Int: Subscription] = [:]
        var lastID = 0
        /// What happened while the queue was opened, when nobody could listen yet.
        var opening: [OfflineEvent] = []
        var phase = Phase.opening
    }

    /// One stream, and how many events it had no room for.
    private struct Subscription {
        let continuation: AsyncStream<OfflineEvent>.Continuation
        var missed = 0

        mutating func send(_ event: OfflineEvent) {
            if missed > 0 {
                guard case .enqueued = continuation.yield(.missed(missed)) else {
                    missed += 1
                    return
                }
                missed = 0
            }
            if case .dropped = continuation.yield(event) { missed += 1 }
        }
    }

    private enum Phase {
        case opening
        case open
        case closed
    }

    private let state = Locked(State())
    /// How many events a stream keeps that nobody has read.
    private let capacity: Int

    init(capacity: Int = 10_000) {
        self.capacity = capacity
    }

    /// Tells an event. During the opening it is kept, and each stream begins with it.
    func send(_ event: OfflineEvent) {
        // Under the lock, so that each stream has the events in their order.
        state.withLock { state in
            if state.phase == .opening { state.opening.append(event) }
            for id in state.streams.keys { state.streams[id]?.send(event) }
        }
    }

    /// Ends the opening.
    func open() {
        state.withLock { if $0.phase == .opening { $0.phase = .open } }
    }

    /// Ends all streams.
    func close() {
        let streams = state.withLock { state in
            state.phase = .closed
            defer { state.streams = [:] }
            return Array(state.streams.values)
        }
        for stream in streams { stream.continuation.finish() }
    }

    /// A new stream.
    func stream() -> AsyncStream<OfflineEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: OfflineEvent.self, bufferingPolicy: .bufferingOldest(capacity))
        let (id, opening, phase) = state.withLock { state in
            state.lastID += 1
            if state.phase != .closed { state.streams[state.lastID] = Subscription(continuation: continuation) }
            return (state.lastID, state.opening, state.phase)
        }
        for event in opening { continuation.yield(event) }
        guard phase != .closed else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.streams.removeValue(forKey: id) }
        }
        return stream
    }
}
