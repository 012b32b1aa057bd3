/// The file that an accepted body is written to.
///
/// Written by one thread at a time: by the Task until it has caught up, then by the delegate side. Closed when the last
/// reference goes, so that a write that runs while the transfer is cancelled never meets the file of somebody else.
// Unchecked: see above; `FileHandle` is not used by two threads at a time.
final class FileSink: @unchecked Sendable {
    let url: URL
    private let handle: FileHandle

    /// Creates or empties the file.
    init(_ url: URL) throws {
        self.url = url
        do {
            // An existing file is emptied in place, which keeps its permissions and follows a symbolic link.
            if !FileManager.default.fileExists(atPath: url.path) {
                guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
                    throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: url.path])
                }
            }
            handle = try FileHandle(forWritingTo: url)
            try handle.truncate(atOffset: 0)
        } catch {
            throw Self.failure(error)
        }
    }

    func write(_ data: Data) throws {
        do { try handle.write(contentsOf: data) } catch { throw Self.failure(error) }
    }

    /// Removes the file of a transfer that failed.
    func remove() {
        // Somebody else may have removed it, which is what is wanted.
        try? FileManager.default.removeItem(at: url)
    }

    private static func failure(_ error: any Error) -> RequestError {
        RequestError(
            .fileFailed, stage: .transfer, underlying: error, reason: "the response could not be written to its file")
    }
}
