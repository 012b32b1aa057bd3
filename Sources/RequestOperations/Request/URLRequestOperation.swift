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
// Unchecked as its superclass is. This class adds no state.
open class URLRequestOperation<Value: Sendable>: RetryingOperation<Value>, RequestStages, @unchecked Sendable {
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
        self.decoder = decoder
        super.init(request, configuration: configuration)
    }

    /// The request that the operation was made with, or the one that a retry decision put in its place.
    public final var request: URLRequest { runner.original }

    /// The response of the attempt that ended last, without its body; `nil` while an attempt runs, and if none was answered.
    ///
    /// It has the head, the timings and the size of the body, also of a response that was rejected. The body is in the value, or
    /// its beginning in the error.
    public final var response: TransportResponse? { runner.requestState.withLock { $0.response } }

    /// The progress of the operation, in bytes of the request's and the response's body.
    ///
    /// It is made when it is first asked for. An attempt that already runs then reports nothing until the next attempt or
    /// the end, so ask before you start the operation. The total is negative, and so the progress indeterminate, while the
    /// length of the response is unknown. It never goes back: a later attempt counts once it has come further than the ones
    /// before. After a success it is complete. To cancel it cancels the operation. It changes on the Task of the transfer,
    /// at most about 20 times a second.
    public final var progress: Progress { runner.progress { [weak self] in self?.cancel() } }

    // MARK: Override points

    /// Makes the request that an attempt sends from the original one.
    ///
    /// Called for each attempt, before it has a slot, so it may wait for a token or send requests itself; an operation that
    /// depends on another takes its input here, from that one's `result`. Called again if the attempt then waited for its
    /// slot longer than the configuration's `freshness`. Called for a ``Hedging`` attempt as for any, with the original
    /// request and while the attempt beside it runs.
    open func process(_ request: URLRequest) async throws -> URLRequest {
        try await runner.adapt(request)
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
            return try await decoder.decode(response)
        } catch {
            runner.noteDecoderError(error)
            throw error
        }
    }

    // MARK: One attempt

    /// One attempt, stage by stage. Do not call it: the operation does, when it is started.
    public final override func attempt(_ number: Int) async throws -> Value {
        var admitted: AdmittedTask?
        repeat {
            let request = try await runner.stage(.process) { try await self.process(self.request) }
            var task = try await runner.stage(.makeTask) { try await self.makeTask(for: request) }
            runner.complete(&task, isProcessedByAdapters: isProcessedByAdapters)
            // `nil` if the attempt waited so long that the request must be processed again.
            admitted = try await runner.admit(task, in: number)
        } while admitted == nil
        let response = try await runner.transfer(admitted!, stages: self)
        try await runner.stage(.validate) { try await self.validate(response) }
        return try await runner.stage(.decode) { try await self.decode(response) }
    }

    /// A request takes its slots when its task is made.
    final override func admittedAttempt(_ number: Int) async throws -> Value {
        try await attempt(number)
    }

    /// Whether ``process(_:)`` is known to run the adapters of the configuration and nothing else. A subclass may override it.
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
