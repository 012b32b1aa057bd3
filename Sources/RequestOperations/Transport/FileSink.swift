/// The file that an accepted response is written to: created or emptied at once, removed unless it is finished.
///
/// An existing file is emptied in place, which keeps its permissions and follows a symbolic link. The descriptor is closed
/// when the last reference goes, so that a write that runs while the transfer is cancelled never meets the file of
/// somebody else. A device or a pipe is written to and never removed.
// Unchecked: the transports see to it that one thread writes at a time; who finishes or discards is guarded by `outcome`.
final class FileSink: @unchecked Sendable {
    private enum Outcome {
        case open
        case kept
        case discarded
    }

    let url: URL
    private let file: Int32
    private let isRegular: Bool
    private let outcome = Locked(Outcome.open)

    /// - Throws: A `RequestError` with the code `fileFailed`.
    init(_ url: URL) throws {
        guard url.isFileURL else {
            throw RequestError(.fileFailed, stage: .transfer, reason: "the destination's URL is not that of a file")
        }
        self.url = url
        file = open(url.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw Self.error("opened") }
        var status = stat()
        isRegular = fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    deinit {
        discard()
        close(file)
    }

    /// Appends bytes, all of them.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = writeBytes(file, rest.baseAddress, rest.count)
            if count < 0 {
                guard errno == EINTR else { throw Self.error("written") }
            } else {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    /// Appends bytes, all of them.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`.
    func write(_ data: Data) throws {
        try data.withUnsafeBytes { try write($0) }
    }

    /// Keeps the file. Some file systems report a full disk only here.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`; the file is removed then.
    func finish() throws {
        // Closing a duplicate reports what closing the file would, and leaves it open for a write that is still under way.
        let duplicate = dup(file)
        guard duplicate >= 0, close(duplicate) == 0 else {
            let error = Self.error("closed")
            discard()
            throw error
        }
        outcome.withLock { $0 = .kept }
    }

    /// Removes the file, unless it is kept.
    func discard() {
        let isOpen = outcome.withLock { outcome in
            defer { if case .open = outcome { outcome = .discarded } }
            return if case .open = outcome { true } else { false }
        }
        if isOpen, isRegular { unlink(url.path) }
    }

    private static func error(_ verb: String) -> RequestError {
        let cause = POSIXError.Code(rawValue: errno).map { POSIXError($0) }
        return RequestError(
            .fileFailed, stage: .transfer, underlying: cause,
            reason: "the destination cannot be \(verb): \(String(cString: strerror(errno)))")
    }
}
