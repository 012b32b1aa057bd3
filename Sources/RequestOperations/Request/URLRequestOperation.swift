/// A request that persists: an operation that sends it, and sends it again when that is worthwhile, until it has a value.
///
/// ```swift
/// let operation = URLRequestOperation(URLRequest(url: url), decoder: .json(User.self))
/// queue.addOperation(operation)
/// let user = try await operation.value
/// ```
///
/// The whole way of a request: perform, on an error ask for a decision, wait, again. Its six stages can be
/// overridden; the default of each consults one value of the configuration, so configure what is data and subclass when
/// the behaviour is yours. The stages of an attempt follow each other:
///
/// | stage | override point | how often | default |
/// |---|---|---|---|
/// | process request | ``process(_:)`` | once for each attempt, hedges too, or twice: see there | the configuration's adapters, in order |
/// | create task | ``makeTask(for:)`` | as often as `process` | ``TransportTask/data(_:)`` |
/// | validate the head | ``validate(_:)-(ResponseHead)`` | once for each response that is no redirect | the configuration's validation |
/// | validate the response | ``validate(_:)-(TransportResponse)`` | once for each whole response | accepts it |
/// | decode | ``decode(_:)`` | once for each accepted response | the decoder given to `init` |
/// | compute retry info | ``retryDecision(after:)`` | once for each failed attempt, and once for all that ran beside each other | the configuration's retry policy |
///
/// They run on the Task of the operation. A stage that the configuration gives a queue runs on that; one that it gives a
/// time limit, and the transfer with its validation if there is an ``RequestConfiguration/attemptTimeLimit``, run in a Task
/// of their own, which goes on beside what follows if it ignores being cancelled at the limit; its outcome is dropped.
/// With ``RequestConfiguration/hedging`` each transfer, and all stages of a hedge, run in a Task of their own too, so that
/// `process`, `makeTask` and `validate` may be called while another call of theirs runs.
///
/// A stage that throws fails the attempt; a `CancellationError` ends the operation as cancelled. The result's failure is
/// always a ``RequestError`` or a `CancellationError`. An error of another type, out of any stage of yours, is the
/// ``RequestError/underlying`` of a ``RequestError/Code/stageFailed``. If it says that a value cannot be decoded, the code
/// is ``RequestError/Code/undecodable``.
// Unchecked as its superclass is: all state of this class is in `runner`.
open class URLRequestOperation<Value: Sendable>: AsynchronousOperation<Value>, @unchecked Sendable {
    private let runner: RequestRunner
    private let decoder: ResponseDecoder<Value>
    /// Whether the override points are those of this class.
    private let isPlain: Bool

    /// Makes an operation that sends a request and decodes its response.
    ///
    /// - Parameters:
    ///   - request: The request; each attempt is processed from it.
    ///   - decoder: Makes the value of an accepted response.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given.
    public init(
        _ request: URLRequest, decoder: ResponseDecoder<Value>, configuration: RequestConfiguration = .default
    ) {
        runner = RequestRunner(request, configuration: configuration)
        self.decoder = decoder
        isPlain = Self.self == URLRequestOperation.self
        super.init()
    }

    /// The identity of the request, the same for all its attempts.
    public final var id: RequestID { runner.id }

    /// The configuration that the operation was made with.
    public final var configuration: RequestConfiguration { runner.configuration }

    /// The request that the operation was made with, or the one that a retry decision put in its place.
    public final var request: URLRequest { runner.original }

    /// The response of the attempt that ended last, without its body; `nil` while an attempt runs, and if none was answered.
    ///
    /// It has the head, the timings and the size of the body, also of a response that was rejected. The body is in the value, or
    /// its beginning in the error.
    public final var response: TransportResponse? { runner.progress.withLock { $0.response } }

    /// When the operation was started, by the clock of the system; `nil` before.
    public final var startDate: Date? { runner.progress.withLock { $0.startDate } }

    /// The attempts begun so far, in order. Of more than 100 the first 10 and the last 90 are kept; their numbers tell.
    public final var attempts: [Attempt] { runner.attempts }

    /// Ends the wait before the next attempt, if the operation is waiting.
    public final func retryNow() {
        runner.retryNow()
    }

    /// The queue of the configuration.
    public final override var completionQueue: DispatchQueue { runner.configuration.completionQueue }

    // MARK: Override points

