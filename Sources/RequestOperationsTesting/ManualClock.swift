/// A clock that stands still until you move it.
///
/// Every wait of a request on it is virtual. A backoff of six hours ends as soon as you call ``advance(by:)``.
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

        /// Returns the point that is later by a duration.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// Returns the time from this point to another.
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
        /// At least the expected number of sleepers were on the clock.
        case asleep
        /// The operation has finished.
        case finished
        /// The waiting Task was cancelled.
        case cancelled
    }

    struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
        /// How long it sleeps in total. Set when the sleep begins.
        var length = Duration.zero
    }

    struct State {
        var now = Instant(offset: .zero)
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]
        /// Sleepers that were cancelled before their sleep began.
        var cancelled: Set<Int> = []
        var watchers = CountWatchers()
        /// The runs of operations. Each run learns of each sleep that begins.
        var runs: [Int: AsyncStream<Int>.Continuation] = [:]
    }

    let state = Locked(State())

    /// Makes a clock at offset zero.
    public init() {}

    /// The current time of the clock.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero: the clock can move by any amount.
    public var minimumResolution: Duration { .zero }

    /// The number of sleepers on the clock now.
    ///
    /// A wait between attempts is a sleeper. Each deadline, attempt limit and stage limit that runs on the clock is one
    /// too.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Moves the clock and wakes all sleepers whose deadline has come, in the order of their deadlines.
    ///
    /// The woken code runs afterwards. Await its effect, or the next ``sleepers(_:orEndOf:)``, before you move the
    /// clock again.
    ///
    /// - Parameter duration: How far to move. A negative duration traps.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "A clock does not run backwards.")
        let due = state.withLock { $0.move(to: $0.now.advanced(by: duration)) }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Returns as soon as the clock has at least `count` sleepers at the same time, or when the waiting Task is
    /// cancelled.
    ///
    /// The backoff of a waiting request is a sleeper. Every limit on the clock is a sleeper while it runs: a deadline
    /// (from the operation's start to its end), and the time limit of an attempt or a stage. A request with a deadline
    /// that waits for its next attempt makes two sleepers.
    ///
    /// If the operation ends too early, this function waits for ever. ``sleepers(_:orEndOf:)`` does not.
    public func sleepers(_ count: Int) async {
        _ = await wait(for: count, as: state.withLock { $0.watchers.newID() })
    }

    /// Returns as soon as the clock has at least `count` sleepers at the same time, or when an operation has finished.
    ///
    /// A test that waits with this function fails where ``sleepers(_:)`` would wait for ever:
    ///
    /// ```swift
    /// #expect(await clock.sleepers(1, orEndOf: operation) == .asleep)
    /// ```
    ///
    /// - Parameters:
    ///   - count: How many sleepers. They are counted as in ``sleepers(_:)``.
    ///   - operation: The operation that should make the sleepers. Other sleepers on the clock count too.
    /// - Returns: Which came first. `finished` if the operation has already finished. `cancelled` if the waiting Task
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

    /// Waits for a count. Returns whether the count was reached before the wait was cancelled.
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

    /// Sleeps until the clock has reached a point.
    ///
    /// - Parameters:
    ///   - deadline: The point. If it has already come, the function returns at once.
    ///   - tolerance: Has no effect.
    /// - Throws: `CancellationError` if the Task is cancelled.
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
    /// Returns a number that no other sleeper or run has.
    mutating func newID() -> Int {
        lastID += 1
        return lastID
    }

    mutating func lieDown(_ sleeper: ManualClock.Sleeper, as id: Int) {
        var sleeper = sleeper
        sleeper.length = now.duration(to: sleeper.deadline)
        sleepers[id] = sleeper
    }

    /// Moves the clock. Returns the sleepers whose deadline has come, in the order of their deadlines. The caller
    /// resumes them.
    mutating func move(to instant: ManualClock.Instant) -> [ManualClock.Sleeper] {
        now = instant
        let due = sleepers.filter { $0.value.deadline <= instant }
        for id in due.keys { sleepers[id] = nil }
        return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value)
    }
}
