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
/// These parts of the configuration apply, because they do not concern a request: the policy and the deciders, early-retry
/// observers, the limiter, the clock, the deadline and ``RequestConfiguration/attemptTimeLimit``, connectivity and events.
/// Adapters, redirects, hedging and the transport do not. The ``HostRegistry`` keeps the budget, the circuit and the
/// `Retry-After` of the resource's scheme, host and port.
///
/// ## Errors
///
/// The result's failure is always a ``RequestError`` or a `CancellationError`, unless a ``RequestHook`` of a client maps it.
/// An attempt that throws a `CancellationError` ends the operation as cancelled. An error of another type becomes the
/// ``RequestError/underlying`` of a ``RequestError/Code/stageFailed``. It counts as temporary unless
/// ``RetryPolicy/isTransient`` returns `false`.
// Unchecked, as its superclass is. All state of this class is in `runner`. `work` never changes, and `participant` is set
// before anyone has the operation.
open class RetryingOperation<Value: Sendable>: AsynchronousOperation<Value>, @unchecked Sendable {
    let runner: RequestRunner
    private let work: (@Sendable (Int) async throws -> Value)?
    /// What the client of the operation does at its stages. `nil` without a client.
    final var participant: (any RequestParticipant)?

    /// Makes an operation for work on a resource. Subclasses override ``attempt(_:)``.
    ///
    /// - Parameters:
    ///   - name: The name of the work in errors and descriptions, such as `ping`. `work` by default.
    ///   - resource: Names the host of the work for the limiter, the budget and the breaker. Nothing is sent to it.
    ///   - isIdempotent: Whether the work may be attempted again after an attempt failed half-way. `true` by default.
    ///   - configuration: How often and when the work is attempted. ``RequestConfiguration/default`` if not given.
    public init(
        named name: String = "work", resource: URL, isIdempotent: Bool = true,
        configuration: RequestConfiguration = .default
    ) {
        runner = RequestRunner(
            URLRequest(url: resource), configuration: configuration,
            work: .other(isIdempotent: isIdempotent, name: name))
        work = nil
        super.init()
    }

    /// Makes an operation whose attempts run a closure.
    ///
    /// ```swift
    /// let sync = RetryingOperation(named: "sync of contacts") { attempt in try await contacts.sync() }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the work in errors and descriptions. `work` by default.
    ///   - resource: Names the host of the work for the limiter, the budget and the breaker. Nothing is sent to it. By
    ///     default there is no resource. All work without a resource shares the same three.
    ///   - isIdempotent: Whether the work may be attempted again after an attempt failed half-way. `true` by default.
    ///   - configuration: How often and when the work is attempted. ``RequestConfiguration/default`` if not given.
    ///   - attempt: One attempt. It gets the number of the attempt, from 1.
    public init(
        named name: String = "work", resource: URL? = nil, isIdempotent: Bool = true,
        configuration: RequestConfiguration = .default, attempt: @escaping @Sendable (Int) async throws -> Value
    ) {
        // A request cannot be made without a URL, but may lose it. (The literal is a URL.)
        var request = URLRequest(url: resource ?? URL(string: "work:")!)
        request.url = resource
        runner = RequestRunner(
            request, configuration: configuration, work: .other(isIdempotent: isIdempotent, name: name))
        work = attempt
        super.init()
    }

    // Public, because subclasses in other modules inherit initialisers only if they can see all designated ones.

    /// Makes an operation for a subclass that overrides ``attempt(_:)``. Without the override, its first attempt traps.
    ///
    /// The attempts send a request; see ``URLRequestOperation``.
    ///
    /// - Parameters:
    ///   - request: Its URL names the host for the limiter, the budget and the breaker. Its method says whether an attempt
    ///     may be repeated after the server may have acted on it.
    ///   - configuration: How often and when the request is attempted. ``RequestConfiguration/default`` if not given.
    public init(attempting request: URLRequest, configuration: RequestConfiguration = .default) {
        runner = RequestRunner(request, configuration: configuration)
        work = nil
        super.init()
    }

    deinit {
        // An operation that was never started has not ended.
        participant?.forget()
    }

    /// The identity of the request, the same for all its attempts.
    public final var id: RequestID { runner.id }

    /// The configuration that the operation was made with.
    public final var configuration: RequestConfiguration { runner.configuration }

    /// When the operation was started, by the clock of the system. `nil` before.
    public final var startDate: Date? { runner.requestState.withLock { $0.startDate } }

    /// The attempts begun so far, in order. If there are more than 100, the first 10 and the last 90 are kept.
    public final var attempts: [Attempt] { runner.requestState.withLock { $0.log.records } }

