/// A destination that is no regular file: a pipe, a device. It is written to as it is, and never removed.
///
/// Opening it and writing to it may take as long as its reader likes. That happens on a thread of Dispatch, for which a Task
/// waits that is not blocked, and no longer than until it is cancelled; the thread stays until the system lets it go.
// Unchecked: `file` is touched on the queue, and when nothing refers to this any more.
final class SpecialFile: @unchecked Sendable {
    private let path: String
    private let queue = DispatchQueue(label: "RequestOperations.SpecialFile")
    private var file: Int32 = -1

    /// `nil` for a regular file, a folder, and what does not exist.
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

    /// Writes bytes, all of them.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`, or a `CancellationError`; the bytes may be written even so.
    func write(_ data: Data) async throws {
        try await onQueue { [self] in
            try openOnce()
            try withoutSignalOfBrokenPipe { try data.withUnsafeBytes { try writeAll($0, to: file) } }
        }
    }

    /// Ends what a reader sees, also if nothing was written.
    ///
    /// - Throws: As ``write(_:)``.
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

    /// A pipe without a reader is an error of the write, and must not end the process.
    private func withoutSignalOfBrokenPipe<Result>(_ body: () throws -> Result) rethrows -> Result {
        var brokenPipe = sigset_t()
        sigemptyset(&brokenPipe)
        sigaddset(&brokenPipe, SIGPIPE)
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &brokenPipe, &before)
        defer {
            var pending = sigset_t()
            sigpending(&pending)
            var number: Int32 = 0
            if sigismember(&pending, SIGPIPE) == 1, sigismember(&before, SIGPIPE) == 0 {
                // It came of this write: taken here, before the thread hears of signals again.
                sigwait(&brokenPipe, &number)
            }
            pthread_sigmask(SIG_SETMASK, &before, nil)
        }
        return try body()
    }
}
