import RequestOperations

/// One request of the input as an operation whose value is the number of bytes of the body.
///
/// The body of an accepted response is saved or dropped piece by piece; it is never in memory as a whole.
// Unchecked as its superclass is: all state of this class is in `state`.
final class InputOperation: URLRequestOperation<Int64>, @unchecked Sendable {
    private struct State {
        /// The bytes of the body that arrived in the last attempt.
        var received: Int64 = 0
        var file: SavedFile?
        var savedName: String?
        var attempts = AttemptCount()
        var began: ContinuousClock.Instant?
        var ended: ContinuousClock.Instant?

        /// Takes notice of a step; whether a retry begins with it.
        mutating func note(_ step: RequestEvent.Step) -> Bool {
            switch step {
            case .began: began = .now
            case .ended: ended = .now
            default: break
            }
            return attempts.note(step)
        }
    }

    /// Where an accepted body is saved.
    struct SavingPlace: Sendable {
        let directory: OutputDirectory
        let name: OutputName
    }

    /// What the operation was made from.
    let input: InputRequest

    private let place: SavingPlace?
    private let state: Locked<State>

    /// Makes an operation.
    ///
    /// - Parameters:
    ///   - input: The request.
    ///   - configuration: How it is made; its `onEvent` is replaced.
    ///   - place: Where an accepted body is saved; `nil` drops it.
    ///   - onRetry: Called when a retry begins, on any thread.
    init(
        _ input: InputRequest, configuration: RequestConfiguration, savingAt place: SavingPlace?,
        onRetry: @escaping @Sendable () -> Void
    ) {
        let state = Locked(State())
        var configuration = configuration
        configuration.onEvent = { event in
            if state.withLock({ $0.note(event.step) }) { onRetry() }
        }
        self.state = state
        self.input = input
        self.place = place
        super.init(input.request, decoder: ResponseDecoder { $0.bodySize }, configuration: configuration)
    }

    /// The bytes of the body that arrived in the last attempt.
    var received: Int64 { state.withLock { $0.received } }

    /// The name of the file that the body was saved in; `nil` if it was not saved.
    var savedName: String? { state.withLock { $0.savedName } }

    /// How many attempts were begun: those that got a place among the ones in flight.
    var begunAttempts: Int { state.withLock { $0.attempts.begun } }

    /// The time from the beginning to the result, or to now as long as there is none; `nil` for an operation that did not begin.
    var duration: Duration? {
        let (began, ended) = state.withLock { ($0.began, $0.ended) }
        return began?.duration(to: ended ?? .now)
    }

    /// Removes what an attempt that came to nothing has left in the directory.
    func discardFile() {
        let file = state.withLock { state in
            defer { state.file = nil }
            return state.file
        }
        file?.discard()
    }

    /// The original request. A new attempt has received nothing yet.
    override func process(_ request: URLRequest) async throws -> URLRequest {
        state.withLock { $0.received = 0 }
        return try await super.process(request)
    }

    /// A stream of the response's body to its file or to nowhere.
    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        let file = place.map { SavedFile(in: $0.directory) }
        state.withLock { $0.file = file }
        var task = TransportTask(
            request, body: input.body,
            destination: .stream { [state] piece in
                state.withLock { $0.received += Int64(piece.count) }
                try await file?.append(piece)
            })
        // All attempts send what the input says, and that may be sent twice.
        task.mayBeSentAgain = true
        return task
    }

    /// The length of the body, when its file stands under its name.
    override func decode(_ response: TransportResponse) async throws -> Int64 {
        if let place, let file = state.withLock({ $0.file }) {
            let name = try await file.save(as: place.name)
            state.withLock { $0.savedName = name }
        }
        return try await super.decode(response)
    }

    /// The policy's decision. What the attempt saved goes.
    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        discardFile()
        return await super.retryDecision(after: failure)
    }
}
