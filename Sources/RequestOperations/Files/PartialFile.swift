/// A file that grows until it is complete. A lock keeps other downloads off it, also those of other processes.
///
/// The lock belongs to the descriptor (`flock`). It ends with the last reference to this object, or with the process.
// Unchecked: only the queue of its download uses what changes. `remove()`, `isGone` and `isEmpty` use constants.
final class PartialFile: @unchecked Sendable {
    let place: PartialPlace
    private let descriptor: Int32
    /// How many bytes are there.
    private(set) var size: Int64
    /// Running digests of all bytes that are there.
    private var digests: [FileDigest.Algorithm: SHA2] = [:]

    private static let pieceSize = 256 << 10

    /// Opens the file of a place, and makes it if it is missing.
    ///
    /// - Parameters:
    ///   - place: The place.
    ///   - isPrivate: Whether only its owner may read a new file, because it replaces one whose permissions it gets at the end.
    /// - Throws: A `RequestError` with the code `fileFailed`.
    static func made(at place: PartialPlace, isPrivate: Bool = false) throws -> PartialFile {
        while true {
            if let new = try new(at: place, mode: isPrivate ? 0o600 : 0o666) { return new }
            if let known = try existing(at: place) { return known }
            // It was removed between the two calls.
        }
    }

    /// Makes the file of a place; `nil` if it is there.
    ///
    /// What this process makes is its own, even if a network or a foreign file system names another owner. Where files cannot
    /// be locked, no other process could tell that this one is in use.
    private static func new(at place: PartialPlace, mode: mode_t) throws -> PartialFile? {
        let descriptor = open(place.file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            if errno == EEXIST { return nil }
            throw RequestError.fileFailed("made")
        }
        // Another process may have taken the file for one that was left behind.
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            close(descriptor)
            return nil
        }
        // That process may have moved the file to its place since.
        guard isAt(place.file, descriptor) else {
            close(descriptor)
            return nil
        }
        return PartialFile(place, descriptor)
    }

    /// Opens the file of a place; `nil` if it is missing.
    ///
    /// - Parameters:
    ///   - place: The place.
    ///   - waits: Whether it waits a second for another download to let go of the file.
    /// - Throws: A `RequestError` with the code `fileFailed`. So it does if another download has the file.
    static func existing(at place: PartialPlace, waiting waits: Bool = true) throws -> PartialFile? {
        try locked(place.file, waiting: waits).map { PartialFile(place, $0) }
    }

    private init(_ place: PartialPlace, _ descriptor: Int32) {
        self.place = place
        self.descriptor = descriptor
        size = Self.status(of: descriptor).map { Int64($0.st_size) } ?? 0
    }

    deinit {
        close(descriptor)
    }

    /// How often a lock is tried again, every 50 ms.
    private static let mostTries = 20

    private static func locked(_ path: String, waiting waits: Bool) throws -> Int32? {
        var tries = 0
        while true {
            let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else {
                if errno == ENOENT { return nil }
                throw RequestError.fileFailed("opened")
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let isTaken = errno == EWOULDBLOCK
                // A download that was cancelled may not have let go yet.
                if isTaken, waits, tries < mostTries {
                    close(descriptor)
                    tries += 1
                    usleep(50_000)
                    continue
                }
                let error = RequestError.fileFailed("locked")
                close(descriptor)
                guard isTaken else { throw error }
                throw RequestError(
                    .fileFailed, stage: .makeTask, underlying: error.underlying,
                    reason: "another download is writing the partial file")
            }
            // Its former owner may have moved it to its place between the two calls.
            if isAt(path, descriptor), let mine = status(of: descriptor) {
                // In a folder that others write to, somebody may have put another file there.
                if mine.st_uid == geteuid(), mine.st_nlink == 1, mine.st_mode & S_IFMT == S_IFREG { return descriptor }
                close(descriptor)
                throw RequestError(
                    .fileFailed, stage: .makeTask, reason: "the partial file belongs to somebody else")
            }
            close(descriptor)
        }
    }

    /// Whether a path leads to an open file.
    private static func isAt(_ path: String, _ descriptor: Int32) -> Bool {
        var there = stat()
        guard let mine = status(of: descriptor), lstat(path, &there) == 0 else { return false }
        return mine.st_ino == there.st_ino && mine.st_dev == there.st_dev
    }

    private static func status(of descriptor: Int32) -> stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    /// Whether there is no byte.
    var isEmpty: Bool { Self.status(of: descriptor)?.st_size == 0 }

    /// Whether somebody has removed the file. There may be another one at its place.
    var isGone: Bool { !Self.isAt(place.file, descriptor) }

    /// When a byte was written last.
    var modified: Date? {
        guard FileManager.default.fileExists(atPath: place.file) else { return nil }
        let attributes = try? FileManager.default.attributesOfItem(atPath: place.file)
        return attributes?[.modificationDate] as? Date
    }

    // MARK: Bytes

    /// Appends bytes, all of them.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`.
    func append(_ data: Data) throws {
        do {
            try data.withUnsafeBytes { bytes in
                var rest = bytes
                while !rest.isEmpty {
                    let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(size))
                    if count < 0 {
                        guard errno == EINTR else { throw RequestError.fileFailed("written") }
                    } else {
                        size += Int64(count)
                        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                    }
                }
            }
        } catch {
            // A part of the bytes may be there. The digests are computed again from the file.
            digests = [:]
            throw error
        }
        for digest in digests.values { digest.update(data) }
    }

    /// Drops all bytes.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`.
    func empty() throws {
        guard ftruncate(descriptor, 0) == 0 else { throw RequestError.fileFailed("emptied") }
        size = 0
        digests = [:]
    }

    /// Keeps a digest of all bytes from now on. Those that are there are read.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`.
    func keepDigest(_ algorithm: FileDigest.Algorithm) throws {
        guard digests[algorithm] == nil else { return }
        let digest = SHA2(algorithm.function)
        var offset: Int64 = 0
        while offset < size {
            let piece = try bytes(from: offset, atMost: Self.pieceSize)
            digest.update(piece)
            offset += Int64(piece.count)
        }
        digests[algorithm] = digest
    }

    /// Some of the bytes from a place on, at least one.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`. So it does at the end of the file.
    func bytes(from offset: Int64, atMost count: Int) throws -> Data {
        var piece = Data(count: count)
        while true {
            let count = piece.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
            if count > 0 { return piece.prefix(count) }
            guard count < 0, errno == EINTR else { throw RequestError.fileFailed("read") }
        }
    }

    /// The digest of all bytes.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`.
    func digest(_ algorithm: FileDigest.Algorithm) throws -> FileDigest {
        try keepDigest(algorithm)
        return FileDigest(algorithm, digests[algorithm]?.digest ?? Data())
    }

    // MARK: The end

    /// Waits until all bytes are on the disk, so that a file under its own name is complete after a loss of power.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`.
    func sync() throws {
        guard fsync(descriptor) == 0 else { throw RequestError.fileFailed("written") }
    }

    /// Gives the file the owner and the permissions of a file that it replaces, but not its set-user-ID bits.
    func takePermissions(of old: stat) {
        // Only root can give a file away, and some file systems have no permissions. The file is complete without them.
        let hasGroup =
            fchown(descriptor, old.st_uid, old.st_gid) == 0 || fchown(descriptor, uid_t.max, old.st_gid) == 0
        // Another group must not get what was for the old one.
        _ = fchmod(descriptor, old.st_mode & (hasGroup ? 0o777 : 0o707))
    }

    /// Lets other downloads have the file. It must not be written to any more.
    func unlock() {
        _ = flock(descriptor, LOCK_UN)
    }

    /// Removes the side file.
    func removeRecord() {
        unlink(place.record)
    }

    /// Removes the file and its side file, unless those at its place are somebody else's.
    func remove() {
        var there = stat()
        guard !isGone || lstat(place.file, &there) != 0 else { return }
        unlink(place.file)
        removeRecord()
    }
}

