import Foundation

/// The write-ahead log as it was before SQLite opened it (sqlite.org/fileformat2.html, section 4).
struct LogCopy: Sendable {
    /// The bytes. Empty if there is no log, or if it is too long to be copied.
    let bytes: Data
    /// Whether the database is missing or empty although there is a log. SQLite would delete the log.
    let isWithoutDatabase: Bool

    /// SQLite moves a log into the database when it has about 4 MiB.
    private static let longest = 64 << 20

    init(_ files: QueueFiles) {
        // A log that cannot be read is as good as none: SQLite cannot read it either, and says so.
        let size = (try? FileManager.default.attributesOfItem(atPath: files.log.path)[.size] as? Int) ?? 0
        bytes = size > 0 && size <= Self.longest ? (try? Data(contentsOf: files.log)) ?? Data() : Data()
        isWithoutDatabase = size > 0 && files.databaseSize == 0
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
