import RequestOperations

/// One request of the input as an operation. Its value is the number of bytes of the body.
///
/// The body of an accepted response is saved or dropped piece by piece. It is never in memory as a whole.
// Unchecked, like its superclass. All state of this class is in `state`.
final class InputOperation: URLRequestOperation<Int64>, @unchecked Sendable {
    private struct State {
        /// How many bytes of the body arrived in the last attempt.
        var received: Int64 = 0
        /// What of it is kept in memory.
        var body = Data()
        var file: SavedFile?
        var savedName: String?
        var begunAttempts = 0
        var began: ContinuousClock.Instant?
        var ended: ContinuousClock.Instant?
    }

    /// Where an accepted body is saved.
    struct SavingPlace: Sendable {
        let directory: OutputDirectory
        let name: OutputName
    }

    /// What a run wants to hear of its operations. Called on any thread, and must return quickly.
    struct Listener: Sendable {
        /// Called when a retry begins.
        var onRetry: @Sendable () -> Void = {}
        /// Called once for each operation that has its result, also for one that never began.
        var onEnd: @Sendable (InputOperation, Result<Int64, any Error>) -> Void = { _, _ in }
    }

    /// The request that the operation was made from.
    let input: InputRequest

    private let place: SavingPlace?
    private let keepsBody: Bool
    private let listener: Listener
    private let state = Locked(State())

    /// Makes the value of every request.
    private static let length = ResponseDecoder<Int64> { $0.bodySize }

    /// Makes an operation.
    ///
    /// - Parameters:
    ///   - input: The request.
    ///   - configuration: The configuration, which all operations of a run share.
    ///   - place: Where an accepted body is saved. `nil` drops it.
    ///   - keepsBody: Whether ``body`` has the body.
    ///   - listener: Hears of the retries and the end.
    init(
        _ input: InputRequest, configuration: RequestConfiguration, savingAt place: SavingPlace?,
        keepingBody keepsBody: Bool = false, _ listener: Listener = Listener()
    ) {
        self.input = input
        self.place = place
        self.keepsBody = keepsBody
        self.listener = listener
        super.init(input.request, decoder: Self.length, configuration: configuration)
    }

    /// How many bytes of the body arrived in the last attempt.
    var received: Int64 { state.withLock { $0.received } }

    /// The body of the last attempt, if it is kept.
    var body: Data { state.withLock { $0.body } }

    /// The name of the file that the body was saved in; `nil` if it was not saved.
    var savedName: String? { state.withLock { $0.savedName } }

    /// How many attempts began, that is, got a place among the attempts in flight.
    var begunAttempts: Int { state.withLock { $0.begunAttempts } }

    /// The time from the first attempt to the result, or to now if there is no result yet.
    ///
    /// `nil` if the operation did not begin. Zero if it began, and ended before its first attempt was processed.
    var duration: Duration? {
        let (began, ended) = state.withLock { ($0.began, $0.ended) }
        return began?.duration(to: ended ?? .now) ?? startDate.map { _ in .zero }
    }

    /// Removes the file that a failed attempt has left in the directory.
    private func discardFile() {
        let file = state.withLock { state in
            defer { state.file = nil }
            return state.file
        }
        file?.discard()
    }

    /// Returns the original request, and counts the attempt.
    ///
    /// In a queue an attempt has its place by now. It is processed once, since no request of the tool goes stale.
    override func process(_ request: URLRequest) async throws -> URLRequest {
        let now = ContinuousClock.now
        let isRetry = state.withLock { state in
            state.received = 0
            state.body = Data()
            state.begunAttempts += 1
            state.began = state.began ?? now
            return state.begunAttempts > 1
        }
        if isRetry { listener.onRetry() }
        return try await super.process(request)
    }

    /// Makes a task that streams the response's body to its file, or drops it.
    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        let file = place.map { SavedFile(in: $0.directory) }
        if file != nil { state.withLock { $0.file = file } }
        var task = TransportTask(
            request, body: input.body,
            destination: .stream { [state, keepsBody] piece in
                state.withLock { state in
                    state.received += Int64(piece.count)
                    if keepsBody { state.body.append(piece) }
                }
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

    /// Notes the end. Removes what a failed attempt saved.
    override func onEnd(_ result: Result<Int64, any Error>) {
        let now = ContinuousClock.now
        state.withLock { $0.ended = now }
        if case .failure = result { discardFile() }
        listener.onEnd(self, result)
    }
}
