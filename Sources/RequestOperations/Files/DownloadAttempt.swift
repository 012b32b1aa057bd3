/// One attempt of a download: it sends the request and writes what comes.
struct DownloadAttempt: Sendable {
    let download: Download
    /// The number among the attempts of the download.
    let number: Int
    /// What was requested; `nil` for the whole file.
    let asked: RangeRequest?
    /// Whether the caller's own request has a `Range`.
    let callerAsksForRange: Bool
    /// Whether a later attempt may go on from the bytes of this one.
    let mayResume: Bool
    /// The URL or key of the file.
    let subject: String

    /// The head of a response that cannot be used is rejected with this error.
    private struct AskForWhole: Error {}

    /// Sends the request. If the response to a range request is of no use, requests the whole file at once.
    func perform(
        _ task: TransportTask, over transport: any Transport,
        _ onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        do {
            return try await send(task, asking: asked, over: transport, onHead)
        } catch let failure as TransferFailure where failure.error is AskForWhole {
            var whole = task
            for field in ["Range", "If-Range"] { whole.request.setValue(nil, forHTTPHeaderField: field) }
            return try await send(whole, asking: nil, over: transport, onHead)
        }
    }

    private func send(
        _ task: TransportTask, asking asked: RangeRequest?, over transport: any Transport,
        _ onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        let receiver = DownloadReceiver(of: self, asked)
        let listener = task.onProgress
        download.state.withLock { $0.listener = listener }
        var task = task
        task.execution = .standard
        task.destination = .stream { piece in try await receiver.take(piece) }
        if let listener {
            task.onProgress = { progress in receiver.report(progress, to: listener) }
        }
        var response = try await transport.perform(task) { head in
            let verdict = RangeVerdict(head, to: asked, callerAsksForRange: callerAsksForRange)
            // Nobody else needs to see a head that is of no use.
            if verdict == .askForWhole { throw AskForWhole() }
            if verdict == .unaskedPart {
                throw RequestError(
                    .malformedResponse, stage: .validate, head: head, reason: "a part arrived that was not requested")
            }
            if verdict == .complete { download.state.withLock { $0.isComplete = true } }
            try onHead(head)
            // The validation may accept any status, but the file is only the content of a successful response.
            if verdict == .notTheFile { throw RequestError(.unacceptableStatus, stage: .validate, head: head) }
            receiver.accept(head, verdict)
        }
        response.file = try await receiver.finish()
        if let size = asked?.offset, download.state.withLock({ $0.isComplete }) {
            listener?(TransferProgress(bytesReceived: size, bytesToReceive: size))
        }
        return response
    }
}

/// Takes the response to one request of a download.
private final class DownloadReceiver: Sendable {
    /// A response whose head was accepted.
    private struct Accepted {
        let head: ResponseHead
        let verdict: RangeVerdict
        /// The file that takes the content; `nil` before the first bytes.
        var file: PartialFile?
        /// The digest that the content of this response alone must have, and the one that it has so far.
        var content: (expected: FileDigest, digest: SHA2)?
    }

    private let attempt: DownloadAttempt
    private let asked: RangeRequest?
    private let state = Locked<Accepted?>(nil)

    private var download: Download { attempt.download }

    init(of attempt: DownloadAttempt, _ asked: RangeRequest?) {
        self.attempt = attempt
        self.asked = asked
    }

    /// Notes the head that was accepted, and what the response means for the file.
    func accept(_ head: ResponseHead, _ verdict: RangeVerdict) {
        state.withLock { $0 = Accepted(head: head, verdict: verdict) }
    }

    /// Whether the response has only a part of what is missing.
    private func isPart(_ verdict: RangeVerdict) -> Bool { asked?.length != nil && verdict != .whole }

    /// Writes the next bytes of the content.
    func take(_ piece: Data) async throws {
        try await download.queue.run { [self] in
            try download.check(attempt.number)
            let (accepted, file) = try opened()
            // The content of a 416 is a message for people.
            guard accepted.verdict != .complete else { return }
            try file.append(piece)
            accepted.content?.digest.update(piece)
        }
    }

    /// Ends the response after its last byte. Returns the partial file.
    func finish() async throws -> URL {
        try await download.queue.run { [self] in
            try download.check(attempt.number)
            let (accepted, file) = try opened()
            if accepted.verdict != .complete, let (expected, digest) = accepted.content, digest.digest != expected.bytes
            {
                try download.spoil(file)
                throw RequestError(
                    .digestMismatch, stage: .transfer, head: accepted.head,
                    reason: "the content does not have the \(expected.algorithm.rawValue) that the server named")
            }
            try download.checkLength(of: file, accepted.head, mayBeShorter: isPart(accepted.verdict))
            return URL(fileURLWithPath: file.place.file)
        }
    }

    /// Reports to a listener how far the whole file has come. Bytes of a response that is not accepted do not count.
    func report(_ progress: TransferProgress, to listener: @Sendable (TransferProgress) -> Void) {
        var progress = progress
        guard let verdict = state.withLock({ $0?.verdict }) else {
            guard progress.bytesToSend != nil else { return }
            (progress.bytesReceived, progress.bytesToReceive) = (0, nil)
            return listener(progress)
        }
        guard verdict != .complete else { return }
        let offset = verdict.beginsFile ? 0 : asked?.offset ?? 0
        download.state.withLock { state in
            // Segments of a state of the file that is out of date are about to be dropped.
            if !verdict.beginsFile { progress.bytesReceived += offset + state.bytesInSegments }
            progress.bytesToReceive =
                isPart(verdict) ? state.record?.total : progress.bytesToReceive.map { $0.adding(offset) }
        }
        listener(progress)
    }

    /// Opens the file when the first bytes come, or at the end. Called on the queue.
    private func opened() throws -> (Accepted, PartialFile) {
        guard var accepted = state.withLock({ $0 }) else {
            throw RequestError(.unknown, stage: .transfer, reason: "the transport presented no head")
        }
        if let file = accepted.file { return (accepted, file) }
        let head = accepted.head
        let file = try download.open(for: head, accepted.verdict, of: attempt)
        accepted.file = file
        if !head.hasContentCoding, let expected = head.field("Content-Digest").flatMap(FileDigest.strongest) {
            accepted.content = (expected, SHA2(expected.algorithm.function))
        }
        let opened = accepted
        state.withLock { $0 = opened }
        return (accepted, file)
    }
}
