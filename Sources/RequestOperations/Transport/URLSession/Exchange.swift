/// The Task's side of one transfer. It has the head judged, takes the body to its destination, and reports the ending.
struct Exchange {
    let task: TransportTask
    let transfer: Transfer
    let onHead: @Sendable (ResponseHead) throws -> Void

    /// Thrown when the same request must be sent again on another connection.
    struct DeadConnection: Error {}

    func run() async throws -> TransportResponse {
        defer { transfer.close() }
        if let limit = task.effectiveLimits.idle { transfer.watchIdleTime(limit) }
        let head = try await awaitHead()
        do {
            try onHead(head)
        } catch {
            throw await rejected(error, head)
        }
        let response = try await read(head)
        task.onProgress?(transfer.progress)
        return response
    }

    private func awaitHead() async throws -> ResponseHead {
        while true {
            switch await transfer.next() {
            case .head(let head): return head
            case .progress(let progress): task.onProgress?(progress)
            case .pieces: break  // Come after the head only.
            case .ended(let ending): throw failure(ending, head: nil) ?? DeadConnection()
            }
        }
    }

    /// Reads on within the limits of a rejected body. Then it returns the error that rejected the response.
    private func rejected(_ error: any Error, _ head: ResponseHead) async -> any Error {
        transfer.reject()
        while true {
            switch await transfer.next() {
            case .head, .pieces: break  // The head is told once, and the body not at all.
            case .progress(let progress): task.onProgress?(progress)
            case .ended(.cancelled): return cancelled(head)
            case .ended:
                return TransferFailure(
                    error, head: head, bodyPrefix: transfer.bodyPrefix, bodySize: transfer.progress.bytesReceived,
                    phase: .body, timings: transfer.timings)
            }
        }
    }

    private func read(_ head: ResponseHead) async throws -> TransportResponse {
        switch task.destination {
        case .memory:
            transfer.accept(.memory)
            try await awaitEnd(head) { _ in }
            return response(head, body: transfer.takeBody())
        case .stream(let consume):
            transfer.accept(.consumer)
            try await awaitEnd(head, deliver: consume)
            return response(head)
        case .file(let url):
            if let special = SpecialFile(url) {
                try await write(to: special, head)
            } else {
                try await write(to: url, head)
            }
            return response(head, file: url)
        }
    }

    /// Writes the body to a special file. The write may block, so the Task does it and not the delegate side.
    private func write(to special: SpecialFile, _ head: ResponseHead) async throws {
        transfer.accept(.consumer)
        try await awaitEnd(head, deliver: special.write)
        do { try await special.finish() } catch { throw self.failure(error, head) }
    }

    private func write(to url: URL, _ head: ResponseHead) async throws {
        let sink: FileSink
        do { sink = try FileSink(url) } catch { throw self.failure(error, head) }
        do {
            // The Task writes what has arrived so far. After that the delegate side writes, in order.
            do {
                while let pieces = transfer.handOver(to: sink) { try await pieces.give(to: sink.write) }
            } catch {
                throw self.failure(error, head)
            }
            try await awaitEnd(head) { _ in }
            do {
                try sink.endWriting()
                try sink.finish()
            } catch {
                throw self.failure(error, head)
            }
        } catch {
            sink.discard()
            throw error
        }
    }

    private func awaitEnd(_ head: ResponseHead, deliver: (Data) async throws -> Void) async throws {
        while true {
            switch await transfer.next() {
            case .head: break  // Told once, before.
            case .progress(let progress): task.onProgress?(progress)
            case .pieces(let pieces):
                do {
                    try await pieces.give { piece in
                        try Task.checkCancellation()
                        try await deliver(piece)
                    }
                } catch {
                    throw self.failure(error, head)
                }
            case .ended(let ending):
                if let failure = failure(ending, head: head) { throw failure }
                return
            }
        }
    }

    private func response(_ head: ResponseHead, body: Data = Data(), file: URL? = nil) -> TransportResponse {
        TransportResponse(
            head: head, body: body, file: file, bodySize: transfer.progress.bytesReceived, timings: transfer.timings)
    }

    /// The failure of a consumer or a file. A cancel stays a cancel.
    private func failure(_ error: any Error, _ head: ResponseHead) -> any Error {
        if error is CancellationError, Task.isCancelled { return cancelled(head) }
        return TransferFailure(
            error, head: head, bodySize: transfer.progress.bytesReceived, phase: .body, timings: transfer.timings)
    }

    private func cancelled(_ head: ResponseHead?) -> any Error {
        let failure = TransferFailure(
            CancellationError(), head: head, bodyPrefix: transfer.bodyPrefix, bodySize: transfer.progress.bytesReceived,
            phase: head == nil ? transfer.reached : .body, timings: transfer.timings)
        task.trace?.note(failure)
        return failure.error
    }

    /// The error of an ending, or `nil` if the transfer succeeded or was cut. A dead connection does not reach the
    /// caller.
    private func failure(_ ending: TransferState.Ending, head: ResponseHead?) -> (any Error)? {
        switch ending {
        case .whole, .cut: return nil
        case .cancelled: return cancelled(head)
        case .deadConnection: return DeadConnection()
        case .failed(let error, let phase):
            return TransferFailure(
                error, head: head, bodySize: transfer.progress.bytesReceived,
                phase: head == nil ? phase ?? transfer.reached : .body, timings: transfer.timings)
        }
    }
}

extension Inbox.Pieces {
    /// Gives out the pieces in order. The part in a file comes in pieces of 64 KiB.
    func give(to body: (Data) async throws -> Void) async throws {
        for chunk in chunks { try await body(chunk) }
        if let spilled { try await spilled.file.read(spilled.range, body) }
    }
}
