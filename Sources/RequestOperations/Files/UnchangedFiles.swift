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
