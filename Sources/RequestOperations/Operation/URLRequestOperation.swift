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
// Unchecked as its superclass is: all state of this class is in `runner`.
open class URLRequestOperation<Value: Sendable>: AsynchronousOperation<Value>, @unchecked Sendable {
    private let runner: RequestRunner
    private let decoder: ResponseDecoder<Value>

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
        super.init()
    }

    /// The identity of the request, the same for all its attempts.
    public final var id: RequestID { runner.id }

    /// The configuration that the operation was made with.
    public final var configuration: RequestConfiguration { runner.configuration }

    /// The request that the operation was made with, or the one that a retry decision put in its place.
    public final var request: URLRequest { runner.original }

    /// The attempts begun so far, in order.
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
    /// slot longer than the configuration's `freshness`.
    open func process(_ request: URLRequest) async throws -> URLRequest {
        var processed = request
        for adapter in runner.configuration.adapters {
            processed = try await adapter.adapt(processed)
            try Task.checkCancellation()
        }
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
        try runner.configuration.validation.validate(head)
    }

    /// Makes the value from an accepted response. Called when the slot has been given back.
    open func decode(_ response: TransportResponse) async throws -> Value {
        try await decoder.decode(response)
    }

    /// Decides what follows a failed attempt. Not called for a cancelled one.
    open func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        runner.configuration.retryPolicy.decision(after: failure, using: runner.configuration.randomSource)
    }

    // MARK: The way of a request

    /// The way of the request. Called by the superclass; not to be called or overridden.
    public final override func run() async throws -> Value {
        let deadline = try runner.begin { [weak self] in self?.fail(with: $0) }
        defer { deadline?.cancel() }
        var wake: Wake?
        while true {
            do {
                return try await perform(after: wake)
            } catch let error where Task.isCancelled || error.meansCancellation {
                throw CancellationError()
            } catch {
                let failure = runner.fail(error)
                let (delay, observers) = try runner.adopt(await decide(failure), after: failure)
                wake = try await runner.wait(delay, or: observers, after: failure)
            }
        }
    }

    private func perform(after wake: Wake?) async throws -> Value {
        let attempt = try runner.beginAttempt(after: wake)
        let (task, slot) = try await runner.admit(priority: queuePriority) { request in
            try await self.process(request)
        } makeTask: { request in
            try await self.makeTask(for: request)
        }
        let response = try await runner.transfer(task, slot, attempt: attempt) { head in try self.validate(head) }
        let value = try await runner.stage(.decode) { try await self.decode(response) }
        runner.succeeded()
        return value
    }

    private func decide(_ failure: AttemptFailure) async throws -> RetryDecision {
        do {
            return try await runner.stage(.retryDecision) { await self.retryDecision(after: failure) }
        } catch {
            throw Task.isCancelled ? CancellationError() : runner.ending(error, in: .retryDecision)
        }
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
