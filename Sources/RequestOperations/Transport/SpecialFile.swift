/// A destination that is no regular file, such as a pipe or a device. It is written in place and never removed.
///
/// Opening it and writing to it can take as long as the reader likes. A Dispatch thread does that work. The Task waits
/// without blocking a thread, and no longer than until it is cancelled. The Dispatch thread stays until the system call
/// returns.
// Unchecked: `file` is used only on the queue, and in `deinit`, when nothing refers to this object any more.
final class SpecialFile: @unchecked Sendable {
    private let path: String
    private let queue = DispatchQueue(label: "RequestOperations.SpecialFile")
    private var file: Int32 = -1

    /// Returns `nil` for a regular file, for a folder, and if nothing exists at the URL.
    init?(_ url: URL) {
        var status = stat()
        guard url.isFileURL, stat(url.path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFDIR: return nil
        default: path = url.path
        }
    }

    deinit {
        if file >= 0 { close(file) }
    }

    /// Writes all of the bytes.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`, or a `CancellationError`. The bytes may still have been
    ///   written.
    func write(_ data: Data) async throws {
        try await onQueue { [self] in
            try openOnce()
            try withoutSignalOfBrokenPipe { try data.withUnsafeBytes { try writeAll($0, to: file) } }
        }
    }

    /// Closes the destination, so that a reader sees the end. It opens the destination first if nothing was written.
    ///
    /// - Throws: The same errors as ``write(_:)``.
    func finish() async throws {
        try await onQueue { [self] in
            try openOnce()
            defer { file = -1 }
            guard close(file) == 0 else { throw RequestError.fileFailed("closed") }
        }
    }

    private func openOnce() throws {
        guard file < 0 else { return }
        file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw RequestError.fileFailed("opened") }
    }

    private func onQueue(_ body: @escaping @Sendable () throws -> Void) async throws {
        let answer = Answer<Void>()
        queue.async { answer.resume(with: Result(catching: body)) }
        try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            answer.resume(with: .failure(CancellationError()))
        }
    }
}
