/// A clock that stands still until it is told to move.
///
/// Every wait of a request on it is virtual: a backoff of six hours is over as soon as ``advance(by:)`` says so.
///
/// ```swift
/// configuration.clock = clock
/// queue.addOperation(operation)
/// await clock.sleepers(1)             // the operation waits for its next attempt
/// clock.advance(by: .seconds(60))
/// ```
public final class ManualClock: Clock, Sendable {
    /// A point in the clock's time.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public let offset: Duration

        /// The point that lies later by a duration.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// The time from this point to another.
        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        /// Whether one point comes before another.
        public static func < (first: Instant, second: Instant) -> Bool {
            first.offset < second.offset
        }
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]
        /// Sleepers that were cancelled before they lay down.
        var cancelled: Set<Int> = []
        var watchers = CountWatchers()
    }

    private let state = Locked(State())

    /// Makes a clock at its beginning.
    public init() {}

    /// Where the clock stands.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero: the clock moves by any amount.
    public var minimumResolution: Duration { .zero }

    /// How many sleep on the clock now: waits between attempts, and each deadline, attempt limit and stage limit that runs
    /// on it.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Moves the clock and wakes, in the order of their deadlines, all whose deadline has come.
    ///
    /// Those that were woken run afterwards: await what they do, or the next ``sleepers(_:)``, before moving on.
    ///
    /// - Parameter duration: How far; a negative one is a programmer's error.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "A clock does not run backwards.")
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
        }
        for (_, sleeper) in due { sleeper.continuation.resume() }
    }

    /// Returns as soon as at least so many sleep on the clock at the same time, or when the Task that waits is cancelled.
    ///
    /// The backoff of a request that waits is a sleeper, and so is every limit that counts on the clock while it runs: a
    /// deadline from the operation's start to its end, the time limit of an attempt or of a stage. A request with a deadline
    /// that waits for its next attempt makes two.
    public func sleepers(_ count: Int) async {
        let id = state.withLock { $0.watchers.newID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    state.sleepers.count >= count || !state.watchers.add(continuation, as: id, waitingFor: count)
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.watchers.cancel(id) }?.resume()
        }
        state.withLock { $0.watchers.forget(id) }
    }

    /// Sleeps until the clock has been moved to a point.
    ///
    /// - Parameters:
    ///   - deadline: The point; returns at once if it has come.
    ///   - tolerance: Of no effect.
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                lieDown(Sleeper(deadline: deadline, continuation: continuation), id: id)
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
        _ = state.withLock { $0.cancelled.remove(id) }
    }

    private func lieDown(_ sleeper: Sleeper, id: Int) {
        enum Outcome {
            case sleeps([CheckedContinuation<Void, Never>])
            case isDue
            case isCancelled
        }
        let outcome = state.withLock { state -> Outcome in
            if state.cancelled.remove(id) != nil { return .isCancelled }
            if sleeper.deadline <= state.now { return .isDue }
            state.sleepers[id] = sleeper
            return .sleeps(state.watchers.take(reachedBy: state.sleepers.count))
        }
        switch outcome {
        case .sleeps(let watchers): for watcher in watchers { watcher.resume() }
        case .isDue: sleeper.continuation.resume()
        case .isCancelled: sleeper.continuation.resume(throwing: CancellationError())
        }
    }
}
