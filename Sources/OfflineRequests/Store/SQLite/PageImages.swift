import Foundation

/// The pages of a damaged database, newest image first, and the rows in them (sqlite.org/fileformat2.html, section 1).
///
/// It reads the leaves of all tables without the way from the root, so that damage elsewhere does not matter.
struct PageImages {
    /// The size of a page of our databases: SQLite's default.
    static let pageSize = 4096

    private let database: FileHandle?
    private let log: Data
    private let logged: [UInt32: Int]
    private let count: UInt32

    /// Makes the images from a database, if there is one, and a log.
    init(database: URL?, log: LogCopy) throws {
        self.log = try log.bytes
        logged = try log.pages(of: Self.pageSize)
        guard let database, FileManager.default.fileExists(atPath: database.path) else {
            self.database = nil
            count = 0
            return
        }
        let file = try FileHandle(forReadingFrom: database)
        self.database = file
        // SQLite has no more pages than fit.
        count = UInt32(clamping: min(try file.seekToEnd() / UInt64(Self.pageSize), UInt64(UInt32.max - 1)))
    }

    /// A row of a table: its id and the values of its columns.
    struct Row {
        let id: Int64
        let values: [SQLiteValue]
    }

    /// Calls a closure with each row that can be read. Rows of the log come first.
    func forEachRow(_ body: (Row) throws -> Void) throws {
        for number in logged.keys.sorted() { try rows(in: number, body) }
        // Page numbers begin at 1.
        for number in 1..<(count + 1) where logged[number] == nil { try rows(in: number, body) }
    }

    /// The bytes of a page; `nil` if there is no such page.
    private func page(_ number: UInt32) throws -> [UInt8]? {
        if let offset = logged[number] { return [UInt8](log[offset..<(offset + Self.pageSize)]) }
        guard let database, number >= 1, number <= count else { return nil }
        try database.seek(toOffset: UInt64(number - 1) * UInt64(Self.pageSize))
        let bytes = try database.read(upToCount: Self.pageSize) ?? Data()
        return bytes.count == Self.pageSize ? [UInt8](bytes) : nil
    }

    private func rows(in number: UInt32, _ body: (Row) throws -> Void) throws {
        guard let page = try page(number) else { return }
        // The first page begins with the header of the file.
        let start = number == 1 ? 100 : 0
        // 13 marks a leaf of a table.
        guard page[start] == 13 else { return }
        let cells = Int(page[start + 3]) << 8 | Int(page[start + 4])
        for cell in 0..<cells {
            let pointer = start + 8 + 2 * cell
            guard pointer + 1 < page.count else { return }
            if let row = try row(at: Int(page[pointer]) << 8 | Int(page[pointer + 1]), in: page) { try body(row) }
        }
    }

    private func row(at offset: Int, in page: [UInt8]) throws -> Row? {
        var cursor = ByteCursor(page[min(offset, page.count)...])
        guard let length = cursor.varint(), let id = cursor.varint(), length > 0, length < 1 << 30,
            let payload = try payload(Int(length), cursor)
        else { return nil }
        return Self.values(of: payload).map { Row(id: id, values: $0) }
    }

    /// The payload of a cell, with the part that is on overflow pages.
    private func payload(_ length: Int, _ start: ByteCursor) throws -> [UInt8]? {
        var cursor = start
        let (usable, longest) = (Self.pageSize, Self.pageSize - 35)
        guard length > longest else { return cursor.take(length).map(Array.init) }
        let least = (usable - 12) * 32 / 255 - 23
        let fitting = least + (length - least) % (usable - 4)
        guard var payload = cursor.take(fitting <= longest ? fitting : least).map(Array.init),
            var next = cursor.number(4)
        else { return nil }
        while payload.count < length {
            // The length bounds the chain, so that a circle ends.
            guard let page = try page(UInt32(truncatingIfNeeded: next)) else { return nil }
            var overflow = ByteCursor(page[...])
            guard let following = overflow.number(4),
                let part = overflow.take(min(usable - 4, length - payload.count))
            else { return nil }
            payload += part
            next = following
        }
        return payload
    }

    private static func values(of payload: [UInt8]) -> [SQLiteValue]? {
        var header = ByteCursor(payload[...])
        guard let headerSize = header.varint(), headerSize <= payload.count, headerSize > 0 else { return nil }
        var body = ByteCursor(payload[Int(headerSize)...])
        var values: [SQLiteValue] = []
        while header.position < Int(headerSize) {
            guard let type = header.varint(), let value = body.value(ofType: type), values.count < 100 else {
                return nil
            }
            values.append(value)
        }
        return values
    }
}

/// Reads numbers and values from bytes of a database, and nothing beyond their end.
struct ByteCursor {
    private let bytes: ArraySlice<UInt8>
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// The next bytes, or `nil` if there are not so many.
    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= bytes.endIndex - position else { return nil }
        defer { position += count }
        return bytes[position..<(position + count)]
    }

    /// A number with its most significant byte first, with a sign.
    mutating func number(_ size: Int) -> Int64? {
        guard let bytes = take(size) else { return nil }
        let unsigned = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let unused = UInt64(64 - 8 * size)
        return Int64(bitPattern: unsigned << unused) >> Int64(unused)
    }

    /// A number of one to nine bytes, seven bits each.
    mutating func varint() -> Int64? {
        var result: UInt64 = 0
        for index in 0..<9 {
            guard let byte = take(1)?.first else { return nil }
            if index == 8 { return Int64(bitPattern: result << 8 | UInt64(byte)) }
            result = result << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { return Int64(bitPattern: result) }
        }
        return nil
    }

    /// A value of a serial type (sqlite.org/fileformat2.html, section 2.1).
    mutating func value(ofType type: Int64) -> SQLiteValue? {
        switch type {
        case 0: return .null
        case 1...4: return number(Int(type)).map(SQLiteValue.integer)
        case 5: return number(6).map(SQLiteValue.integer)
        case 6: return number(8).map(SQLiteValue.integer)
        case 7: return number(8).map { .real(Double(bitPattern: UInt64(bitPattern: $0))) }
        case 8: return .integer(0)
        case 9: return .integer(1)
        case 12...:
            guard let bytes = take(Int((type - 12) / 2)) else { return nil }
            return type % 2 == 0 ? .blob(Data(bytes)) : .text(String(decoding: bytes, as: UTF8.self))
        default: return nil
        }
    }
}
