import RequestOperations

/// One request of the input as an operation. Its value is the number of bytes of the body.
///
/// The body of an accepted response is saved or dropped piece by piece. It is never in memory as a whole.
// Unchecked, like its superclass. All state of this class is in `state`.
final class InputOperation: URLRequestOperation<Int64>, @unchecked Sendable {
    private struct State {
        /// How many bytes of the body arrived in the last attempt.
        var received: Int64 = 0
        var file: SavedFile?
        var savedName: String?
        var attempts = AttemptCount()
        var began: ContinuousClock.Instant?
        var ended: ContinuousClock.Instant?

        /// Notes a step. Returns whether a retry begins with it.
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

    /// The request that the operation was made from.
    let input: InputRequest

    private let place: SavingPlace?
    private let state: Locked<State>

    /// Makes an operation.
    ///
    /// - Parameters:
    ///   - input: The request.
    ///   - configuration: The configuration of the operation. Its `onEvent` is replaced.
    ///   - place: Where an accepted body is saved. `nil` drops it.
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

    /// How many bytes of the body arrived in the last attempt.
    var received: Int64 { state.withLock { $0.received } }

    /// The name of the file that the body was saved in; `nil` if it was not saved.
    var savedName: String? { state.withLock { $0.savedName } }

    /// How many attempts began, that is, got a place among the attempts in flight.
    var begunAttempts: Int { state.withLock { $0.attempts.begun } }

    /// The time from the beginning to the result, or to now if there is no result yet. `nil` if the operation did not
    /// begin.
    var duration: Duration? {
        let (began, ended) = state.withLock { ($0.began, $0.ended) }
        return began?.duration(to: ended ?? .now)
    }

    /// Removes the file that a failed attempt has left in the directory.
    func discardFile() {
        let file = state.withLock { state in
            defer { state.file = nil }
            return state.file
        }
        file?.discard()
    }

    /// Returns the original request. A new attempt has received nothing, so the count starts again at 0.
    override func process(_ request: URLRequest) async throws -> URLRequest {
        state.withLock { $0.received = 0 }
        return try await super.process(request)
    }

    /// Makes a task that streams the response's body to its file, or drops it.
    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        let file = place.map { SavedFile(in: $0.directory) }
        state.withLock { $0.file = file }
        var task = TransportTask(
            request, body: input.body,
            destination: .stream { [state] piece in
                state.withLock { $0.received += Int64(piece.count) }
                try await file?.append(piece)
            })
        // All attempts send what the input says, and the input may be sent twice.
        task.mayBeSentAgain = true
        return task
    }

    /// Gives the file its final name and returns the length of the body.
    override func decode(_ response: TransportResponse) async throws -> Int64 {
        if let place, let file = state.withLock({ $0.file }) {
            let name = try await file.save(as: place.name)
            state.withLock { $0.savedName = name }
        }
        return try await super.decode(response)
    }

    /// Returns the policy's decision. Removes what the attempt saved.
    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        discardFile()
        return await super.retryDecision(after: failure)
    }
}
