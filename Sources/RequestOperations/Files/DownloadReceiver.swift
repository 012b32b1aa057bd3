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
