/// An operation that sends a request, and sends it again when that makes sense, until it has a value or a final error.
///
/// ```swift
/// let operation = URLRequestOperation(URLRequest(url: url), decoder: .json(User.self))
/// queue.addOperation(operation)
/// let user = try await operation.value
/// ```
///
/// Configure what is data, and subclass to change behaviour. You can override each stage. The stages of an attempt
/// follow each other:
///
/// | stage | override point | how often | default |
/// |---|---|---|---|
/// | process request | ``process(_:)`` | once or twice an attempt, hedges included | the adapters, in order |
/// | create task | ``makeTask(for:)`` | as often as `process` | ``TransportTask/data(_:)`` |
/// | validate the head | ``validate(_:)-(ResponseHead)`` | once a response that is no redirect | the validation |
/// | validate the response | ``validate(_:)-(TransportResponse)`` | once a whole response | accepts it |
/// | decode | ``decode(_:)`` | once an accepted response | the decoder given to `init` |
/// | accept the value | ``RetryingOperation/retryDecision(afterSuccess:attempt:)`` | once a value | accepts it |
/// | decide | ``RetryingOperation/retryDecision(after:)`` | once a failed attempt | the retry policy |
///
/// The stages run on the Task of the operation, with three exceptions:
///
/// - A stage with a queue in the configuration runs on that queue.
/// - A stage with a time limit runs in a Task of its own. So does the transfer with its validation, if there is an
///   ``RequestConfiguration/attemptTimeLimit``. If that Task ignores the cancel at the limit, it goes on in parallel,
///   and its outcome is dropped.
/// - With ``RequestConfiguration/hedging``, each transfer and all stages of a hedge run in Tasks of their own. So
///   `process`, `makeTask` and `validate` may be called while another call of them runs.
///
/// A stage that throws fails the attempt. A `CancellationError` ends the operation as cancelled. The result's failure is
/// always a ``RequestError`` or a `CancellationError`, unless a ``RequestHook`` of a client maps it. Any other error of
/// your stages becomes the ``RequestError/underlying`` of a ``RequestError/Code/stageFailed``. If the error says that a
/// value cannot be decoded, the code is ``RequestError/Code/undecodable``.
// Unchecked, as its superclass is. This class adds no state.
open class URLRequestOperation<Value: Sendable>: RetryingOperation<Value>, RequestStages, @unchecked Sendable {
    private let decoder: ResponseDecoder<Value>

    /// Makes an operation that sends a request and decodes its response.
    ///
    /// - Parameters:
    ///   - request: The request. Each attempt is processed from it.
    ///   - decoder: Makes the value of an accepted response.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given.
    public init(
        _ request: URLRequest, decoder: ResponseDecoder<Value>, configuration: RequestConfiguration = .default
    ) {
        self.decoder = decoder
        super.init(attempting: request, configuration: configuration)
    }

    /// The request that the operation was made with, or the one with which a retry decision replaced it.
    public final var request: URLRequest { runner.original }

    /// The response of the attempt that ended last, without its body. `nil` while an attempt runs, and if there was no
    /// response.
    ///
    /// It has the head, the timings and the size of the body, even if the response was rejected. The body is in the
    /// value, or its beginning is in the error.
    public final var response: TransportResponse? { runner.requestState.withLock { $0.response } }

    /// The progress of the operation, in bytes of the request's and the response's body.
    ///
    /// The object is made on first use. An attempt that already runs then reports nothing until the next attempt or the
    /// end. So read this property before you start the operation. While the length of the response is unknown, the total is
    /// negative and the progress is indeterminate. The progress never decreases: a later attempt counts once it is further
    /// than the earlier ones. After a success it is complete. Cancelling the progress cancels the operation. It changes on
    /// the Task of the transfer, at most about 20 times a second. Its `userInfo` has the speed and the time left
    /// (`throughputKey`, `estimatedTimeRemainingKey`), as ``progressUpdates`` have.
    ///
    /// An upload counts only the body that it sends, so its total is known from the first byte. That is an
    /// ``UploadOperation``, an upload of a client, a multipart form, and a ``TransportTask/upload(_:from:)``.
    public final var progress: Progress { runner.progress.tree { [weak self] in self?.cancel() } }

    /// How far the operation has come, and how fast it is, as it changes.
    ///
    /// ```swift
    /// for await update in operation.progressUpdates { print(update.completed, update.timeLeft ?? "") }
    /// ```
    ///
    /// The first element is the present state. A slow reader gets only the newest one. The stream ends with the operation. Its
    /// last element is the last state, which is complete after a success. The notes at ``progress`` apply. Every
    /// call makes a stream of its own. Dropping a stream does not cancel the operation.
    public final var progressUpdates: AsyncStream<ProgressUpdate> { runner.progress.updates }

    // MARK: Override points

    /// Makes the request that an attempt sends from the original one.
    ///
    /// Called for each attempt, before it has a slot of a limiter. So it may wait for a token or send requests itself.
    /// An operation that depends on another takes its input here, from the other's `result`.
    ///
    /// Called again if the attempt then waited for its slot longer than the configuration's `freshness`. Also called
    /// for a ``Hedging`` attempt, with the original request, while the first attempt runs.
    open func process(_ request: URLRequest) async throws -> URLRequest {
        try await runner.adapt(request)
    }

    /// Makes the task for the transport. A data task by default. See ``TransportTask`` for uploads, downloads, streams
    /// and your own tasks. Called after each ``process(_:)``, with the request that it returned, before the slot.
    ///
    /// Each attempt begins at the first byte of the response, even if an earlier attempt delivered some bytes before it
    /// failed. So make a new stream consumer, such as a parser or a sum, for each task here.
    open func makeTask(for request: URLRequest) async throws -> TransportTask {
        var task = TransportTask.data(request)
        try participant?.complete(&task, from: self.request)
        return task
    }

