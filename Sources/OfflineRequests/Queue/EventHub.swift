import Foundation
import RequestOperations

/// Passes the events of a queue on to any number of streams.
final class EventHub: Sendable {
    private struct State {
        var streams: [Int: Subscription] = [:]
        var lastID = 0
        /// What happened while the queue was opened, when no stream existed yet.
        var opening: [OfflineEvent] = []
        var phase = Phase.opening
    }

    /// One stream, the number of its unread events, and the number of events that it had no room for.
    private struct Subscription {
        let continuation: AsyncStream<OfflineEvent>.Continuation
        let capacity: Int
        var unread = 0
        private var missed = 0

        init(_ continuation: AsyncStream<OfflineEvent>.Continuation, capacity: Int) {
            self.continuation = continuation
            self.capacity = capacity
        }

        mutating func send(_ event: OfflineEvent) {
            guard unread < capacity else {
                missed += 1
                return
            }
            tellMissed()
            yield(event)
        }

        /// Ends the stream. A full stream also reports how many events it missed.
        mutating func close() {
            tellMissed()
            continuation.finish()
        }

        private mutating func tellMissed() {
            guard missed > 0 else { return }
            yield(.missed(missed))
            missed = 0
        }

        private mutating func yield(_ event: OfflineEvent) {
            unread += 1
            continuation.yield(event)
        }
    }

    private enum Phase {
        case opening
        case open
        case closed
    }

    private let state = Locked(State())
    /// How many unread events a stream keeps.
    private let capacity: Int

    init(capacity: Int = 10_000) {
        self.capacity = capacity
    }

    /// Sends an event. While the queue opens, the event is kept, and each stream begins with it.
    func send(_ event: OfflineEvent) {
        // This is under the lock, so that each stream has the events in their order.
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
        // Outside the lock, which the end of a stream takes.
        for var stream in streams { stream.close() }
    }

    /// A new stream.
    func stream() -> AsyncStream<OfflineEvent> {
        // It has no bound of its own: the subscription keeps it, so that there is always room to report what was
        // missed.
        let (events, continuation) = AsyncStream.makeStream(of: OfflineEvent.self)
        let (id, closed): (Int, Subscription?) = state.withLock { state in
            state.lastID += 1
            var subscription = Subscription(continuation, capacity: capacity)
            for event in state.opening { subscription.send(event) }
            guard state.phase != .closed else { return (state.lastID, subscription) }
            state.streams[state.lastID] = subscription
            return (state.lastID, nil)
        }
        if var closed { closed.close() }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.streams.removeValue(forKey: id) }
        }
        return AsyncStream(unfolding: { [weak self] in
            let event = await events.first { _ in true }
            self?.state.withLock { $0.streams[id]?.unread -= 1 }
            return event
        })
    }
}
