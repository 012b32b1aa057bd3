/// A request that persists: an operation that sends it, and sends it again when that is worthwhile, until it has a value.
///
/// ```swift
/// let operation = URLRequestOperation(URLRequest(url: url), decoder: .json(User.self))
/// queue.addOperation(operation)
/// let user = try await operation.value
/// ```
///
/// The whole way of a request is ``run()``: perform, on an error ask for a decision, wait, again. Its five stages can be
/// overridden; the default of each consults one value of the configuration, so configure what is data and subclass when
/// the behaviour is yours. Each is called on the Task of the operation (or on its queue, if the configuration gives it
/// one), once for every attempt, and never two at a time:
///
/// | stage | override point | default |
/// |---|---|---|
/// | process request | ``process(_:)`` | the configuration's adapters, in order |
/// | create task | ``makeTask(for:)`` | ``TransportTask/data(_:)`` |
/// | validate response | ``validate(_:)`` | the configuration's validation |
/// | decode | ``decode(_:)`` | the decoder given to `init` |
/// | compute retry info | ``retryDecision(after:)`` | the configuration's retry policy |
///
/// A stage that throws fails the attempt; a `CancellationError` ends the operation as cancelled. The result's failure is
/// always a ``RequestError`` or a `CancellationError`.
// Unchecked as its superclass is: all state of this class is in `progress`.
open class URLRequestOperation<Value: Sendable>: AsynchronousOperation<Value>, @unchecked Sendable {
    /// The identity of the request, the same for all its attempts.
    public final let id = RequestID()

    /// The configuration.
    public final let configuration: RequestConfiguration

    private let decoder: ResponseDecoder<Value>
    private let progress: Locked<RequestProgress>

    /// Makes an operation that sends a request and decodes its response.
    ///
    /// - Parameters:
    ///   - request: The request; each attempt is processed from it.
    ///   - decoder: Makes the value of an accepted response.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given.
    public init(
        _ request: URLRequest, decoder: ResponseDecoder<Value>, configuration: RequestConfiguration = .default
    ) {
        self.configuration = configuration
        self.decoder = decoder
        progress = Locked(RequestProgress(request))
        super.init()
    }

    /// The request that the operation was made with, or the one that a retry decision put in its place.
    public final var request: URLRequest { progress.withLock { $0.original } }

    /// The attempts begun so far, in order.
    public final var attempts: [Attempt] { progress.withLock { $0.attempts } }

    /// Ends the wait before the next attempt, if the operation is waiting.
    public final func retryNow() {
        progress.withLock { $0.wait }?.wake(.retryNow)
    }

    /// The queue of the configuration.
    public final override var completionQueue: DispatchQueue { configuration.completionQueue }

    // MARK: Override points

    /// Makes the request that an attempt sends from the original one.
    ///
    /// Called for each attempt, before it has a slot, so it may wait for a token or send requests itself; an operation that
    /// depends on another takes its input here, from that one's `result`. Called again if the attempt then waited for its
    /// slot longer than the configuration's `freshness`.
    open func process(_ request: URLRequest) async throws -> URLRequest {
        var processed = request
        for adapter in configuration.adapters { processed = try await adapter.adapt(processed) }
        return processed
    }

    /// Makes the task that the transport carries out: a data task by default; see ``TransportTask`` for uploads, downloads,
    /// streams and tasks of your own.
    open func makeTask(for request: URLRequest) async throws -> TransportTask {
        .data(request)
    }

    /// Accepts the head of a response by returning or rejects it by throwing.
    ///
    /// Called once for each response that is not a followed redirect, before its body is delivered. The attempt holds its
    /// slot meanwhile.
    open func validate(_ head: ResponseHead) throws {
        try configuration.validation.validate(head)
    }

    /// Makes the value from an accepted response. Called when the slot has been given back.
    open func decode(_ response: TransportResponse) async throws -> Value {
        try await decoder.decode(response)
    }

