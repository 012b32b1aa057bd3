/// One attempt of a download: it sends the request and writes what comes.
struct DownloadAttempt: Sendable {
    let download: Download
    /// The number among the attempts of the download.
    let number: Int
    /// What was asked for; `nil` if it was the whole.
    let asked: RangeRequest?
    /// Whether the caller's own request has a `Range`.
    let callerAsksForRange: Bool
    /// Whether a later attempt may go on from the bytes of this one.
    let mayResume: Bool
    /// The URL or key of the file.
    let subject: String

    /// The head of a response that cannot be used is rejected with this error.
    private struct AskForWhole: Error {}

    /// Sends the request. If the response to a range request is of no use, asks for the whole at once.
    func perform(
        _ task: TransportTask, over transport: any Transport,
        _ onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        do {
            return try await send(task, asking: asked, over: transport, onHead)
        } catch let failure as TransferFailure where failure.error is AskForWhole {
            var whole = task
            RangeRequest.withdraw(from: &whole.request)
            return try await send(whole, asking: nil, over: transport, onHead)
        }
    }

    private func send(
        _ task: TransportTask, asking asked: RangeRequest?, over transport: any Transport,
        _ onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        let receiver = DownloadReceiver(of: self, in: download, asked)
        let listener = task.onProgress
        download.noteListener(listener)
        var task = task
        task.execution = .standard
        task.destination = .stream { piece in try await receiver.take(piece) }
        if let listener {
            task.onProgress = { progress in receiver.report(progress, to: listener) }
        }
        var response = try await transport.perform(task) { head in
            let verdict = try verdict(on: head, asked)
            try onHead(head)
            // The validation may accept any status, but the file is only the content of a successful response.
            guard verdict != .notTheFile else {
                throw RequestError(.unacceptableStatus, stage: .validate, head: head)
            }
            receiver.accept(head, verdict, at: asked?.offset ?? 0)
        }
        response.file = try await receiver.finish()
        if let size = asked?.offset, download.isComplete {
            listener?(TransferProgress(bytesReceived: size, bytesToReceive: size))
        }
        return response
    }

    /// Judges a head, and rejects one that nobody else needs to see.
    private func verdict(on head: ResponseHead, _ asked: RangeRequest?) throws -> RangeVerdict {
        let verdict = RangeVerdict(head, to: asked, callerAsksForRange: callerAsksForRange)
        switch verdict {
        case .askForWhole:
            throw AskForWhole()
        case .unaskedPart:
            throw RequestError(
                .malformedResponse, stage: .validate, head: head, reason: "a part came that was not asked for")
        case .complete:
            download.noteComplete()
        case .whole, .beginning, .rest, .notTheFile:
            break
        }
        return verdict
    }
}

/// Takes the response to one request of a download.
final class DownloadReceiver: Sendable {
    private enum State {
        case waiting
        /// The head was accepted.
        case accepted(ResponseHead, RangeVerdict, offset: Int64)
        /// The file takes the content.
        case open(ResponseHead, RangeVerdict, PartialFile, offset: Int64, Content?)
    }

    /// The digest of the content of this response alone.
    private struct Content: Sendable {
        let expected: FileDigest
        let digest: SHA2
    }

    private let attempt: DownloadAttempt
    private let download: Download
    /// Whether only a part of what is missing was asked for.
    private let isForPart: Bool
    private let state = Locked(State.waiting)

    init(of attempt: DownloadAttempt, in download: Download, _ asked: RangeRequest?) {
        self.attempt = attempt
        self.download = download
        isForPart = asked?.length != nil
    }

    /// Notes the head that was accepted.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - verdict: What the response means for the file.
    ///   - offset: How many bytes are there.
    func accept(_ head: ResponseHead, _ verdict: RangeVerdict, at offset: Int64) {
        let offset = verdict.beginsFile ? 0 : offset
        state.withLock { $0 = .accepted(head, verdict, offset: offset) }
    }

    /// Writes the next bytes of the content.
    func take(_ piece: Data) async throws {
        try await download.queue.run { [self] in
            let (_, verdict, file, content) = try opened()
            try download.check(attempt.number)
            // The content of a 416 is a message for people.
            guard verdict != .complete else { return }
            try file.append(piece)
            content?.digest.update(piece)
        }
    }

    /// Ends the response after its last byte. Returns the partial file.
    func finish() async throws -> URL {
        try await download.queue.run { [self] in
            let (head, verdict, file, content) = try opened()
            try download.check(attempt.number)
            if verdict != .complete, let content, content.digest.digest != content.expected.bytes {
                try download.spoil(file)
                throw RequestError(
                    .digestMismatch, stage: .transfer, head: head,
                    reason: "the content does not have the \(content.expected.algorithm.rawValue) that the server named"
                )
            }
            try download.checkLength(of: file, head, mayBeShorter: isForPart && verdict != .whole)
            return URL(fileURLWithPath: file.place.file)
        }
    }

    /// Tells a listener how far the whole file has come. Bytes of a response that is not accepted do not count.
    func report(_ progress: TransferProgress, to listener: @Sendable (TransferProgress) -> Void) {
        var progress = progress
        let accepted = state.withLock { state -> (RangeVerdict, Int64)? in
            switch state {
            case .waiting: nil
            case .accepted(_, let verdict, let offset), .open(_, let verdict, _, let offset, _): (verdict, offset)
            }
        }
        guard let (verdict, offset) = accepted else {
            guard progress.bytesToSend != nil else { return }
            (progress.bytesReceived, progress.bytesToReceive) = (0, nil)
            return listener(progress)
        }
        guard verdict != .complete else { return }
        // Segments of a state of the file that is out of date are about to be dropped.
        progress.bytesReceived += verdict.beginsFile ? 0 : offset + download.bytesInSegments
        if isForPart, verdict != .whole {
            progress.bytesToReceive = download.total
        } else {
            progress.bytesToReceive = progress.bytesToReceive.map { $0.adding(offset) }
        }
        listener(progress)
    }

    /// Opens the file when the first bytes come, or at the end. Called on the queue.
    private func opened() throws -> (ResponseHead, RangeVerdict, PartialFile, Content?) {
        switch state.withLock({ $0 }) {
        case .waiting:
            throw RequestError(.unknown, stage: .transfer, reason: "the transport presented no head")
        case .accepted(let head, let verdict, let offset):
            let file = try download.open(for: head, verdict, of: attempt)
            let expected = head.hasContentCoding ? nil : head.field("Content-Digest").flatMap(FileDigest.strongest)
            let content = expected.map { Content(expected: $0, digest: SHA2($0.algorithm.function)) }
            state.withLock { $0 = .open(head, verdict, file, offset: offset, content) }
            return (head, verdict, file, content)
        case .open(let head, let verdict, let file, _, let content):
            return (head, verdict, file, content)
        }
    }
}