    /// Ends the wait before the next attempt, if the operation waits for one. Can be called from any thread.
    public final func retryNow() {
        runner.requestState.withLock { $0.wait }?.end(with: .retryNow)
    }

    /// Replaces the wait before the next attempt, if the operation waits for one. Can be called from any thread.
    ///
    /// The former delay and its observers no longer have any effect. Like ``retryNow()``, this overrides what the host
    /// asked for. It is ignored outside such a wait, and in a wait for the ``RetryBudget``.
    ///
    /// - Parameters:
    ///   - delay: The new delay, from now on. A negative delay counts as zero.
    ///   - observers: Observers that may end the wait early. None by default.
    public final func retry(after delay: Duration, or observers: [any EarlyRetryObserver] = []) {
        runner.replaceWait(by: delay, or: observers)
    }

    /// The queue of the configuration, or that of the client that made the operation.
    public final override var completionQueue: DispatchQueue {
        participant?.callbackQueue ?? runner.configuration.completionQueue
    }

    // MARK: Override points

    /// One attempt. Called once for each. The attempt holds its slot meanwhile.
    ///
    /// The default traps.
    ///
    /// - Parameter number: The number of the attempt, from 1.
    /// - Returns: The value of the operation.
    /// - Throws: An error that the retry decision judges, or a `CancellationError`, which ends the operation.
    open func attempt(_ number: Int) async throws -> Value {
        guard let work else { preconditionFailure("\(type(of: self)) must override attempt(_:).") }
        return try await work(number)
    }

    /// Decides what follows a failed attempt. By default, the retry policy of the configuration decides, and then its
    /// deciders. Called once for each failed attempt, but not for a cancelled one.
    open func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        await runner.settings.retryDecision(after: failure)
    }

    /// Decides what follows an attempt that has a value. `nil`, the default, accepts the value.
    ///
    /// A decision to retry makes another attempt as after a failure: it draws on the budget, and only the deadline and
    /// the policy's ``RetryPolicy/elapsedLimit`` bound it. Any other decision fails the operation. Called once for each
    /// attempt with a value, where the stage ``UserStage/retryDecision`` runs and within its time limit. The operation
    /// holds no slot then.
    ///
    /// - Parameters:
    ///   - value: The value of the attempt.
    ///   - attempt: The number of the attempt, from 1.
    open func retryDecision(afterSuccess value: Value, attempt: Int) async -> RetryDecision? { nil }

    // MARK: The loop

    /// One attempt and what follows it, or the final error.
    final override func step(after wait: (any StepWait)?) async throws -> Step<Value> {
        // Every wait of this class is one.
        var wake = try await (wait as? RetryWait)?.wake
        if var ended = wake {
            if let second = try runner.goOn(after: &ended) { return .waits(second) }
            wake = ended
        } else if let deadline = configuration.deadline {
            try runner.begin(on: ownPlace, until: deadline) { [weak self] error in self?.fail(with: error) }
        }
        do {
            return .finished(try await nextAttempt(after: wake))
        } catch let error where Task.isCancelled || error.meansCancellation {
            throw CancellationError()
        } catch let rejected as RejectedValue {
            return .waits(try runner.beginWait(rejected.decision, after: runner.fail(rejected.error)))
        } catch {
            let failure = runner.fail(error)
            return .waits(try runner.beginWait(await decision(after: failure), after: failure))
        }
    }

    /// Runs all steps in the calling Task. Do not call it: a started operation runs its steps itself.
    public final override func run() async throws -> Value {
        var wait: (any StepWait)?
        while true {
            switch try await step(after: wait) {
            case .finished(let value): return value
            case .waits(let next): wait = next
            }
        }
    }

    /// Where a queue started it, unless it runs on the place of another operation.
    private var ownPlace: QueuePlace? {
        let place = state.withLock { $0.place } as? QueuePlace
        return place?.lender == nil ? place : nil
    }

    private func nextAttempt(after wake: Wake?) async throws -> Value {
        let (number, isInQueue) = try runner.beginAttempt(
            after: wake, priority: queuePriority, on: wake == nil ? ownPlace : nil)
        if number == 1, configuration.waitsForConnectivity { try await runner.awaitConnectivity(in: number) }
        if isInQueue { try await runner.takePlace(in: number) }
        let value = try await performAttempt(number)
        // A stage may have ignored a cancel.
        try Task.checkCancellation()
        if let decision = await decision(afterSuccess: value, number) {
            throw RejectedValue(decision: decision)
        }
        runner.succeeded()
        return value
    }

    /// One attempt, with a slot and a circuit permit. A request takes them later, when its task is made.
    func performAttempt(_ number: Int) async throws -> Value {
        var admitted: AdmittedTask?
        repeat { admitted = try await runner.admit(.data(runner.original), in: number) } while admitted == nil
        return try await runner.perform(admitted!) { try await self.attempt(number) }
    }

    private func decision(afterSuccess value: Value, _ number: Int) async -> RetryDecision? {
        do {
            return try await runner.run(.retryDecision) {
                if let participant = self.participant,
                    let decision = await participant.decision(afterSuccess: value, isMember: self.isMember)
                {
                    return decision
                }
                return await self.retryDecision(afterSuccess: value, attempt: number)
            }
        } catch {
            return .fail(error)
        }
    }

    private func decision(after failure: AttemptFailure) async throws -> RetryDecision {
        do {
            return try await runner.stage(.retryDecision) {
                await self.participant?.note(failure, isMember: self.isMember)
                return await self.retryDecision(after: failure)
            }
        } catch {
            throw Task.isCancelled
                ? CancellationError() : runner.ending(error, in: .retryDecision, notRetried: .noDecision)
        }
    }

    // MARK: Calls from the superclass

    final override var subject: String? {
        RequestError.Subject(runner.original, id, runner.work).line
    }

    final override func refusal(_ error: any Error) -> any Error {
        (error as? RequestError)?.about(runner.original, id, as: runner.work) ?? error
    }

    final override var origin: Origin? { Origin(runner.original.url) }

    final override func becameReady() {
        runner.becameReady()
    }

    final override func becameUnready() {
        runner.requestState.withLock { $0.becameUnready() }
    }

    final override func subscribeToRetries(_ body: @escaping @Sendable () -> Void) {
        listenToRetries(body)
    }

    final override func runWasStopped() {
        runner.stop()
    }

    final override func runWasAbandoned() {
        runner.wasAbandoned()
    }

    final override func finalError(_ error: any Error) -> any Error {
        participant?.finalError(error, isMember: isMember) ?? error
    }

    override func willAnnounce(_ ending: OperationLifecycle.Ending) {
        let error: (any Error)? = if case .failed(let error) = ending { error } else { nil }
        runner.ended(error)
        participant?.ended(with: error)
    }

    final override func wasAnnounced() { participant?.wasAnnounced() }

    final override func callBack(_ call: @escaping @Sendable () -> Void) {
        if let participant { participant.callBack(call) } else { super.callBack(call) }
    }

    final override func callBackAfterEnd(_ call: @escaping @Sendable () -> Void) {
        if let participant { participant.callBackAfterEnd(call) } else { super.callBackAfterEnd(call) }
    }

    /// Whether a batch, a chain or a group started the operation.
    final var isMember: Bool { state.withLock { $0.isStartedAsMember } }
}

