/// The regular file that an accepted response is written to.
///
/// The file grows under a hidden name in the folder of its destination. It moves to its place when it is complete. So a
/// failed transfer leaves the old file as it was, and two transfers to one destination do not mix. A link is followed.
/// The new file keeps the permissions of the file that it replaces, but not its set-user-ID and set-group-ID bits. The
/// descriptor is closed when the last reference goes. So a write that runs during a cancel never goes to another file.
/// A destination that is no regular file is a ``SpecialFile``.
// Unchecked: the transports let only one thread write at a time. `outcome` guards finishing and discarding.
final class FileSink: @unchecked Sendable {
    private enum Outcome {
        case open
        case kept
        case discarded
    }

    private let file: Int32
    /// The path where the file grows. `destination` is the path where it ends.
    private let hidden: String
    private let destination: String
    private let outcome = Locked(Outcome.open)

    /// - Throws: A `RequestError` with the code `fileFailed`.
    init(_ url: URL) throws {
        guard url.isFileURL else {
            throw RequestError(.fileFailed, stage: .transfer, reason: "the destination's URL is not that of a file")
        }
        destination = try Self.withoutLinks(url.path)
        var old = stat()
        let exists = stat(destination, &old) == 0
        if exists, old.st_mode & S_IFMT == S_IFDIR { errno = EISDIR }
        guard !exists || old.st_mode & S_IFMT != S_IFDIR && access(destination, W_OK) == 0 else {
            throw RequestError.fileFailed("opened")
        }
        let folder = URL(fileURLWithPath: destination).deletingLastPathComponent()
        hidden = folder.appendingPathComponent(".RequestOperations-\(UUID().uuidString)").path
        // Nobody may open the file before it has the permissions of the file that it replaces.
        file = open(hidden, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, exists ? 0o600 : 0o666)
        guard file >= 0 else { throw RequestError.fileFailed("opened") }
        guard exists else { return }
        // Only root can give a file away. For any other user, the file belongs to the user who wrote it.
        _ = fchown(file, old.st_uid, old.st_gid)
        guard fchmod(file, old.st_mode & 0o777) == 0 else {
            let error = RequestError.fileFailed("opened")
            discard()
            throw error
        }
    }

    deinit {
        discard()
        close(file)
    }

    /// Appends bytes, all of them.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        try writeAll(bytes, to: file)
    }

    /// Appends bytes, all of them.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`.
    func write(_ data: Data) throws {
        try data.withUnsafeBytes { try write($0) }
    }

    /// Makes the file system report errors that it has held back.
    ///
    /// Some file systems find only now that the disk is full, or begin to write only now.
    ///
    /// - Parameter duplicate: Makes a second descriptor for the file.
    /// - Throws: A `RequestError` with the code `fileFailed`.
    func endWriting(duplicate: (Int32) -> Int32 = { dup($0) }) throws {
        // Closing a duplicate reports the same errors as closing the file. The file stays open for a write that still
        // runs.
        let copy = duplicate(file)
        // If no descriptor is free, we write the file to the disk now. That reports the same errors, but takes longer.
        guard copy >= 0 ? close(copy) == 0 : fsync(file) == 0 else {
            throw discarded(RequestError.fileFailed("closed"))
        }
    }

    /// Moves the file to its place.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`. The old file is then still there.
    func finish() throws {
        guard rename(hidden, destination) == 0 else { throw discarded(RequestError.fileFailed("put in its place")) }
        outcome.withLock { $0 = .kept }
    }

    private func discarded(_ error: RequestError) -> RequestError {
        discard()
        return error
    }

    /// Removes the file that grows, unless it is finished.
    func discard() {
        let isOpen = outcome.withLock { outcome in
            defer { if case .open = outcome { outcome = .discarded } }
            return if case .open = outcome { true } else { false }
        }
        if isOpen { unlink(hidden) }
    }

    /// The path at the end of the links. A link is not replaced, but its target is. The target need not exist yet.
    private static func withoutLinks(_ path: String) throws -> String {
        if let real = realpath(path, nil) {
            defer { free(real) }
            return String(cString: real)
        }
        guard errno == ENOENT else { throw RequestError.fileFailed("opened") }
        var path = path
        for _ in 0..<mostLinks {
            // If this fails for any reason, `path` is not a link.
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { return path }
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            path = URL(fileURLWithPath: next, relativeTo: folder).path
        }
        errno = ELOOP
        throw RequestError.fileFailed("opened")
    }

    /// The number of links that Linux follows.
    private static let mostLinks = 40
}

/// Writes bytes, all of them.
///
/// - Throws: A `RequestError` with the code `fileFailed`.
func writeAll(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws {
    var rest = bytes
    while !rest.isEmpty {
        let count = writeBytes(file, rest.baseAddress, rest.count)
        if count < 0 {
            guard errno == EINTR else { throw RequestError.fileFailed("written") }
        } else {
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }
}

extension RequestError {
    /// An error that carries the system's last error number (`errno`) for a destination.
    static func fileFailed(_ verb: String) -> RequestError {
        let number = errno
        let isShort = number == EMFILE || number == ENFILE
        return RequestError(
            isShort ? .outOfLocalResources : .fileFailed, stage: .transfer,
            underlying: POSIXError.Code(rawValue: number).map { POSIXError($0) },
            reason: "the destination cannot be \(verb): \(String(cString: strerror(number)))")
    }
}
