/// An operation that makes attempts until one has a value. After an error it asks for a decision, waits and tries
/// again.
///
/// A ``URLRequestOperation`` is one kind of work that is retried this way. For other work, override ``attempt(_:)``:
///
/// ```swift
/// final class Ping: RetryingOperation<Duration>, @unchecked Sendable {
///     override func attempt(_ number: Int) async throws -> Duration { try await connection.ping() }
/// }
/// let ping = Ping(resource: URL(string: "tcp://example.com:7")!)
/// ```
///
/// The retry policy, the deciders, the early-retry observers, the limiter and the clock of the configuration apply. So
/// do the budget, the circuit breaker and the `Retry-After` that the ``HostRegistry`` keeps for the resource's scheme,
/// host and port.
///
/// ## Errors
///
/// The result's failure is always a ``RequestError`` or a `CancellationError`. An attempt that throws a
/// `CancellationError` ends the operation as cancelled. An error of another type becomes the
/// ``RequestError/underlying`` of a ``RequestError/Code/stageFailed``. It counts as temporary unless
/// ``RetryPolicy/isTransient`` says no. The work counts as idempotent.
// Unchecked, as its superclass is. All state of this class is in `runner`.
open class RetryingOperation<Value: Sendable>: AsynchronousOperation<Value>, @unchecked Sendable {
    let runner: RequestRunner

    /// Makes an operation for work on a resource.
    ///
    /// - Parameters:
    ///   - resource: Names the host of the work for the limiter, the budget and the breaker. Nothing is sent to it.
    ///   - configuration: How often and when the work is attempted. ``RequestConfiguration/default`` if not given.
    public init(resource: URL, configuration: RequestConfiguration = .default) {
        runner = RequestRunner(URLRequest(url: resource), configuration: configuration, isOfOtherWork: true)
        super.init()
    }

    init(_ request: URLRequest, configuration: RequestConfiguration) {
        runner = RequestRunner(request, configuration: configuration)
        super.init()
    }

    /// The identity of the request, the same for all its attempts.
    public final var id: RequestID { runner.id }

    /// The configuration that the operation was made with.
    public final var configuration: RequestConfiguration { runner.configuration }

    /// When the operation was started, by the clock of the system. `nil` before.
    public final var startDate: Date? { runner.requestState.withLock { $0.startDate } }

    /// The attempts begun so far, in order. Of more than 100, the first 10 and the last 90 are kept.
    public final var attempts: [Attempt] { runner.requestState.withLock { $0.log.records } }

    /// Ends the wait before the next attempt, if the operation waits for one. Can be called from any thread.
    public final func retryNow() {
        runner.retryNow()
    }

    /// The queue of the configuration.
    public final override var completionQueue: DispatchQueue { runner.configuration.completionQueue }

    // MARK: Override points

    /// One attempt. Called once for each. The attempt holds its slot meanwhile.
    ///
    /// The default traps.
    ///
    /// - Parameter number: The number of the attempt, from 1.
    /// - Returns: The value of the operation.
    /// - Throws: An error that the retry decision judges, or a `CancellationError`, which ends the operation.
    open func attempt(_ number: Int) async throws -> Value {
        preconditionFailure("\(type(of: self)) must override attempt(_:).")
    }

    /// Decides what follows a failed attempt. By default, the retry policy of the configuration decides, and then its
    /// deciders. Called once for each failed attempt, but not for a cancelled one.
    open func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        await configuration.retryDecision(after: failure)
    }

    // MARK: The loop

    /// One attempt and what follows it.
    final override func step(after wake: Wake?) async throws -> Step<Value> {
        if let wake {
            if let wait = try runner.waitForBudget(after: wake) { return .waits(wait) }
        } else {
            try begin()
        }
        do {
            return .finished(try await nextAttempt(after: wake))
        } catch let error where Task.isCancelled || error.meansCancellation {
            throw CancellationError()
        } catch {
            let failure = runner.fail(error)
            return .waits(try runner.beginWait(await decision(after: failure), after: failure))
        }
    }

    /// Runs all steps in the calling Task. Do not call it: a started operation runs its steps itself.
    public final override func run() async throws -> Value {
        var step = try await step(after: nil)
        while case .waits(let wait) = step { step = try await self.step(after: wait.wake) }
        guard case .finished(let value) = step else { throw CancellationError() }
        return value
    }

    private func begin() throws {
        runner.begin()
        guard let deadline = configuration.deadline else { return }
        try runner.setAlarm(at: deadline) { [weak self] in self?.fail(with: $0) }
    }

    private func nextAttempt(after wake: Wake?) async throws -> Value {
        let number = try runner.beginAttempt(after: wake, priority: queuePriority)
        try await runner.awaitConnectivity(in: number)
        try await runner.takePlaceInQueue(in: number)
        let value = try await admittedAttempt(number)
        runner.succeeded()
        return value
    }

    /// One attempt, with a slot and a circuit permit. A request takes them later, when its task is made.
    func admittedAttempt(_ number: Int) async throws -> Value {
        var admitted: AdmittedTask?
        repeat { admitted = try await runner.admit(.data(runner.original), in: number) } while admitted == nil
        return try await runner.perform(admitted!) { try await self.attempt(number) }
    }

    private func decision(after failure: AttemptFailure) async throws -> RetryDecision {
        do {
            return try await runner.stage(.retryDecision) { await self.retryDecision(after: failure) }
        } catch {
            throw Task.isCancelled
                ? CancellationError() : runner.ending(error, in: .retryDecision, notRetried: .noDecision)
        }
    }

    // MARK: Calls from the superclass

    final override var placeDemand: PlaceDemand { .forAttempts(to: Origin(runner.original.url)) }

    final override func willRun(by turn: QueueTurn) {
        let place = state.withLock { $0.membership.takeSlot() }
        runner.requestState.withLock { $0.join(turn, with: place) }
    }

    final override func holdsPlace(of limiter: RequestLimiter) -> Bool {
        runner.requestState.withLock { $0.holdsPlace(of: limiter) }
    }

    final override func becameReady() {
        runner.becameReady()
    }

    final override func becameUnready() {
        runner.becameUnready()
    }

    final override func runWasStopped() {
        runner.stop()
    }

    final override func runWasAbandoned() {
        runner.wasAbandoned()
    }

    final override func willAnnounce(_ ending: OperationLifecycle.Ending) {
        switch ending {
        case .succeeded: runner.ended(nil)
        case .failed(let error): runner.ended(error)
        }
    }
}
