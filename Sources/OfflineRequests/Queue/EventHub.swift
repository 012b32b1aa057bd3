import Foundation
import RequestOperations

/// Passes the events of a queue on to any number of streams.
final class EventHub: Sendable {
    private struct State {
        var streams: [Int: AsyncStream<OfflineEvent>.Continuation] = [:]
        var lastID = 0
        /// What happened while the queue was opened, when nobody could listen yet.
        var opening: [OfflineEvent] = []
        var phase = Phase.opening
    }

    private enum Phase {
        case opening
        case open
        case closed
    }

    private let state = Locked(State())

    /// How many events a stream keeps that nobody reads.
    private static let capacity = 10_000

    /// Tells an event. During the opening it is kept, and each stream begins with it.
    func send(_ event: OfflineEvent) {
        let streams = state.withLock { state in
            if state.phase == .opening { state.opening.append(event) }
            return Array(state.streams.values)
        }
        for stream in streams { stream.yield(event) }
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
        for stream in streams { stream.finish() }
    }

    /// A new stream.
    func stream() -> AsyncStream<OfflineEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: OfflineEvent.self, bufferingPolicy: .bufferingNewest(Self.capacity))
        let (id, opening, phase) = state.withLock { state in
            state.lastID += 1
            if state.phase != .closed { state.streams[state.lastID] = continuation }
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