    /// Decides what follows a failed attempt. Not called for a cancelled one.
    open func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        configuration.retryPolicy.decision(after: failure, using: configuration.randomSource)
    }

    // MARK: Flow

    /// The way of the request. Called by the superclass; not to be called or overridden.
    public final override func run() async throws -> Value {
        let deadline = begin()
        defer { deadline?.cancel() }
        var wake: (waited: Duration, by: WakeReason?) = (.zero, nil)
        while true {
            do {
                return try await perform(wake)
            } catch let error where Task.isCancelled || error.meansCancellation {
                throw cancelled()
            } catch {
                let failure = fail(error)
                guard case .retry(let delay, let observers, let restarts, let request) = try await decide(failure) else {
                    throw ended(failure.error, failure.stage)
                }
                adopt(request, restartingBackoff: restarts)
                wake = try await wait(delay, or: observers, after: failure)
            }
        }
    }

    private func perform(_ wake: (waited: Duration, by: WakeReason?)) async throws -> Value {
        let number = progress.withLock { $0.beginAttempt(waited: wake.waited, wokenBy: wake.by) }
        emit(.attemptBegan(number))
        let (task, slot) = try await admit()                    // process, make the task, get a slot
        let response = try await transfer(task, slot)           // send, validate the head, read the body
        let value = try await stage(.decode) { try await self.decode(response) }
        progress.withLock { $0.endAttempt(nil) }
        emit(.ended(nil))
        return value
    }

    /// Processes the request and waits for a slot; a request that waited too long is processed again and keeps its place.
    private func admit() async throws -> (TransportTask, RequestLimiter.Slot?) {
        var place: RequestLimiter.Place?
        while true {
            let original = request
            let request = try await stage(.process) { try await self.process(original) }
            let task = try await stage(.makeTask) { try await self.makeTask(for: request) }
            progress.withLock { progress in
                progress.known.request = task.request
                progress.known.bodyIsReplayable = task.body.isReplayable
            }
            guard let limiter = configuration.limiter else { return (complete(task), nil) }
            let (slot, waited) = try await self.slot(of: limiter, for: task, at: &place)
            guard waited > configuration.freshness else { return (complete(task), slot) }
            slot.release()
        }
    }

    private func slot(
        of limiter: RequestLimiter, for task: TransportTask, at place: inout RequestLimiter.Place?
    ) async throws -> (RequestLimiter.Slot, waited: Duration) {
        enter(.slot)
        emit(.waitsForSlot)
        let stopwatch = Stopwatch(configuration.clock)
        let slot = try await limiter.slot(for: Origin(task.request.url), priority: queuePriority, place: &place)
        let waited = stopwatch.elapsed
        progress.withLock { $0.slot = slot }
        do { try Task.checkCancellation() } catch {
            slot.release()
            throw error
        }
        emit(.gotSlot(waited: waited))
        return (slot, waited)
    }

    private func complete(_ task: TransportTask) -> TransportTask {
        var task = task
        task.limits = task.limits ?? configuration.limits(for: task)
        task.onProgress = task.onProgress ?? configuration.onProgress
        return task
    }

    /// Sends the request and reads its response, following redirects; one to another host exchanges the slot.
    private func transfer(_ task: TransportTask, _ slot: RequestLimiter.Slot?) async throws -> TransportResponse {
        defer { progress.withLock { $0.slot }?.release() }
        enter(.transfer)
        let response =
            if let limit = configuration.attemptTimeLimit {
                try await stageRunner.run(.transfer, limit: limit) { try await self.followRedirects(task, slot) }
            } else {
                try await followRedirects(task, slot)
            }
        progress.withLock { $0.note(response) }
        try Task.checkCancellation()
        return response
    }

    private func followRedirects(_ first: TransportTask, _ slot: RequestLimiter.Slot?) async throws -> TransportResponse {
        var task = first
        var slot = slot
        var visited = [RedirectPolicy.Hop(first.request)]
        while true {
            do {
                return try await send(task)
            } catch let redirect as Redirect {
                let next = try configuration.redirects.next(
                    after: redirect.head, to: redirect.target, task: task, visited: visited)
                visited.append(RedirectPolicy.Hop(next.request))
                progress.withLock { $0.note(redirectTo: redirect.target) }
                emit(.redirected(from: redirect.head.url, to: redirect.target))
                slot = try await exchange(slot, for: next)
                task = next
            }
        }
    }

    private func exchange(
        _ held: RequestLimiter.Slot?, for task: TransportTask
    ) async throws -> RequestLimiter.Slot? {
        guard let held, let limiter = configuration.limiter, held.origin != Origin(task.request.url) else { return held }
        held.release()
        var place: RequestLimiter.Place?
        defer { enter(.transfer) }
        return try await slot(of: limiter, for: task, at: &place).0
    }

    /// One hop. A head that redirects is rejected with the redirect as its error, so that its body is not delivered.
    private func send(_ task: TransportTask) async throws -> TransportResponse {
        do {
            return try await task.perform(over: configuration.transport) { head in
                if let target = self.configuration.redirects.target(of: head) {
                    throw Redirect(head: head, target: target)
                }
                self.enter(.validate)
                self.progress.withLock { $0.note(head) }
                self.emit(.head(head))
                try self.validate(head)
                self.enter(.transfer)
            }
        } catch let failure as TransferFailure {
            throw failure.error as? Redirect ?? failure
        }
    }

    /// Asks for the decision; throws what the operation ends with if that is not the attempt's error.
    private func decide(_ failure: AttemptFailure) async throws -> RetryDecision {
        let decision: RetryDecision
        do {
            decision = try await stage(.retryDecision) { await self.retryDecision(after: failure) }
        } catch let error where Task.isCancelled || error.meansCancellation {
            throw cancelled()
        } catch {
            throw ended(error, .retryDecision)
        }
        emit(.decided(decision))
        if case .fail(let error) = decision {
            throw error.meansCancellation ? cancelled() : ended(error, failure.stage)
        }
        return decision
    }

    private func wait(
        _ delay: Duration, or observers: [any EarlyRetryObserver], after failure: AttemptFailure
    ) async throws -> (Duration, WakeReason?) {
        let wait = RetryWait()
        let stopwatch = Stopwatch(configuration.clock)
        enter(.wait)
        progress.withLock { $0.wait = wait }
        defer { progress.withLock { $0.wait = nil } }
        emit(.waits(delay))
        do {
            let reason = try await wait.run(delay, or: observers, after: failure, clock: configuration.clock)
            try Task.checkCancellation()
            emit(.woke(reason))
            return (stopwatch.elapsed, reason)
        } catch {
            throw cancelled()
        }
    }

    // MARK: Steps of the flow

    /// Runs a stage of user code, on its queue and within its time limit if it has them.
    private func stage<Output: Sendable>(
        _ stage: RequestError.Stage, _ body: @escaping @Sendable () async throws -> Output
    ) async throws -> Output {
        enter(stage)
        let output =
            if configuration.runsDirectly(stage) {
                try await body()
            } else {
                try await stageRunner.run(
                    stage, on: configuration.queue(for: stage), limit: configuration.stageTimeLimits[stage], body)
            }
        // Nothing is sent after a cancel, whatever the stage made of it.
        try Task.checkCancellation()
        return output
    }

    private var stageRunner: StageRunner {
        StageRunner(clock: configuration.clock) { [weak self] stage in
            AbandonedStages.countOne()
            self?.emit(.abandoned(stage))
        }
    }

    private func enter(_ stage: RequestError.Stage) {
        progress.withLock { $0.stage = stage }
    }

    private func begin() -> Alarm? {
        becameReady()
        emit(.began)
        guard let deadline = configuration.deadline else { return nil }
        let left = deadline - progress.withLock { $0.elapsed }
        return Alarm(after: max(left, .zero), on: configuration.clock) { [weak self] in self?.passDeadline(deadline) }
    }

    private func passDeadline(_ deadline: Duration) {
        let error = progress.withLock { progress in
            let timedOut = RequestError(.timedOut, stage: progress.stage, reason: "the deadline of \(deadline) passed")
            progress.endAttempt(timedOut)
            return progress.finalError(timedOut, stage: progress.stage)
        }
        fail(with: error)
    }

    private func fail(_ error: any Error) -> AttemptFailure {
        let failure = progress.withLock { $0.fail(error, deadline: configuration.deadline) }
        emit(.attemptFailed(failure))
        return failure
    }

    private func adopt(_ request: URLRequest?, restartingBackoff: Bool) {
        progress.withLock { progress in
            if let request { progress.original = request }
            if restartingBackoff { progress.restartBackoff() }
        }
    }

    private func ended(_ error: any Error, _ stage: RequestError.Stage) -> RequestError {
        let final = progress.withLock { $0.finalError(error, stage: stage) }
        emit(.ended(final))
        return final
    }

    private func cancelled() -> CancellationError {
        progress.withLock { $0.endAttempt(CancellationError()) }
        emit(.ended(CancellationError()))
        return CancellationError()
    }

    private func emit(_ step: RequestEvent.Step) {
        configuration.onEvent?(RequestEvent(id: id, step: step))
    }

    final override func becameReady() {
        progress.withLock { $0.becameReady(on: configuration.clock) }
    }

    final override func runWasAbandoned() {
        let (stage, slot) = progress.withLock { progress in
            progress.endAttempt(CancellationError())
            return (progress.stage, progress.slot)
        }
        slot?.release()
        AbandonedStages.countOne()
        emit(.abandoned(stage))
        emit(.ended(CancellationError()))
    }
}

extension URLRequestOperation where Value == Data {
    /// Makes an operation whose value is the body of the response.
    public convenience init(_ request: URLRequest, configuration: RequestConfiguration = .default) {
        self.init(request, decoder: .data, configuration: configuration)
    }

    /// Makes an operation that gets a URL and whose value is the body of the response.
    public convenience init(_ url: URL, configuration: RequestConfiguration = .default) {
        self.init(URLRequest(url: url), decoder: .data, configuration: configuration)
    }
}

/// The error with which the head of a redirect is rejected.
private struct Redirect: Error {
    let head: ResponseHead
    let target: URL
}

extension TransportTask {
    /// Carries the task out in its own way or the transport's.
    fileprivate func perform(
        over transport: any Transport, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        if case .perform(let perform) = execution { return try await perform(self, transport, onHead) }
        return try await transport.perform(self, onHead: onHead)
    }
}

extension Error {
    /// Whether this says that the work was cancelled, by whomever.
    fileprivate var meansCancellation: Bool {
        switch self {
        case is CancellationError: true
        case let error as URLError: error.code == .cancelled
        case let failure as TransferFailure: failure.error.meansCancellation
        default: false
        }
    }
}
