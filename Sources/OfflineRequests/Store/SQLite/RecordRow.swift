import Foundation

/// How a record is written into a row and read from it.
enum RecordRow {
    /// The columns of a record, apart from its body.
    static let columns = """
        id, state, reason, due, content, lane, tag, key, priority, added, expires, attempts, refusals, failure, ending, \
        bytes, seal, file, network, origin, message
        """

    /// How many ``columns`` there are: the index of what follows them.
    static let columnCount = 21

    /// The columns of a record with its body.
    static let columnsWithBody = columns + ", body"

    /// What a row holds, and whether its bytes are those that were written.
    struct Reading {
        let record: StoredRecord
        let parts: Parts
        /// Always `true` if the body was not read.
        let isSound: Bool
    }

    /// Reads a row.
    ///
    /// - Parameters:
    ///   - hasBody: Whether the row has ``columnsWithBody``.
    ///   - bodies: The folder of the body files.
    ///   - now: A record in flight that is due later is shown as waiting. With `nil`, the default, none is.
    static func read(_ row: SQLiteRow, hasBody: Bool, bodies: URL, at now: Date? = nil) -> Reading {
        let parts = parts(row, hasBody: hasBody)
        // A content that does not decode is damaged. The checksum says so too.
        let content = try? JSONDecoder().decode(StoredContent.self, from: parts.content)
        let seal = UInt64(bitPattern: row.integer(16))
        let (attempts, refusals) = counts(attempts: row.integer(11), refusals: row.integer(12))
        let record = StoredRecord(
            id: OfflineRecord.ID(rawValue: parts.id), state: state(row, at: now),
            content: content ?? StoredContent(constraints: [], idempotencyKey: ""),
            body: parts.file.map { .file(bodies.appendingPathComponent($0)) } ?? parts.body.map(StoredBody.data)
                ?? .none,
            lane: parts.lane, tag: parts.tag, uniqueKey: parts.key, priority: Int(clamping: parts.priority),
            added: Date(storedSeconds: parts.added), expires: parts.expires.map(Date.init(storedSeconds:)),
            attempts: attempts, refusals: refusals, lastFailure: row.text(13), bodySize: parts.bytes, checksum: seal)
        return Reading(record: record, parts: parts, isSound: content != nil && (!hasBody || parts.checksum == seal))
    }

    /// Reads what the checksum is over.
    static func parts(_ row: SQLiteRow, hasBody: Bool) -> Parts {
        Parts(
            id: row.integer(0), content: row.blob(4) ?? Data(), body: hasBody ? row.blob(columnCount) : nil,
            file: row.text(17),
            lane: row.text(5) ?? "", tag: row.text(6), key: row.text(7), priority: row.integer(8),
            bytes: row.integer(15), added: row.real(9), expires: row.optionalReal(10), network: row.integer(18),
            origin: row.text(19), message: row.text(20))
    }

    /// The counts of a record. Both restart at 0 if one is out of range, or if more attempts were refused than made.
    private static func counts(attempts: Int64, refusals: Int64) -> (Int, Int) {
        guard (0...Int64(Int32.max)).contains(attempts), (0...attempts).contains(refusals) else { return (0, 0) }
        return (Int(attempts), Int(refusals))
    }

    private static func state(_ row: SQLiteRow, at now: Date?) -> OfflineRecord.State {
        let due = row.real(3)
        switch row.integer(1) {
        case 2 where now.map { due <= $0.timeIntervalSince1970 } ?? true: return .inFlight
        case 1, 2:
            let reason = OfflineRecord.WaitReason(rawValue: Int(clamping: row.integer(2))) ?? .notBefore
            return .waiting(until: due < never ? Date(storedSeconds: due) : nil, reason)
        case 3: return .dead(row.text(14).flatMap(decode) ?? DeadLetterReason(.damaged, detail: "the reason is lost"))
        default: return .pending
        }
    }

    /// Why a record with a wrong checksum is a dead letter.
    static let damage = DeadLetterReason(.damaged, detail: "its bytes do not match their checksum")

    /// The most bytes that a damaged record counts for: 1 TiB.
    static let largestBytes: Int64 = 1 << 40

    /// The due time of a record that only an event wakes.
    static let never = 1e300

    /// The parts of a row that do not change while the record waits. The checksum is over these.
    ///
    /// The others count the attempts and say what the record waits for. Values out of range are corrected instead.
    struct Parts {
        /// Known once the record has its place.
        var id: Int64 = 0
        var content: Data
        var body: Data?
        var file: String?
        var lane: String
        var tag: String?
        var key: String?
        var priority: Int64
        var bytes: Int64
        /// In seconds since 1970.
        var added: Double
        var expires: Double?
        var network: Int64
        var origin: String?
        var message: String?

        var checksum: UInt64 {
            var checksum = firstChecksum
            checksum.add(UInt64(bitPattern: id))
            checksum.add(UInt64(bitPattern: network))
            checksum.add(origin)
            checksum.add(message)
            // SQLite stores no negative zero.
            checksum.add((added + 0).bitPattern)
            checksum.add(expires == nil ? 0 : 1)
            checksum.add(((expires ?? 0) + 0).bitPattern)
            return checksum.value
        }

        /// The checksum as version 1 of the schema had it.
        var firstChecksum: Checksum {
            var checksum = Checksum()
            checksum.add(content)
            if let body { checksum.add(body) }
            checksum.add(file)
            checksum.add(lane)
            checksum.add(tag)
            checksum.add(key)
            checksum.add(UInt64(bitPattern: priority))
            checksum.add(UInt64(bitPattern: bytes))
            return checksum
        }
    }

    /// The parts of a record that is to be added.
    static func parts(of record: NewRecord, addedAt added: Date) throws -> Parts {
        var content = record.content
        content.notBefore = record.due(at: added)
        var parts = Parts(
            content: try bytes(of: content), lane: record.lane, tag: record.tag, key: record.uniqueKey,
            priority: Int64(record.priority), bytes: record.bodySize,
            added: Date(storedSeconds: added.timeIntervalSince1970).timeIntervalSince1970,
            expires: record.expires?.storable?.timeIntervalSince1970, network: record.content.needsNetwork ? 1 : 0,
            origin: record.content.origin, message: record.content.message)
        switch record.body {
        case .none: break
        case .data(let data): parts.body = data
        case .file(let file): parts.file = file.lastPathComponent
        }
        return parts
    }

    /// A content as it is stored.
    static func bytes(of content: StoredContent) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return try encoder.encode(content)
    }

    static func encode(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    /// Decodes a stored text; `nil` if it is damaged.
    static func decode<Value: Decodable>(_ text: String) -> Value? {
        try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}