    /// Makes the request that an attempt sends from the original one.
    ///
    /// Called for each attempt, before it has a slot, so it may wait for a token or send requests itself; an operation that
    /// depends on another takes its input here, from that one's `result`. Called again if the attempt then waited for its
    /// slot longer than the configuration's `freshness`. Called for a ``Hedging`` attempt as for any, with the original
    /// request and while the attempt beside it runs.
    open func process(_ request: URLRequest) async throws -> URLRequest {
        var processed = request
        for adapter in runner.configuration.adapters {
            if adapter.reach < .anything {
                try adapter.edit(&processed, keys: runner)
            } else {
                processed = try await adapter.adapt(processed, keys: runner)
                try Task.checkCancellation()
            }
        }
        return processed
    }

    /// Makes the task that the transport carries out: a data task by default; see ``TransportTask`` for uploads, downloads,
    /// streams and tasks of your own. Called after each ``process(_:)``, with what that returned, before the slot.
    ///
    /// An attempt begins at the first byte of the response, whatever an earlier one delivered before it failed: what takes
    /// in a stream, such as a parser or a sum, is to be made here, for each task afresh.
    open func makeTask(for request: URLRequest) async throws -> TransportTask {
        .data(request)
    }

    /// Accepts the head of a response by returning or rejects it by throwing.
    ///
    /// Called once for each response that is not a followed redirect, before its body is delivered. The attempt holds its
    /// slot meanwhile.
    open func validate(_ head: ResponseHead) throws {
        try runner.configuration.validation.validate(head)
    }

    /// Accepts a whole response by returning, or rejects it by throwing. Accepts it by default.
    ///
    /// Called once for each response whose head was accepted, when its body has arrived and the slot has been given back, before
    /// ``decode(_:)``. For what the head does not tell: an error in a body with status 200, a checksum, a signature. A response
    /// that is rejected fails the attempt, and the retry policy decides what follows.
    open func validate(_ response: TransportResponse) async throws {}

    /// Makes the value from an accepted response. Called when the slot has been given back.
    open func decode(_ response: TransportResponse) async throws -> Value {
        do {
            // The other function would be a further call that may suspend.
            if let decode = decoder.synchronous { return try decode(response) }
            return try await decoder.decode(response)
        } catch {
            runner.noteDecoderError(error)
            throw error
        }
    }

