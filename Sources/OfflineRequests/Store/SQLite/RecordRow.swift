import Foundation

/// How a record is written into a row and read from it.
enum RecordRow {
    /// The columns of a record, apart from its body.
    static let columns = """
        id, state, reason, due, content, lane, tag, key, priority, added, expires, attempts, refusals, failure, ending, \
        bytes, checksum, file
        """

    /// The columns of a record with its body.
    static let columnsWithBody = columns + ", body"

    /// What a row holds, and whether its bytes are those that were written.
    struct Reading {
        let record: StoredRecord
        /// Always `true` if the body was not read.
        let isSound: Bool
    }

    /// Reads a row.
    ///
    /// - Parameters:
    ///   - hasBody: Whether the row has ``columnsWithBody``.
    ///   - bodies: The folder of the body files.
    static func read(_ row: SQLiteRow, hasBody: Bool, bodies: URL) -> Reading {
        let bytes = row.blob(4) ?? Data()
        // A content that does not decode is damaged. The checksum says so too.
        let content = try? JSONDecoder().decode(StoredContent.self, from: bytes)
        let (file, data) = (row.text(17), hasBody ? row.blob(18) : nil)
        let parts = Parts(
            content: bytes, body: data, file: file, lane: row.text(5) ?? "", tag: row.text(6), key: row.text(7),
            priority: row.integer(8), bytes: row.integer(15))
        let checksum = UInt64(bitPattern: row.integer(16))
        let record = StoredRecord(
            id: OfflineRecord.ID(rawValue: row.integer(0)), state: state(row),
            content: content ?? StoredContent(constraints: [], idempotencyKey: ""),
            body: file.map { .file(bodies.appendingPathComponent($0)) } ?? data.map(StoredBody.data) ?? .none,
            lane: parts.lane, tag: parts.tag, uniqueKey: parts.key, priority: Int(parts.priority),
            added: Date(timeIntervalSince1970: row.real(9)),
            expires: row.optionalReal(10).map(Date.init(timeIntervalSince1970:)), attempts: Int(row.integer(11)),
            refusals: Int(row.integer(12)), lastFailure: row.text(13), bodySize: parts.bytes, checksum: checksum)
        return Reading(
            record: record,
            isSound: content != nil && (!hasBody || parts.checksum == checksum))
    }

    private static func state(_ row: SQLiteRow) -> OfflineRecord.State {
        switch row.integer(1) {
        case 1:
            let due = row.real(3)
            let reason = OfflineRecord.WaitReason(rawValue: Int(row.integer(2))) ?? .notBefore
            return .waiting(until: due < never ? Date(timeIntervalSince1970: due) : nil, reason)
        case 2: return .inFlight
        case 3: return .dead(row.text(14).flatMap(decode) ?? DeadLetterReason(.damaged, detail: "the reason is lost"))
        default: return .pending
        }
    }

    /// The due time of a record that only an event wakes.
    static let never = 1e300

    /// The parts of a row that do not change while the record waits. The checksum is over these.
    struct Parts {
        var content: Data
        var body: Data?
        var file: String?
        var lane: String
        var tag: String?
        var key: String?
        var priority: Int64
        var bytes: Int64

        var checksum: UInt64 {
            var checksum = Checksum()
            checksum.add(content)
            if let body { checksum.add(body) }
            checksum.add(file)
            checksum.add(lane)
            checksum.add(tag)
            checksum.add(key)
            checksum.add(UInt64(bitPattern: priority))
            checksum.add(UInt64(bitPattern: bytes))
            return checksum.value
        }
    }

    /// The parts of a record that is to be added.
    static func parts(of record: NewRecord) throws -> Parts {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        var parts = Parts(
            content: try encoder.encode(record.content), lane: record.lane, tag: record.tag, key: record.uniqueKey,
            priority: Int64(record.priority), bytes: record.bodySize)
        switch record.body {
        case .none: break
        case .data(let data): parts.body = data
        case .file(let file): parts.file = file.lastPathComponent
        }
        return parts
    }

    static func encode(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    /// Decodes a stored text; `nil` if it is damaged.
    static func decode<Value: Decodable>(_ text: String) -> Value? {
        try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}
