extension SessionTransfer {
    /// Thrown when the same request must be sent again on another connection.
    struct DeadConnection: Error {}

    /// The Task's side of the transfer: passes the head to its judge, takes the body to its destination, and returns the
    /// response.
    func respond() async throws -> TransportResponse {
        defer { close() }
        if let limit = limits.idle { watchIdleTime(limit) }
        let head = try await awaitHead()
        do {
            try onHead(head)
        } catch {
            reject()
            // Only a cancel counts more than the error that rejected the response.
            if case .cancelled = try await awaitEnd() { throw failure(CancellationError(), head) }
            throw failure(error, head)
        }
        let ending: SessionTransferState.Ending
        do { ending = try await receiveBody() } catch { throw failure(error, head) }
        if let failure = failure(of: ending, head) { throw failure }
        let (progress, body) = state.withLock { ($0.progress, $0.inbox.takeBody()) }
        task.onProgress?(progress)
        let file: URL? = if case .file(let url) = task.destination { url } else { nil }
        return TransportResponse(head: head, body: body, file: file, bodySize: progress.bytesReceived, timings: timings)
    }

    private func awaitHead() async throws -> ResponseHead {
        while true {
            switch await next() {
            case .head(let head): return head
            case .progress(let progress): task.onProgress?(progress)
            case .pieces: break  // Come after the head only.
            case .ended(let ending): throw failure(of: ending, nil) ?? DeadConnection()
            }
        }
    }

    /// Takes an accepted body to its destination.
    private func receiveBody() async throws -> SessionTransferState.Ending {
        switch task.destination {
        case .memory:
            state.withLock { $0.accept(.memory) }
            return try await awaitEnd()
        case .stream(let consume):
            state.withLock { $0.accept(.consumer) }
            return try await awaitEnd(deliver: consume)
        case .file(let url):
            guard let special = SpecialFile(url) else { return try await write(to: FileSink(url)) }
            // A write may block, so the Task does it and not the delegate side.
            state.withLock { $0.accept(.consumer) }
            let ending = try await awaitEnd(deliver: special.write)
            if case .whole = ending { try await special.finish() }
            return ending
        }
    }

    private func write(to sink: FileSink) async throws -> SessionTransferState.Ending {
        defer { sink.discard() }
        // The Task writes what has arrived so far. After that the delegate side writes, in order.
        while let pieces = state.withLock({ $0.handOver(to: sink) }) {
            try await pieces.deliver(to: sink.file.append)
        }
        let ending = try await awaitEnd()
        if case .whole = ending { try sink.finish() }
        return ending
    }

    /// Waits for the end, and delivers the pieces of the body that come before it.
    private func awaitEnd(deliver: (Data) async throws -> Void = { _ in }) async throws -> SessionTransferState.Ending {
        while true {
            switch await next() {
            case .head: break  // It came before.
            case .progress(let progress): task.onProgress?(progress)
            case .pieces(let pieces):
                try await pieces.deliver { piece in
                    try Task.checkCancellation()
                    try await deliver(piece)
                }
            case .ended(let ending): return ending
            }
        }
    }

    /// The error of an ending, or `nil` if the transfer succeeded or was cut. A dead connection does not reach the
    /// caller.
    private func failure(of ending: SessionTransferState.Ending, _ head: ResponseHead?) -> (any Error)? {
        switch ending {
        case .whole, .cut: nil
        case .cancelled: failure(CancellationError(), head)
        case .deadConnection: DeadConnection()
        case .failed(let error, let phase): failure(error, head, phase: phase)
        }
    }

    /// The failure with an error. A cancel stays a cancel.
    private func failure(_ error: any Error, _ head: ResponseHead?, phase: TransferFailure.Phase? = nil) -> any Error {
        let (prefix, size, reached) = state.withLock { ($0.bodyPrefix, $0.progress.bytesReceived, $0.reached) }
        let failure = TransferFailure(
            error, head: head, bodyPrefix: prefix, bodySize: size, phase: head == nil ? phase ?? reached : .body,
            timings: timings)
        guard error is CancellationError, Task.isCancelled else { return failure }
        task.trace?.note(failure)
        return error
    }
}

extension Inbox.Pieces {
    /// Delivers the pieces in order. The part in a file comes in pieces of 64 KiB.
    func deliver(to body: (Data) async throws -> Void) async throws {
        for chunk in chunks { try await body(chunk) }
        if let spilled { try await spilled.file.read(spilled.range, body) }
    }
}

extension ResponseHead {
    /// Makes the head of a Foundation response. A response that is not HTTP gets the status 0 and its media type as a
    /// field.
    init(_ response: URLResponse) {
        if let response = response as? HTTPURLResponse {
            self.init(response)
            return
        }
        var fields: [(name: String, value: String)] = []
        if let type = response.mimeType {
            fields.append(("Content-Type", response.textEncodingName.map { "\(type);charset=\($0)" } ?? type))
        }
        // Only a response that was made without a URL has none. Foundation makes no such response.
        self.init(status: 0, url: response.url ?? URL(fileURLWithPath: "/"), fields: fields)
    }

    /// The length of the body, if the head declares it and the body has no content coding.
    var declaredLength: Int64? {
        guard let length = field("Content-Length").flatMap(Int64.init), length >= 0 else { return nil }
        let coding = field("Content-Encoding")
        return coding == nil || coding == "identity" ? length : nil
    }
}
