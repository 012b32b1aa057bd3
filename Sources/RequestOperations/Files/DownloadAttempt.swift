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