/// What takes part in an operation from outside: the ``RequestClient`` that made it, with its hooks, observers and log.
///
/// Each stage asks it first, and then the override point of the operation. `isMember` says whether a batch, a chain or a
/// group started the operation.
protocol RequestParticipant: AnyObject, Sendable {
    /// The queue on which closures of the caller run.
    var callbackQueue: DispatchQueue { get }

    /// Begins the request with its first attempt. Returns what replaces the original request, or `nil` if nothing does.
    func begin(_ request: URLRequest, isMember: Bool) async throws -> URLRequest?
    /// Gives a task the body that the request itself cannot hold.
    func complete(_ task: inout TransportTask, from original: URLRequest) throws
    /// Takes in an accepted response. Returns the one to decode.
    func receive(_ response: TransportResponse, isMember: Bool) async throws -> TransportResponse
    func decision(afterSuccess value: any Sendable, isMember: Bool) async -> RetryDecision?
    /// A failed attempt is about to be decided upon.
    func note(_ failure: AttemptFailure, isMember: Bool) async
    func finalError(_ error: any Error, isMember: Bool) -> any Error
    /// The operation has its result.
    func ended(with error: (any Error)?)
    /// All completions have been added.
    func wasAnnounced()
    /// Calls back for a step.
    func callBack(_ call: @escaping @Sendable () -> Void)
    /// Calls a completion after the end.
    func callBackAfterEnd(_ completion: @escaping @Sendable () -> Void)
    /// The operation is freed, or was never started.
    func forget()
}

/// Thrown by an attempt whose value a decision does not accept.
struct RejectedValue: Error {
    let decision: RetryDecision

    /// The error of the attempt.
    var error: RequestError {
        RequestError(.valueRejected, stage: .decode, reason: "a decision did not accept the value")
    }
}

extension RequestError.Code {
    /// A decision after a success did not accept the value
    /// (``RetryingOperation/retryDecision(afterSuccess:attempt:)``).
    public static let valueRejected = Self("valueRejected")
}
