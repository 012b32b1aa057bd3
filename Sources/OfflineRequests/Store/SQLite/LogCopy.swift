import Foundation

/// The write-ahead log as it was before SQLite opened it (sqlite.org/fileformat2.html, section 4).
struct LogCopy: Sendable {
    /// Whether the database is missing or empty although there is a log. SQLite would delete the log.
    let isWithoutDatabase: Bool
    private let copy: Result<Data, any Error>

    /// Copies the log of a queue.
    ///
    /// A long log is copied on disk. If that fails, as on a full disk, a sound queue opens all the same: only a recovery needs
    /// the copy. The error then is that of ``bytes``, so a recovery fails and a later one tries again.
    ///
    /// - Parameters:
    ///   - files: The files of the queue.
    ///   - longestInMemory: A longer log, in bytes, is copied on disk. 64 MiB by default. SQLite moves a log into the
    ///     database when it has about 4 MiB. So a log gets that long only if a reader delays SQLite.
    ///   - directory: Where a long log is copied to. The directory of the queue by default.
    init(_ files: QueueFiles, longestInMemory: Int = 64 << 20, directory: URL? = nil) throws {
        let descriptor = open(files.log.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            // Another process may have moved the log into the database.
            guard errno == ENOENT else { throw FileError(path: files.log.path, code: errno) }
            (copy, isWithoutDatabase) = (.success(Data()), false)
            return
        }
        let log = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let size = try log.seekToEnd()
        try log.seek(toOffset: 0)
        copy =
            size <= longestInMemory
            ? .success(try log.readToEnd() ?? Data())
            : Result { try Self.copyOnDisk(log, in: directory ?? files.directory) }
        isWithoutDatabase = size > 0 && files.databaseSize == 0
    }

    /// The bytes. Empty if there is no log.
    ///
    /// - Throws: Why a long log could not be copied.
    var bytes: Data { get throws { try copy.get() } }

    /// Copies the rest of a file into a file without a name. It is gone when nothing uses the bytes any more.
    private static func copyOnDisk(_ log: FileHandle, in directory: URL) throws -> Data {
        let path = directory.appendingPathComponent(".log-\(UUID().uuidString)").path
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(path: directory.path, code: errno) }
        let copy = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        unlink(path)
        while let part = try log.read(upToCount: 1 << 20), !part.isEmpty { try copy.write(contentsOf: part) }
        let size = Int(try copy.offset())
        // Another process may have emptied the log meanwhile. No bytes cannot be mapped.
        guard size > 0 else { return Data() }
        let address = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0)
        guard let address, address != MAP_FAILED else { throw FileError(path: directory.path, code: errno) }
        return Data(bytesNoCopy: address, count: size, deallocator: .unmap)
    }

    /// The place of the newest image of each page, as an offset into the bytes.
    ///
    /// The checksums of the frames do not count. They form a chain, so one wrong byte would hide all that follows. Each
    /// record has a checksum of its own.
    ///
    /// - Throws: The error of ``bytes``.
    func pages(of size: Int) throws -> [UInt32: Int] {
        let bytes = try bytes
        guard bytes.count >= Self.headerSize else { return [:] }
        let salts = bytes.dropFirst(16).prefix(8)
        var pages: [UInt32: Int] = [:]
        var offset = Self.headerSize
        while offset + Self.frameHeaderSize + size <= bytes.count {
            // Frames with other salts are left from an earlier use of the file.
            if bytes[(offset + 8)..<(offset + 16)].elementsEqual(salts) {
                let number = bytes[offset..<(offset + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                pages[number] = offset + Self.frameHeaderSize
            }
            offset += Self.frameHeaderSize + size
        }
        return pages
    }

    private static let headerSize = 32
    private static let frameHeaderSize = 24
}
