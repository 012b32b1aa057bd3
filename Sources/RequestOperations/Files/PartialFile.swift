/// A hidden file that grows until it is complete. A lock keeps other downloads off it, also those of other processes.
///
/// The lock belongs to the descriptor (`flock`). It ends with the last reference to this object, or with the process. What fails
/// throws a `RequestError` with the code `fileFailed`.
// Unchecked: only the queue of its download uses what changes. `remove()`, `isGone` and `isEmpty` use constants.
final class PartialFile: @unchecked Sendable {
    let place: PartialPlace
    let file: HiddenFile
    /// How many bytes are there.
    private(set) var size: Int64
    /// Running digests of all bytes that are there.
    private var digests: [FileDigest.Algorithm: SHA2] = [:]

    private static let pieceSize = 256 << 10
    /// How often a lock is tried again, every 50 ms.
    private static let mostTries = 20

    /// Opens the file of a place, and makes it if it is missing.
    ///
    /// What this process makes is its own, even if a network or a foreign file system names another owner. Where files cannot
    /// be locked, no other process could tell that this one is in use.
    ///
    /// - Parameters:
    ///   - place: The place.
    ///   - isPrivate: Whether only its owner may read a new file, because it replaces one whose permissions it gets at the end.
    static func made(at place: PartialPlace, isPrivate: Bool = false) throws -> PartialFile {
        while true {
            do {
                let file = try HiddenFile(madeAt: place.file, isPrivate: isPrivate)
                // Another process may have taken the file for one that was left behind, and moved it to its place since.
                let isTaken = flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
                if !isTaken, file.isThere { return PartialFile(place, file) }
            } catch let error as RequestError where error.posixCode == .EEXIST {}
            if let known = try existing(at: place) { return known }
            // It was removed between the two calls.
        }
    }

    /// Opens the file of a place; `nil` if it is missing.
    ///
    /// - Parameters:
    ///   - place: The place.
    ///   - waits: Whether it waits a second for another download to release the file.
    /// - Throws: A `RequestError` with the code `fileFailed`, also if another download has the file.
    static func existing(at place: PartialPlace, waiting waits: Bool = true) throws -> PartialFile? {
        var tries = 0
        while true {
            let file: HiddenFile
            do {
                file = try HiddenFile(leftAt: place.file)
            } catch let error as RequestError where error.posixCode == .ENOENT {
                return nil
            }
            guard flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 else {
                guard errno == EWOULDBLOCK else { throw RequestError.fileFailed("locked") }
                guard waits, tries < mostTries else {
                    throw RequestError(
                        .fileFailed, stage: .makeTask, underlying: POSIXError(.EWOULDBLOCK),
                        reason: "another download is writing the partial file")
                }
                // A download that was cancelled may not have released the file yet.
                tries += 1
                usleep(50_000)
                continue
            }
            // Its former owner may have moved it to its place between the two calls.
            guard file.isThere, let status = file.status else { continue }
            // In a folder that others write to, somebody may have put another file there.
            guard status.st_uid == geteuid(), status.st_nlink == 1, status.st_mode & S_IFMT == S_IFREG else {
                throw RequestError(
                    .fileFailed, stage: .makeTask, reason: "the partial file belongs to somebody else")
            }
            return PartialFile(place, file)
        }
    }

    private init(_ place: PartialPlace, _ file: HiddenFile) {
        self.place = place
        self.file = file
        size = file.size
    }

    /// Where in the whole file its bytes end.
    var end: Int64 { place.start + size }

    /// Whether there is no byte.
    var isEmpty: Bool { file.size == 0 }

    /// Whether somebody has removed the file. There may be another one at its place.
    var isGone: Bool { !file.isThere }

    // MARK: Bytes

    /// Appends bytes, all of them.
    func append(_ data: Data) throws {
        do { try file.append(data) } catch {
            // A part of the bytes may be there. The digests are computed again from the file.
            size = file.size
            digests = [:]
            throw error
        }
        size += Int64(data.count)
        for digest in digests.values { digest.update(data) }
    }

    /// Drops all bytes, and the side file first, so that it never describes bytes that are not there.
    func empty() throws {
        removeRecord()
        guard ftruncate(file.descriptor, 0) == 0 else { throw RequestError.fileFailed("emptied") }
        size = 0
        digests = [:]
    }

    /// Some of the bytes from a place on, at least one.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`, also at the end of the file.
    func bytes(from offset: Int64, atMost count: Int) throws -> Data {
        var piece = Data(count: count)
        while true {
            let count = piece.withUnsafeMutableBytes {
                pread(file.descriptor, $0.baseAddress, $0.count, off_t(offset))
            }
            if count > 0 { return piece.prefix(count) }
            guard count < 0, errno == EINTR else { throw RequestError.fileFailed("read") }
        }
    }

    /// The digest of all bytes. It is kept up to date from now on. Bytes that are there at the first call are read.
    @discardableResult
    func digest(_ algorithm: FileDigest.Algorithm) throws -> FileDigest {
        if let digest = digests[algorithm] { return FileDigest(algorithm, digest.digest) }
        let digest = SHA2(algorithm.function)
        var offset: Int64 = 0
        while offset < size {
            let piece = try bytes(from: offset, atMost: Self.pieceSize)
            digest.update(piece)
            offset += Int64(piece.count)
        }
        digests[algorithm] = digest
        return FileDigest(algorithm, digest.digest)
    }

    // MARK: The end

    /// Waits until all bytes are on the disk, so that a file under its own name is complete after a loss of power.
    func sync() throws {
        guard fsync(file.descriptor) == 0 else { throw RequestError.fileFailed("written") }
    }

    /// Lets other downloads have the file. It must not be written to any more.
    func unlock() {
        _ = flock(file.descriptor, LOCK_UN)
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
    /// Where in the whole file the bytes begin.
    let start: Int64

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
        PartialPlace(folder: folder, stem: "\(stem).\(start)", start: start)
    }

    /// The place of the partial file that this one belongs to, if this one is a part. Otherwise this place itself.
    var whole: PartialPlace {
        // A stem itself is a UUID or a digest.
        PartialPlace(folder: folder, stem: String(stem.prefix { $0 != "." }))
    }

    private init(folder: URL, stem: String, start: Int64 = 0) {
        self.folder = folder
        self.stem = stem
        self.start = start
    }

    /// The place of a partial file in a folder; `nil` if the name is not that of one.
    init?(_ name: String, in folder: URL) {
        guard name.hasPrefix(HiddenFile.prefix), name.hasSuffix(Self.partialSuffix) else { return nil }
        let stem = name.dropFirst(HiddenFile.prefix.count).dropLast(Self.partialSuffix.count)
        self.init(folder: folder, stem: String(stem))
    }

    /// The partial file.
    var file: String { folder.appendingPathComponent(HiddenFile.prefix + stem + Self.partialSuffix).path }

    /// The side file, which says what the partial file is a part of.
    var record: String { folder.appendingPathComponent(HiddenFile.prefix + stem + Self.recordSuffix).path }
}
