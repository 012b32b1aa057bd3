import Foundation

/// The write-ahead log as it was before SQLite opened it (sqlite.org/fileformat2.html, section 4).
struct LogCopy: Sendable {
    /// The bytes. Empty if there is no log.
    let bytes: Data
    /// Whether the database is missing or empty although there is a log. SQLite would delete the log.
    let isWithoutDatabase: Bool

    /// Copies the log of a queue.
    ///
    /// - Parameter longestInMemory: A longer log, in bytes, is copied on disk. 64 MiB by default. SQLite moves a log into
    ///   the database when it has about 4 MiB, so only a reader that holds it up makes one that long.
    init(_ files: QueueFiles, longestInMemory: Int = 64 << 20) throws {
        // Another process may have moved the log into the database.
        guard let log = FileHandle(forReadingAtPath: files.log.path) else {
            (bytes, isWithoutDatabase) = (Data(), false)
            return
        }
        defer { try? log.close() }
        let size = try log.seekToEnd()
        try log.seek(toOffset: 0)
        bytes = size <= longestInMemory ? try log.readToEnd() ?? Data() : try Self.copyOnDisk(log, in: files.directory)
        isWithoutDatabase = size > 0 && files.databaseSize == 0
    }

    /// Copies the rest of a file into a file without a name. It is gone when nothing uses the bytes any more.
    private static func copyOnDisk(_ log: FileHandle, in directory: URL) throws -> Data {
        var path = Array(directory.appendingPathComponent(".log-XXXXXX").path.utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw FileError(path: directory.path, code: errno) }
        let copy = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        unlink(path)
        while let part = try log.read(upToCount: 1 << 20), !part.isEmpty { try copy.write(contentsOf: part) }
        let size = Int(try copy.offset())
        let address = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0)
        guard let address, address != MAP_FAILED else { throw FileError(path: directory.path, code: errno) }
        return Data(bytesNoCopy: address, count: size, deallocator: .unmap)
    }

    /// The place of the newest image of each page, as an offset into the bytes.
    ///
    /// The checksums of the frames do not count. They form a chain, so one wrong byte would hide all that follows. Each
    /// record has a checksum of its own.
    func pages(of size: Int) -> [UInt32: Int] {
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
