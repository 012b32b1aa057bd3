/// What an operation uploads, over all its attempts.
///
/// Everything that asks for files runs on the queue of the upload, because a disk may block.
final class Upload: Sendable {
    private enum Way: Sendable {
        case plain(expectsContinue: Bool, isChunked: Bool)
        case tus(TusUpload)
    }

    private let content: UploadContent
    private let way: Way
    private let queue: DispatchQueue
    private let files: UnchangedFiles

    init(_ content: UploadContent, to url: URL?, _ uploadProtocol: UploadProtocol) {
        let queue = DispatchQueue(label: "RequestOperations.Upload")
        let files = UnchangedFiles(content.files)
        self.content = content
        self.queue = queue
        self.files = files
        way =
            switch uploadProtocol.kind {
            case .plain(let expectsContinue, let isChunked):
                .plain(expectsContinue: expectsContinue, isChunked: isChunked)
            case .tus(let options):
                .tus(TusUpload(content, to: url, options, on: queue, files))
            }
    }

    /// The upload by tus; `nil` for an upload in one request.
    var tus: TusUpload? {
        if case .tus(let tus) = way { tus } else { nil }
    }

    /// Makes the task of an attempt.
    ///
    /// - Throws: A `RequestError`, if a file cannot be read or has changed since the first attempt.
    func task(for request: URLRequest, _ configuration: RequestConfiguration) async throws -> TransportTask {
        try await queue.run { [self] in
            try files.check()
            switch way {
            case .plain(let expectsContinue, let isChunked):
                return try plainTask(for: request, expectsContinue: expectsContinue, isChunked: isChunked)
            case .tus(let tus):
                // The bodies are those of the requests that the upload makes.
                var task = TransportTask.upload(request, from: RequestBody.none)
                task.execution = .perform { task, transport, onHead in
                    try await tus.perform(task, configuration, over: PartTransport(transport), onHead)
                }
                return task
            }
        }
    }

    private func plainTask(
        for request: URLRequest, expectsContinue: Bool, isChunked: Bool
    ) throws -> TransportTask {
        var request = request
        if let type = content.contentType, request.value(forHTTPHeaderField: "Content-Type") == nil {
            request.setValue(type, forHTTPHeaderField: "Content-Type")
        }
        if expectsContinue { request.setValue("100-continue", forHTTPHeaderField: "Expect") }
        var task = TransportTask.upload(request, from: try content.makeBody(isChunked: isChunked))
        // A body in chunks has no length for the transport, but this side may know it.
        let size = isChunked ? try content.size : nil
        task.execution = .perform { [queue, files] task, transport, onHead in
            var sent = task
            sent.execution = .standard
            if let listener = task.onProgress { sent.onProgress = { listener($0.ofUpload(of: size)) } }
            let response = try await transport.perform(sent, onHead: onHead)
            // A file that changed while it was sent is on the server as a mixture.
            try await queue.run { try files.checkAfterSending() }
            return response
        }
        return task
    }
}

/// A transport whose errors name the request that failed. It is one of several that an attempt sends.
private struct PartTransport: Transport {
    private let transport: any Transport

    init(_ transport: any Transport) {
        self.transport = transport
    }

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        do {
            return try await transport.perform(task, onHead: onHead)
        } catch {
            throw error.ofPart(task.request)
        }
    }
}

extension Error {
    fileprivate func ofPart(_ request: URLRequest) -> any Error {
        switch self {
        case let error as RequestError: return error.ofPart(request)
        case var failure as TransferFailure:
            failure.error = failure.error.ofPart(request)
            return failure
        default: return self
        }
    }
}

/// Files that must stay as they are from the first attempt of an upload to the last.
final class UnchangedFiles: Sendable {
    private let files: [URL]
    /// The stamps of the first attempt; `nil` before.
    private let stamps = Locked<[FileStamp]?>(nil)

    init(_ files: [URL]) {
        self.files = files
    }

    /// Compares the stamps with those of the first ``check()`` after the last byte was sent. A file that was removed by
    /// then does not count. Blocks on the disk.
    ///
    /// - Throws: As ``check()``.
    func checkAfterSending() throws {
        guard let first = stamps.withLock({ $0 }) else { return }
        for (file, stamp) in zip(files, first) where access(file.path, F_OK) == 0 {
            if try FileStamp(of: file) != stamp { throw Self.changed }
        }
    }

    /// Takes the stamps in, or compares them with those of the first call. Blocks on the disk.
    ///
    /// - Throws: A `RequestError` with the code `fileChanged`, or `unencodableBody` if a file cannot be read.
    func check() throws {
        guard !files.isEmpty else { return }
        let present = try files.map { try FileStamp(of: $0) }
        let first = stamps.withLock { stamps in
            stamps = stamps ?? present
            return stamps
        }
        if present != first { throw Self.changed }
    }

    private static var changed: RequestError {
        RequestError(
            .fileChanged, stage: .makeTask, reason: "a file of the upload has changed since the first attempt")
    }
}

extension RequestError.Code {
    /// A file of an upload has changed since the first attempt, so what was sent before does not belong to it.
    public static let fileChanged = Self("fileChanged")
}

extension TransferProgress {
    /// The progress of the request's body alone, if its length is known. The response to an upload is not what one waits for.
    var ofBodySent: TransferProgress {
        guard let bytesToSend else { return self }
        return TransferProgress(
            bytesSent: min(bytesSent, bytesToSend), bytesToSend: bytesToSend, bytesToReceive: 0)
    }

    /// The progress of an upload, of which a request has all the rest.
    ///
    /// The length of the response counts as soon as it is known. Until then it counts as nothing, so that the progress of
    /// the upload has a total while it is sent.
    ///
    /// - Parameters:
    ///   - offset: How many bytes the server had before the request.
    ///   - size: The number of bytes of the whole upload; `nil` if it is unknown.
    func ofUpload(from offset: Int64 = 0, of size: Int64?) -> TransferProgress {
        var progress = self
        progress.bytesToSend = size ?? bytesToSend
        // A transport may count the framing of chunks.
        progress.bytesSent = min(bytesSent + offset, progress.bytesToSend ?? .max)
        if progress.bytesToSend != nil { progress.bytesToReceive = bytesToReceive ?? bytesReceived }
        return progress
    }
}