/// Where a file grows until it is complete: beside its destination, under a hidden name.
struct PartialPlace: Sendable, Hashable {
    /// The folder of the destination.
    let folder: URL
    private let stem: String

    static let prefix = ".RequestOperations-"
    static let partialSuffix = ".partial"
    static let recordSuffix = ".resume"

    /// A place that nothing else uses.
    static func unique(in folder: URL) -> PartialPlace {
        PartialPlace(folder: folder, stem: UUID().uuidString)
    }

    /// The place that every download of the same thing to the same destination uses.
    ///
    /// - Parameter subject: Tells the thing and the destination apart from all others in the folder.
    static func shared(in folder: URL, for subject: String) -> PartialPlace {
        PartialPlace(folder: folder, stem: String(SHA2.digest(of: subject).hexadecimal.prefix(32)))
    }

    /// The place of a part of this file that begins at a byte.
    func segment(from start: Int64) -> PartialPlace {
        PartialPlace(folder: folder, stem: "\(stem).\(start)")
    }

    /// The place of the partial file that this one belongs to, if this one is a part. Otherwise this place itself.
    var whole: PartialPlace {
        // A stem itself is a UUID or a digest.
        PartialPlace(folder: folder, stem: String(stem.prefix { $0 != "." }))
    }

    private init(folder: URL, stem: String) {
        self.folder = folder
        self.stem = stem
    }

    /// The place of a partial file in a folder; `nil` if the name is not that of one.
    init?(_ name: String, in folder: URL) {
        guard name.hasPrefix(Self.prefix), name.hasSuffix(Self.partialSuffix) else { return nil }
        self.init(folder: folder, stem: String(name.dropFirst(Self.prefix.count).dropLast(Self.partialSuffix.count)))
    }

    /// The partial file.
    var file: String { folder.appendingPathComponent(Self.prefix + stem + Self.partialSuffix).path }

    /// The side file, which says what the partial file is a part of.
    var record: String { folder.appendingPathComponent(Self.prefix + stem + Self.recordSuffix).path }
}
