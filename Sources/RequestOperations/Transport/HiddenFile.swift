/// A file that grows under a hidden name in the folder of its place. It gets its name when it is complete.
///
/// So a failure leaves the old file as it was, and two files for one place do not mix. The descriptor is closed when the last
/// reference is released. So a write that runs during a cancel never goes to another file. What fails throws a `RequestError`
/// with the code `fileFailed`.
final class HiddenFile: Sendable {
    static let prefix = ".RequestOperations-"

    let path: String
    let descriptor: Int32

    /// The path of a file that nothing else uses.
    static func uniquePath(in folder: URL, suffix: String = "") -> String {
        folder.appendingPathComponent(prefix + UUID().uuidString + suffix).path
    }

    /// Makes the file.
    ///
    /// - Parameters:
    ///   - path: The hidden path.
    ///   - isPrivate: Whether only its owner may open it, because it gets the permissions of another file later.
    /// - Throws: A `RequestError` with the code `fileFailed`. Its ``RequestError/posixCode`` is `EEXIST` if the file is there.
    init(madeAt path: String, isPrivate: Bool) throws {
        self.path = path
        descriptor = open(
            path, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, isPrivate ? 0o600 : 0o666)
        guard descriptor >= 0 else { throw RequestError.fileFailed("made") }
    }

    /// Opens a file that is there.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`. Its ``RequestError/posixCode`` is `ENOENT` if there is none.
    init(leftAt path: String) throws {
        self.path = path
        descriptor = open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw RequestError.fileFailed("opened") }
    }

    deinit {
        // An initialiser that throws has no descriptor.
        if descriptor >= 0 { close(descriptor) }
    }

    /// What the file system knows of the file.
    var status: stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    var size: Int64 { status.map { Int64($0.st_size) } ?? 0 }

    /// Whether the file is still at its path. Another process may have removed it, or put another file there.
    var isThere: Bool {
        var there = stat()
        guard let status, lstat(path, &there) == 0 else { return false }
        return status.st_ino == there.st_ino && status.st_dev == there.st_dev
    }

    /// Appends bytes, all of them.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`. Some of the bytes may have been written.
    func append(_ data: Data) throws {
        try data.withUnsafeBytes { try writeAll($0, to: descriptor) }
    }

    /// Makes the file system report pending errors.
    ///
    /// Some file systems find only now that the disk is full, or begin to write only now.
    ///
    /// - Parameter duplicate: Makes a second descriptor for the file.
    func endWriting(duplicate: (Int32) -> Int32 = { dup($0) }) throws {
        // Closing a duplicate reports the same errors as closing the file. The file stays open for a write that still
        // runs.
        let copy = duplicate(descriptor)
        // If no descriptor is free, we write the file to the disk now. That reports the same errors, but takes longer.
        guard copy >= 0 ? close(copy) == 0 : fsync(descriptor) == 0 else { throw RequestError.fileFailed("closed") }
    }

    /// Gives the file the owner and the permissions of a file that it replaces, but not its set-user-ID and set-group-ID bits.
    func takePermissions(of old: stat) {
        // Only root can give a file away, and some file systems have no permissions. The file is complete without them.
        let hasGroup =
            fchown(descriptor, old.st_uid, old.st_gid) == 0 || fchown(descriptor, uid_t.max, old.st_gid) == 0
        // Another group must not get the access that the old group had.
        _ = fchmod(descriptor, old.st_mode & (hasGroup ? 0o777 : 0o707))
    }

    /// Gives the file its name. A file of that name is replaced in one step.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`. The old file is then still there.
    func replace(_ place: String) throws {
        guard rename(path, place) == 0 else { throw RequestError.fileFailed("put in its place") }
    }

    /// Gives the file its name. Returns `false` if the name is taken.
    func take(_ place: String) throws -> Bool {
        var number = renameExclusively(path, to: place, in: AT_FDCWD)
        if [EINVAL, ENOSYS, EOPNOTSUPP].contains(number) { number = link(to: place) }
        switch number {
        case 0: return true
        case EEXIST, EISDIR: return false
        default:
            errno = number
            throw RequestError.fileFailed("put in its place")
        }
    }

    /// Renames the file where the file system has no exclusive rename. Returns 0, or the error number.
    private func link(to place: String) -> Int32 {
        guard Foundation.link(path, place) != 0 else {
            unlink(path)
            return 0
        }
        guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { return errno }
        // Without links, an empty file takes the name, and the complete file replaces it.
        let placeholder = open(place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard placeholder >= 0 else { return errno }
        close(placeholder)
        guard rename(path, place) != 0 else { return 0 }
        let number = errno
        unlink(place)
        return number
    }
}

/// The regular file that an accepted response is written to. A link is followed.
///
/// A destination that is no regular file is a ``SpecialFile``. The transports let only one thread write at a time.
final class FileSink: Sendable {
    let file: HiddenFile
    /// The path where the file ends.
    private let destination: String

    init(_ url: URL) throws {
        guard url.isFileURL else {
            throw RequestError(.fileFailed, "the destination's URL is not a file URL")
        }
        destination = try Self.withoutLinks(url.path)
        var old = stat()
        let exists = stat(destination, &old) == 0
        if exists, old.st_mode & S_IFMT == S_IFDIR { errno = EISDIR }
        guard !exists || old.st_mode & S_IFMT != S_IFDIR && access(destination, W_OK) == 0 else {
            throw RequestError.fileFailed("opened")
        }
        let folder = URL(fileURLWithPath: destination).deletingLastPathComponent()
        file = try HiddenFile(madeAt: HiddenFile.uniquePath(in: folder), isPrivate: exists)
        if exists { file.takePermissions(of: old) }
    }

    deinit {
        discard()
    }

    /// Moves the file to its place, unless the calling Task is cancelled.
    ///
    /// - Parameter duplicate: See ``HiddenFile/endWriting(duplicate:)``.
    /// - Throws: A `RequestError` with the code `fileFailed`, or `CancellationError`. The old file is then still there.
    func finish(duplicate: (Int32) -> Int32 = { dup($0) }) throws {
        try file.endWriting(duplicate: duplicate)
        try Task.checkCancellation()
        try file.replace(destination)
    }

    /// Removes the unfinished file. A finished file is kept, because it no longer has the hidden name.
    func discard() {
        unlink(file.path)
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
    /// The system's error number that the error carries.
    var posixCode: POSIXError.Code? { (underlying as? POSIXError)?.code }

    /// An error that carries the system's last error number (`errno`). A shortage of the process has a code of its own.
    static func ofSystem(_ code: Code, _ what: String) -> RequestError {
        let number = errno
        return RequestError(
            DescriptorShare.isShortage(number) ? .outOfLocalResources : code,
            "\(what): \(String(cString: strerror(number)))",
            underlying: POSIXError.Code(rawValue: number).map { POSIXError($0) })
    }

    static func fileFailed(_ verb: String) -> RequestError {
        ofSystem(.fileFailed, "the destination cannot be \(verb)")
    }
}
