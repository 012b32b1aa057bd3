import RequestOperations

/// A download whose bytes go to standard output as they come. Its value is their number.
///
/// An attempt goes on where the one before it broke off. What was written cannot be taken back. So the operation fails if
/// the server has another file by then, or cannot send the rest.
// Unchecked, like its superclass. All state of this class is in `state`.
final class OutputDownload: URLRequestOperation<Int64>, @unchecked Sendable {
    private struct State {
        /// The number of the attempt that may write. One that was left behind may still run.
        var attempt = 0
        /// What that attempt asked for; `nil` for the whole.
        var asked: RangeRequest?
        /// Whether the server said that nothing is left to send.
        var isComplete = false
        var written: Int64 = 0
        /// What the bytes are a part of; `nil` if the rest cannot be asked for.
        var validator: StrongValidator?
        var total: Int64?
        /// Whether bytes have come since the last failure.
        var hasGrown = false
    }

    private let checksum: FileDigest?
    private let digest: SHA2?
    private let asksForRange: Bool
    private let queue = DispatchQueue(label: "urlrequest.OutputDownload")
    private let state = Locked(State())

    init(_ request: URLRequest, checksum: FileDigest?, configuration: RequestConfiguration) {
        self.checksum = checksum
        digest = checksum.map { SHA2($0.algorithm.function) }
        asksForRange = request.value(forHTTPHeaderField: "Range") != nil
        super.init(request, decoder: ResponseDecoder { _ in 0 }, configuration: configuration)
    }

    /// Makes a task that asks for what is missing.
    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        var request = request
        // On the queue, no earlier attempt is in the middle of a write.
        let (number, asked) = try await queue.run { [state] in
            state.withLock { state in
                state.attempt += 1
                state.isComplete = false
                state.asked =
                    state.written > 0
                    ? RangeRequest(offset: state.written, validator: state.validator, total: state.total) : nil
                return (state.attempt, state.asked)
            }
        }
        if request.value(forHTTPHeaderField: "Accept-Encoding") == nil {
            request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        asked?.ask(in: &request)
        return .stream(request) { [self] piece in
            try await queue.run { [self] in try take(piece, in: number) }
        }
    }

    private func take(_ piece: Data, in number: Int) throws {
        let (isCurrent, isComplete) = state.withLock { ($0.attempt == number, $0.isComplete) }
        guard isCurrent else { throw CancellationError() }
        // The content of a 416 is a message for people.
        guard !isComplete else { return }
        try StandardOutput.write(piece)
        digest?.update(piece)
        state.withLock { state in
            state.written += Int64(piece.count)
            state.hasGrown = true
        }
    }

    override func validate(_ head: ResponseHead) throws {
        let asked = state.withLock { $0.asked }
        switch RangeVerdict(head, to: asked, callerAsksForRange: asksForRange) {
        case .whole where asked == nil:
            try super.validate(head)
            state.withLock { state in
                state.validator = asksForRange || head.hasContentCoding ? nil : StrongValidator(head)
                state.total = asksForRange ? nil : head.lengthOfWhole
            }
        case .rest(let total):
            try super.validate(head)
            state.withLock { $0.total = total }
        case .complete: state.withLock { $0.isComplete = true }
        case .notTheFile, .unaskedPart:
            try super.validate(head)
            throw RequestError(.unacceptableStatus, stage: .validate, head: head)
        case .whole, .beginning, .askForWhole:
            throw RequestError(
                .malformedResponse, stage: .validate, head: head,
                reason: "the server does not send the rest of the file whose beginning was written")
        }
    }

    /// Returns the number of bytes, if they have the digest that they must have.
    override func decode(_ response: TransportResponse) async throws -> Int64 {
        let isRight = try await queue.run { [self] in digest.map { $0.digest == checksum?.bytes } ?? true }
        guard isRight else {
            throw RequestError(
                .digestMismatch, stage: .decode, head: response.head,
                reason: "what was written does not have the digest that --checksum names")
        }
        return state.withLock { $0.written }
    }

    /// Asks the retry policy, unless the rest cannot be asked for. An attempt that brought bytes restarts the count.
    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        let (canGoOn, hasGrown) = state.withLock { state in
            defer { state.hasGrown = false }
            return (state.written == 0 || state.validator != nil, state.hasGrown)
        }
        guard canGoOn else { return .stop }
        guard hasGrown else { return await super.retryDecision(after: failure) }
        return await super.retryDecision(after: failure.asFirst).restarting
    }
}