    /// Accepts the head of a response by returning, or rejects it by throwing. Uses the configuration's validation by
    /// default.
    ///
    /// Called once for each response that is not a followed redirect, before its body is delivered. The attempt holds
    /// its slot meanwhile.
    open func validate(_ head: ResponseHead) throws {
        try runner.configuration.validation.validate(head)
    }

    /// Accepts a whole response by returning, or rejects it by throwing. Accepts every response by default.
    ///
    /// Use it for what the head does not show: an error in a body with status 200, a checksum, a signature. Called once
    /// for each response whose head was accepted, when its body has arrived, before ``decode(_:)``. The slot has been
    /// released by then. If it throws, the attempt fails, and the retry policy decides what follows.
    open func validate(_ response: TransportResponse) async throws {}

    /// Makes the value from an accepted response. Uses the decoder given to `init` by default.
    ///
    /// Called once for each accepted response, after the slot has been released.
    open func decode(_ response: TransportResponse) async throws -> Value {
        do {
            return try await decoder.decode(response)
        } catch {
            runner.requestState.withLock { $0.noteDecoderError(error) }
            throw error
        }
    }

    // MARK: One attempt

    /// One attempt, stage by stage. Do not call it: a started operation calls it.
    public final override func attempt(_ number: Int) async throws -> Value {
        var admitted: AdmittedTask?
        repeat {
            let request = try await runner.stage(.process) { try await self.process(self.begunRequest()) }
            var task = try await runner.stage(.makeTask) { try await self.makeTask(for: request) }
            runner.complete(&task, of: PreparedAttempt(number), isProcessedByAdapters: isProcessedByAdapters)
            // `nil` if the attempt waited so long that the request must be processed again.
            admitted = try await runner.admit(task, in: number)
        } while admitted == nil
        let response = try await runner.transfer(admitted!, stages: self)
        try await transferSucceeded(response)
        try await runner.stage(.validate) { try await self.validate(response) }
        return try await runner.stage(.decode) {
            guard let participant = self.participant else { return try await self.decode(response) }
            return try await self.decode(participant.receive(response, isMember: self.isMember))
        }
    }

    /// The request to process. A client begins it with the first attempt.
    final func begunRequest() async throws -> URLRequest {
        guard let begun = try await participant?.begin(request, isMember: isMember) else { return request }
        runner.requestState.withLock { $0.original.replace(with: begun) }
        return begun
    }

    /// Called when the transfer of an attempt has succeeded and its slot has been released. Does nothing by default.
    func transferSucceeded(_ response: TransportResponse) async throws {}

    /// A request takes its slots when its task is made.
    final override func performAttempt(_ number: Int) async throws -> Value {
        try await attempt(number)
    }

    /// Whether ``process(_:)`` certainly runs only the adapters of the configuration. In a subclass it may be
    /// overridden.
    var isProcessedByAdapters: Bool { type(of: self) == URLRequestOperation<Value>.self }
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

extension URLRequestOperation {
    /// Makes an operation that sends a value as JSON and decodes the response.
    ///
    /// ```swift
    /// let operation = try URLRequestOperation(url, method: .put, json: user, decoder: .json(User.self))
    /// ```
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - method: The method. `POST` by default.
    ///   - value: Becomes the body, of the type `application/json`. It is encoded now.
    ///   - encoder: Encodes the value. A new `JSONEncoder` by default.
    ///   - decoder: Makes the value of an accepted response.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given.
    /// - Throws: A ``RequestError`` with the code ``RequestError/Code/unencodableBody`` and the error of the encoder.
    public convenience init(
        _ url: URL, method: HTTPMethod = .post, json value: some Encodable, encoder: JSONEncoder = JSONEncoder(),
        decoder: ResponseDecoder<Value>, configuration: RequestConfiguration = .default
    ) throws {
        self.init(
            try URLRequest(url, method, json: value, encoder), decoder: decoder, configuration: configuration)
    }
}

extension URLRequestOperation where Value == Data {
    /// Makes an operation that sends a value as JSON, and whose value is the body of the response. See the other initialiser
    /// for the parameters.
    public convenience init(
        _ url: URL, method: HTTPMethod = .post, json value: some Encodable, encoder: JSONEncoder = JSONEncoder(),
        configuration: RequestConfiguration = .default
    ) throws {
        self.init(try URLRequest(url, method, json: value, encoder), decoder: .data, configuration: configuration)
    }
}

extension URLRequest {
    fileprivate init(_ url: URL, _ method: HTTPMethod, json value: some Encodable, _ encoder: JSONEncoder) throws {
        self.init(url: url)
        httpMethod = method.rawValue
        setValue("application/json", forHTTPHeaderField: "Content-Type")
        do {
            httpBody = try encoder.encode(value)
        } catch {
            throw RequestError(.unencodableBody, stage: .process, underlying: error).about(self, nil)
        }
    }
}

/// The override points of a request that its transfer needs.
protocol RequestStages: Sendable {
    /// What the client of the operation does at its stages. `nil` without a client.
    var participant: (any RequestParticipant)? { get }
    /// Whether `process` only runs the adapters of the configuration.
    var isProcessedByAdapters: Bool { get }

    func process(_ request: URLRequest) async throws -> URLRequest
    func makeTask(for request: URLRequest) async throws -> TransportTask
    func validate(_ head: ResponseHead) throws
}
