/// An operation that downloads one segment of a file. It has slots and retries of its own.
// Unchecked, as its superclass is. The lock of `segmentState` guards what changes.
final class SegmentOperation: URLRequestOperation<Void>, @unchecked Sendable {
    private struct State {
        /// The number of the attempt that may write. An abandoned attempt may still run.
        var number = 0
        /// What that attempt asked for.
        var asked: RangeRequest?
        /// The last head that was accepted.
        var head: ResponseHead?
        /// Whether a new URL was asked for and no byte has come since.
        var hasRenewedURL = false
        /// Whether bytes have come since the last failure.
        var hasGrown = false
        /// What the last response has refused.
        var refusal: Refusal?
    }

    /// A response without the bytes of the segment, while others may still get theirs.
    enum Refusal {
        /// This connection or this part is refused.
        case refused
        /// The response says that the file has changed, or that there are no ranges. If no other response says otherwise, the
        /// file is asked for as a whole.
        case anotherState
    }

    private let segment: PartialFile
    /// The request for all that the segment lacked at first.
    private let missing: RangeRequest
    /// Where the segment ends when it is complete.
    private let end: Int64
    private let owner: DownloadOperation
    private let download: Download
    /// The attempt of the download that the segment belongs to.
    private let attemptOfDownload: Int
    private let segmentState = Locked(State())

    init(_ missing: MissingSegment, of owner: DownloadOperation, in download: Download, attempt: Int) {
        (segment, self.missing) = missing
        end = missing.asked.offset + (missing.asked.length ?? 0)
        self.owner = owner
        self.download = download
        attemptOfDownload = attempt
        var configuration = owner.configuration
        // These are matters of the whole download.
        configuration.deadline = nil
        configuration.onProgress = nil
        super.init(owner.request, decoder: ResponseDecoder { _ in }, configuration: configuration)
    }

    /// Why the segment failed, if the server has refused it.
    var refusal: Refusal? { segmentState.withLock { $0.refusal } }

    // MARK: Stages

    override func process(_ request: URLRequest) async throws -> URLRequest {
        try await owner.process(request)
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        var request = request
        let (number, asked) = try await download.queue.run { [self] in try begin() }
        if let head = segmentState.withLock({ $0.head }), asked.length == 0 {
            // The last attempt failed after the last byte.
            return .custom(request) { _, _, onHead in
                try onHead(head)
                return TransportResponse(head: head)
            }
        }
        request.setDefault("identity", for: "Accept-Encoding")
        asked.ask(in: &request)
        return .stream(request) { [self] piece in
            try await download.queue.run { [self] in try take(piece, in: number) }
        }
    }

    /// Begins an attempt. Called on the queue of the download.
    private func begin() throws -> (Int, RangeRequest) {
        try download.check(attemptOfDownload)
        var asked = missing
        asked.offset = segment.end
        asked.length = end - segment.end
        return segmentState.withLock { [asked] state in
            state.number += 1
            state.asked = asked
            state.refusal = nil
            return (state.number, asked)
        }
    }

    /// Appends bytes. Called on the queue of the download.
    private func take(_ piece: Data, in number: Int) throws {
        try download.check(attemptOfDownload)
        guard segmentState.withLock({ $0.number }) == number else { throw CancellationError() }
        guard segment.end + Int64(piece.count) <= end else {
            throw RequestError(.malformedResponse, stage: .transfer, reason: "more bytes arrived than were requested")
        }
        try segment.append(piece)
        segmentState.withLock { state in
            state.hasRenewedURL = false
            state.hasGrown = true
        }
        download.report()
    }

    override func validate(_ head: ResponseHead) throws {
        let asked = segmentState.withLock { $0.asked }
        // It is the head of an earlier response.
        if asked?.length == 0 { return }
        switch RangeVerdict(head, to: asked) {
        case .rest:
            try owner.validate(head)
            segmentState.withLock { $0.head = head }
        case .notTheFile:
            if [403, 404, 429].contains(head.status) { segmentState.withLock { $0.refusal = .refused } }
            try owner.validate(head)
            throw RequestError(.unacceptableStatus, stage: .validate, head: head)
        case .whole:
            let refusal: Refusal = isOfKnownOrNewState(head) ? .anotherState : .refused
            segmentState.withLock { $0.refusal = refusal }
            throw RequestError(
                .malformedResponse, stage: .validate, head: head,
                reason: "the response to the request for a segment is not a part of the file")
        case .beginning, .complete, .askForWhole, .unaskedPart:
            download.state.withLock { $0.step.noteChange() }
            throw RequestError(
                .malformedResponse, stage: .validate, head: head, reason: "the file changed between its segments")
        }
    }

    /// Whether a response without a range is the file in a state that it may have: it names another state, or has the length
    /// of the file. Anything else, such as a page that says "too many connections", never becomes the file.
    private func isOfKnownOrNewState(_ head: ResponseHead) -> Bool {
        if let state = StrongValidator(head), state != missing.validator { return true }
        return head.lengthOfWhole == missing.total
    }

    override func validate(_ response: TransportResponse) async throws {
        guard try await download.queue.run({ [segment] in segment.end }) == end else {
            throw RequestError(
                .truncatedBody, stage: .transfer, head: response.head, reason: "a part of the segment is missing")
        }
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        // A new URL may be asked for again when bytes have come since the last time.
        if configuration.retryPolicy.maximumRetries > 0, owner.expireURL(after: failure, isOneOfSeveral: true),
            !segmentState.withLock({ state in
                defer { state.hasRenewedURL = true }
                return state.hasRenewedURL
            })
        {
            return .retry(after: .zero)
        }
        // As in the download, an attempt that brought bytes does not count as a failure of the segment.
        let hasGrown = segmentState.withLock { state in
            defer { state.hasGrown = false }
            return state.hasGrown
        }
        guard hasGrown else { return await super.retryDecision(after: failure) }
        return await super.retryDecision(after: failure.asFirst).restarting
    }
}
