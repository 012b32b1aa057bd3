import RequestOperations

/// One request of the input as an operation whose value is the number of bytes of the body.
///
/// The body of an accepted response is saved or dropped piece by piece; it is never in memory as a whole.
// Unchecked as its superclass is: all state of this class is in `state`.
final class InputOperation: URLRequestOperation<Int64>, @unchecked Sendable {
    /// Hears of the steps of an operation.
    protocol Observer: AnyObject, Sendable {
        /// The operation begins to wait: for its next attempt, or until its host is not to be left alone any longer.
        func beganWaiting(_ input: InputRequest)

        /// The operation begins an attempt, or goes on with one that waited.
        func beganAttempt(_ input: InputRequest)

        /// The operation may send its request once more.
        func beganRetry()

        /// The operation has its result.
        func ended(_ input: InputRequest)
    }

    private struct State {
        var received: Int64 = 0
        var file: SavedFile?
        /// The number of the attempt that is under way.
        var attempt = 0
        /// The number of the last attempt that was allowed to begin.
        var lastBegun = 0
        var begunAttempts = 0
        var end: ContinuousClock.Instant?

        /// The attempt got its place; a redirect to another host gets a new one. Whether this begins a retry.
        mutating func gotSlot() -> Bool {
            guard attempt > lastBegun else { return false }
            lastBegun = attempt
            begunAttempts += 1
            return begunAttempts > 1
        }
    }

    /// What the operation was made from.
    let input: InputRequest

    private let directory: OutputDirectory?
    private let observer: any Observer
    private let state: Locked<State>

    /// Makes an operation.
    ///
    /// - Parameters:
    ///   - input: The request.
    ///   - configuration: How it is made, with a limiter; its `onEvent` is replaced.
    ///   - directory: Where an accepted body is saved; `nil` drops it.
    ///   - observer: Hears of steps, on any thread.
    init(
        _ input: InputRequest, configuration: RequestConfiguration, savingIn directory: OutputDirectory?,
        observer: any Observer
    ) {
        let state = Locked(State())
        var configuration = configuration
        configuration.onEvent = { event in
            switch event.step {
            case .attemptBegan(let number):
                state.withLock { $0.attempt = number }
                observer.beganAttempt(input)
            case .waits: observer.beganWaiting(input)
            case .woke: observer.beganAttempt(input)
            case .gotSlot: if state.withLock({ $0.gotSlot() }) { observer.beganRetry() }
            case .ended:
                state.withLock { $0.end = .now }
                observer.ended(input)
            default: break
            }
        }
        self.state = state
        self.input = input
        self.directory = directory
        self.observer = observer
        super.init(input.request, decoder: ResponseDecoder { $0.bodySize }, configuration: configuration)
    }

    /// The bytes of the body that arrived in the last attempt.
    var received: Int64 { state.withLock { $0.received } }

    /// How many attempts were begun: those that got a place among the ones in flight.
    var begunAttempts: Int { state.withLock { $0.begunAttempts } }

    /// When the operation got its result; `nil` before.
    var end: ContinuousClock.Instant? { state.withLock { $0.end } }

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
        let file = directory.map { SavedFile(in: $0) }
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
        let file = state.withLock { $0.file }
        try await file?.save(as: FileName(of: input.request.url))
        return try await super.decode(response)
    }

    /// The policy's decision. What the attempt saved goes.
    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        discardFile()
        return await super.retryDecision(after: failure)
    }
}
