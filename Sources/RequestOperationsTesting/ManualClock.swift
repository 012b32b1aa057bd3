/// A clock that stands still until somebody moves it.
///
/// Every wait of a request on it is virtual: a backoff of six hours is over as soon as ``advance(by:)`` says so.
/// ``run(_:on:)`` moves the clock by itself:
///
/// ```swift
/// configuration.clock = clock
/// let value = try await clock.run(operation)
/// ```
///
/// To look at an operation while it waits, move the clock yourself:
///
/// ```swift
/// queue.addOperation(operation)
/// #expect(await clock.sleepers(1, orEndOf: operation) == .asleep)  // the operation waits for its next attempt
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

    /// What ended a wait for sleepers.
    public enum WaitOutcome: Sendable, Hashable {
        /// So many sleep on the clock.
        case asleep
        /// The operation has finished.
        case finished
        /// The Task that waited was cancelled.
        case cancelled
    }

    struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
        /// How long it sleeps in all; set when it lies down.
        var length = Duration.zero
    }

    struct State {
        var now = Instant(offset: .zero)
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]
        /// Sleepers that were cancelled before they lay down.
        var cancelled: Set<Int> = []
        var watchers = CountWatchers()
        /// The runs of operations, which hear of each sleeper that lies down.
        var runs: [Int: AsyncStream<Int>.Continuation] = [:]
    }

    let state = Locked(State())

    /// Makes a clock at its beginning.
    public init() {}

    /// Where the clock stands.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero: the clock moves by any amount.
    public var minimumResolution: Duration { .zero }

    /// How many sleep on the clock now.
    ///
    /// A wait between attempts is a sleeper. So is each deadline, attempt limit and stage limit that runs on the clock.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Moves the clock and wakes, in the order of their deadlines, all whose deadline has come.
    ///
    /// Those that were woken run afterwards. Await what they do, or the next ``sleepers(_:orEndOf:)``, before you move on.
    ///
    /// - Parameter duration: How far; a negative one is a programmer's error.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "A clock does not run backwards.")
        let due = state.withLock { $0.move(to: $0.now.advanced(by: duration)) }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Returns as soon as at least so many sleep on the clock at the same time, or when the Task that waits is cancelled.
    ///
    /// The backoff of a request that waits is a sleeper. So is every limit that counts on the clock while it runs: a
    /// deadline from the operation's start to its end, the time limit of an attempt or of a stage. A request with a deadline
    /// that waits for its next attempt makes two.
    ///
    /// If the operation ends too early, this waits for ever. ``sleepers(_:orEndOf:)`` does not.
    public func sleepers(_ count: Int) async {
        _ = await wait(for: count, as: state.withLock { $0.watchers.newID() })
    }

    /// Returns as soon as at least so many sleep on the clock at the same time, or when an operation has finished.
    ///
    /// A test that waits in this way fails where ``sleepers(_:)`` would wait for ever:
    ///
    /// ```swift
    /// #expect(await clock.sleepers(1, orEndOf: operation) == .asleep)
    /// ```
    ///
    /// - Parameters:
    ///   - count: How many; those that ``sleepers(_:)`` counts.
    ///   - operation: The operation that is to make the sleepers. Others on the clock count as well.
    /// - Returns: Which came first. `finished` if the operation has finished already, and `cancelled` if the Task that waits
    ///   was cancelled.
    public func sleepers<Success: Sendable>(
        _ count: Int, orEndOf operation: AsynchronousOperation<Success>
    ) async -> WaitOutcome {
        if operation.isFinished { return .finished }
        let id = state.withLock { $0.watchers.newID() }
        operation.whenFinished { [self] _ in
            state.withLock { $0.watchers.cancel(id) }?.resume()
        }
        if await wait(for: count, as: id) { return .asleep }
        return operation.isFinished ? .finished : .cancelled
    }

    /// Waits for a count; whether it was reached before anybody cancelled the wait.
    private func wait(for count: Int, as id: Int) async -> Bool {
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
        return state.withLock { $0.watchers.forget(id) }
    }

    /// Sleeps until the clock has been moved to a point.
    ///
    /// - Parameters:
    ///   - deadline: The point; returns at once if it has come.
    ///   - tolerance: Of no effect.
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { $0.newID() }
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
            case sleeps([CheckedContinuation<Void, Never>], [AsyncStream<Int>.Continuation])
            case isDue
            case isCancelled
        }
        let outcome = state.withLock { state -> Outcome in
            if state.cancelled.remove(id) != nil { return .isCancelled }
            if sleeper.deadline <= state.now { return .isDue }
            state.lieDown(sleeper, as: id)
            return .sleeps(state.watchers.take(reachedBy: state.sleepers.count), Array(state.runs.values))
        }
        switch outcome {
        case .sleeps(let watchers, let runs):
            for watcher in watchers { watcher.resume() }
            for run in runs { run.yield(id) }
        case .isDue: sleeper.continuation.resume()
        case .isCancelled: sleeper.continuation.resume(throwing: CancellationError())
        }
    }
}

extension ManualClock.State {
    /// A number that nobody else has.
    mutating func newID() -> Int {
        lastID += 1
        return lastID
    }

    mutating func lieDown(_ sleeper: ManualClock.Sleeper, as id: Int) {
        var sleeper = sleeper
        sleeper.length = now.duration(to: sleeper.deadline)
        sleepers[id] = sleeper
    }

    /// Moves the clock; those whose deadline has come, in its order. They are to be resumed.
    mutating func move(to instant: ManualClock.Instant) -> [ManualClock.Sleeper] {
        now = instant
        let due = sleepers.filter { $0.value.deadline <= instant }
        for id in due.keys { sleepers[id] = nil }
        return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value)
    }
}