    /// Decides what follows a failed attempt. Not called for a cancelled one.
    open func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        await runner.configuration.retryDecision(after: failure)
    }

    // MARK: The way of a request

    /// The way of the request, in the Task that calls. Not to be called or overridden: the operation goes that way when it
    /// is started.
    public final override func run() async throws -> Value {
        var part = try await work()
        while let next = part {
            await withCheckedContinuation { continuation in next.whenDue { continuation.resume() } }
            part = try await next.run()
        }
        guard let kept else { throw CancellationError() }
        return kept
    }

    /// The way of the request, to its end or to where it goes on.
    final override func work() async throws -> WorkPart? {
        runner.begin()
        if let deadline = runner.configuration.deadline {
            // A weak reference makes each use of the operation dearer, so there is none without a deadline.
            try runner.setAlarm(at: deadline) { [weak self] in self?.fail(with: $0) }
        }
        return try await persist()
    }

    // Inlined, since each `async` call takes as long as several allocations; so it is with those of the stages.
    @inline(__always)
    private func persist(after wake: Wake? = nil) async throws -> WorkPart? {
        do {
            try await perform(after: wake)
            return nil
        } catch let error where Task.isCancelled || error.meansCancellation {
            throw CancellationError()
        } catch {
            let failure = runner.fail(error)
            return part(after: try runner.beginWait(await decide(failure), after: failure), failure)
        }
    }

    /// What follows a wait: another attempt, or first a second wait, where the budget has no room yet.
    private func part(after wait: RequestRunner.BegunWait, _ failure: AttemptFailure) -> WorkPart {
        WorkPart(whenDue: wait.race.whenOver) { [self] in
            let wake = try await runner.outcome(of: wait)
            let room = try runner.draw(after: wake, failure)
            guard room > .zero else { return try await persist(after: wake) }
            let second = try runner.beginWait(
                room, or: wait.ownObservers, after: failure, as: .waits(room), because: .budget)
            return WorkPart(whenDue: second.race.whenOver) { [self] in
                let end = try await runner.outcome(of: second)
                runner.endWaitForRoom(by: end)
                return try await persist(after: end.following(wake))
            }
        }
    }

    /// One attempt, whose value is kept.
    private func perform(after wake: Wake?) async throws {
        var admission = try runner.beginAttempt(after: wake, priority: queuePriority)
        if admission.attempt == 1 { try await runner.awaitConnectivity() }
        try await runner.takePlaceInQueue(in: admission.attempt)
        while true {
            var task = try await task(for: try await processed())
            task.complete(from: runner.configuration, isProcessedByAdapters: isProcessedByAdapters)
            guard let admitted = try await runner.admit(task, &admission) else { continue }
            let response =
                if let hedging = runner.configuration.hedging {
                    try await runner.transfer(admitted, hedging: hedging, stages: stages)
                } else {
                    try await runner.transfer(admitted) { head in try self.validate(head) }
                }
            if !isPlain { try await check(response) }
            if try !runner.entersHere(.decode) {
                try await keepDecodedApart(response)
            } else if let decode = plainDecode {
                // Whatever it throws is an error of the decoder.
                do { keep(try decode(response)) } catch {
                    runner.noteDecoderError(error)
                    throw error
                }
            } else {
                keep(try await decode(response))
            }
            return runner.succeeded()
        }
    }

    // MARK: Its stages

    @inline(__always)
    private func processed() async throws -> URLRequest {
        guard try runner.entersHere(.process) else {
            return try await runner.apart(.process) { [original = runner.original] in try await self.process(original) }
        }
        if isPlain, let adapted = try runner.adapted() { return adapted }
        return try await process(runner.original)
    }

    @inline(__always)
    private func task(for request: URLRequest) async throws -> TransportTask {
        guard try runner.entersHere(.makeTask) else {
            return try await runner.apart(.makeTask) { try await self.makeTask(for: request) }
        }
        return isPlain ? .data(request) : try await makeTask(for: request)
    }

    /// Has a subclass judge the whole response.
    @inline(never)
    private func check(_ response: TransportResponse) async throws {
        do {
            guard try runner.entersHere(.validate) else {
                return try await runner.apart(.validate) { try await self.validate(response) }
            }
            try await validate(response)
        } catch {
            runner.noteRetryAfter(of: response.head)
            throw error
        }
    }

    /// Whether ``process(_:)`` is known to run the adapters of the configuration and nothing else. A subclass of another module may
    /// override it.
    var isProcessedByAdapters: Bool { isPlain }

    /// The decoder's function, if that is all there is to call, and does not suspend.
    private var plainDecode: (@Sendable (TransportResponse) throws -> Value)? { isPlain ? decoder.synchronous : nil }

    /// Decodes on a queue or within a time limit.
    @inline(never)
    private func keepDecodedApart(_ response: TransportResponse) async throws {
        keep(try await runner.apart(.decode) { try await self.decode(response) })
    }

    /// The override points that a hedge goes through.
    @inline(never)
    private var stages: HedgeStages {
        HedgeStages(isProcessedByAdapters: isProcessedByAdapters) { request in
            try await self.process(request)
        } makeTask: { request in
            try await self.makeTask(for: request)
        } validate: { head in
            try self.validate(head)
        }
    }

    private func decide(_ failure: AttemptFailure) async throws -> RetryDecision {
        do {
            return
                try runner.entersHere(.retryDecision)
                ? await retryDecision(after: failure)
                : await runner.apart(.retryDecision) { await self.retryDecision(after: failure) }
        } catch {
            throw Task.isCancelled
                ? CancellationError() : runner.ending(error, in: .retryDecision, notRetried: .noDecision)
        }
    }

    final override var mayUseQueues: Bool {
        // A subclass can do anything.
        !isPlain || runner.configuration.mayUseQueues || decoder.synchronous == nil
    }

    final override var placeDemand: PlaceDemand { .forAttempts(to: Origin(runner.original.url)) }

    final override func willRun(by turn: QueueTurn) {
        runner.join(turn, with: state.withLock { $0.membership.takeSlot() })
    }

    final override func holdsPlace(of limiter: RequestLimiter) -> Bool {
        runner.progress.withLock { $0.turn?.limiter === limiter && $0.held.queueSlot?.isHeld == true }
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

extension URLRequestOperation {
    /// Makes an operation that gets a URL and decodes the response.
    public convenience init(
        _ url: URL, decoder: ResponseDecoder<Value>, configuration: RequestConfiguration = .default
    ) {
        self.init(URLRequest(url: url), decoder: decoder, configuration: configuration)
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
