/// What an operation uploads, over all its attempts.
///
/// Everything that asks for files runs on the queue of the upload, because a disk may block.
final class Upload: Sendable {
    private let content: UploadContent
    private let kind: UploadProtocol.Kind
    /// The upload by tus; `nil` for an upload in one request.
    let tus: TusUpload?
    private let queue = DispatchQueue(label: "RequestOperations.Upload")
    private let files: UnchangedFiles

    init(_ content: UploadContent, to url: URL?, by uploadProtocol: UploadProtocol) {
        self.content = content
        kind = uploadProtocol.kind
        files = UnchangedFiles(content.files)
        tus = if case .tus(let options) = kind { TusUpload(content, to: url, options, on: queue, files) } else { nil }
    }

    /// The request as it is for adapters, events and the retry policy.
    func adjusted(_ request: URLRequest) -> URLRequest {
        var request = request
        request.httpBody = nil
        if tus != nil {
            request.httpMethod = HTTPMethod.put.rawValue
        } else if (request.httpMethod ?? "GET").uppercased() == "GET" {
            request.httpMethod = content.method.rawValue
        }
        return request
    }

    /// Makes the task of an attempt.
    ///
    /// - Throws: A `RequestError`, if a file cannot be read or has changed since the first attempt.
    func task(for request: URLRequest, _ configuration: RequestConfiguration) async throws -> TransportTask {
        try await queue.run { [self] in
            try files.check()
            guard let tus else { return try plainTask(for: request) }
            // The bodies are those of the requests that the upload makes.
            var task = TransportTask.upload(request, from: RequestBody.none)
            task.execution = .perform { task, transport, onHead in
                try await tus.perform(task, configuration, over: transport, onHead)
            }
            return task
        }
    }

    private func plainTask(for request: URLRequest) throws -> TransportTask {
        var request = request
        var isChunked = false
        if case .plain(let expectsContinue, let isInChunks) = kind {
            isChunked = isInChunks
            if expectsContinue { request.setValue("100-continue", forHTTPHeaderField: "Expect") }
        }
        if let type = content.contentType { request.setDefault(type, for: "Content-Type") }
        var task = TransportTask.upload(request, from: try content.makeBody(isChunked: isChunked))
        // A body in chunks has no length for the transport, but this side may know it.
        let size = isChunked ? try content.size : nil
        task.execution = .perform { [queue, files] task, transport, onHead in
            var sent = task
            sent.execution = .standard
            if let listener = task.onProgress { sent.onProgress = { listener($0.ofUpload(of: size)) } }
            let response = try await transport.perform(sent, onHead: onHead)
            // If a file changed while it was sent, the server has old and new bytes mixed.
            try await queue.run { try files.check(isSent: true) }
            return response
        }
        return task
    }
}

/// Files that must stay as they are from the first attempt of an upload to the last.
final class UnchangedFiles: Sendable {
    private let files: [URL]
    /// The stamps of the first attempt.
    private let stamps = Locked<[URL: FileStamp]>([:])

    init(_ files: [URL]) {
        self.files = files
    }

    /// Takes the stamps in, or compares them with those of the first call. Blocks on the disk.
    ///
    /// - Parameter isSent: Whether the last byte was sent. A file that was removed by then does not count.
    /// - Throws: A `RequestError` with the code `fileChanged`, or `unencodableBody` if a file cannot be read.
    func check(isSent: Bool = false) throws {
        let there = files.filter { !isSent || access($0.path, F_OK) == 0 }
        let present = try there.map { ($0, try FileStamp(of: $0)) }
        let first = stamps.withLock { stamps in
            stamps.merge(present) { first, _ in first }
            return stamps
        }
        guard present.allSatisfy({ first[$0] == $1 }) else {
            throw RequestError(
                .fileChanged, stage: .makeTask, reason: "a file of the upload has changed since the first attempt")
        }
    }
}

extension RequestError.Code {
    /// A file of an upload has changed since the first attempt, so the bytes that were sent before do not match it.
    public static let fileChanged = Self("fileChanged")
}

extension TransferProgress {
    /// The progress of the request's body alone, if its length is known. The response to an upload does not count.
    var ofBodySent: TransferProgress {
        guard let bytesToSend else { return self }
        return TransferProgress(
            bytesSent: min(bytesSent, bytesToSend), bytesToSend: bytesToSend, bytesToReceive: 0)
    }

    /// The progress of an upload whose remaining bytes are all in one request.
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
