#if PostgreSQL
    import Foundation
    import OfflineRequests
    import RequestOperations

    /// The columns of a record, in the order of the view `shown`.
    enum RecordColumns {
        static let withBody = names(body: "body")
        static let withoutBody = names(body: "NULL::bytea AS body")

        private static func names(body: String) -> String {
            """
            id, state, reason, due, lane, tag, unique_key, priority, added, not_before, expires, attempts, refusals, \
            failure, ending, body_size, revision, message, method, url, headers, timeout, constraints, user_info, \
            idempotency_key, origin, \(body)
            """
        }

        /// Reads a record.
        ///
        /// - Parameters:
        ///   - row: The row.
        ///   - first: The number of the first column. 0 by default.
        static func record(_ row: PostgreSQLRow, from first: Int = 0) -> StoredRecord {
            func text(_ column: Int) -> String? { row.text(first + column) }
            func number(_ column: Int) -> Int64 { row.integer(first + column) ?? 0 }
            func date(_ column: Int) -> Date? { row.double(first + column).map(Date.init(storedSeconds:)) }
            let content = StoredContent(
                message: text(17), method: text(18), url: text(19).flatMap(URL.init(string:)),
                fields: text(20).map { $0 == "{}" ? [:] : decode($0) ?? [:] }, timeout: row.double(first + 21),
                constraints: row.texts(first + 22) ?? [], userInfo: row.data(first + 23),
                idempotencyKey: text(24) ?? "",
                notBefore: row.double(first + 9))
            let state: OfflineRecord.State =
                switch number(1) {
                case 1: .waiting(until: date(3), OfflineRecord.WaitReason(rawValue: Int(number(2))) ?? .notBefore)
                case 2: .inFlight
                case 3: .dead(decode(text(14)) ?? DeadLetterReason(.damaged, detail: "the reason is lost"))
                default: .pending
                }
            return StoredRecord(
                id: id(row, first), state: state, content: content,
                body: row.data(first + 26).map(StoredBody.data) ?? .none, lane: text(4) ?? "", tag: text(5),
                uniqueKey: text(6), priority: Int(number(7)), added: date(8) ?? Date(storedSeconds: 0),
                expires: date(10), attempts: Int(number(11)), refusals: Int(number(12)), lastFailure: text(13),
                bodySize: number(15), checksum: UInt64(bitPattern: number(16)))
        }

        static func id(_ row: PostgreSQLRow, _ column: Int) -> OfflineRecord.ID {
            OfflineRecord.ID(rawValue: row.integer(column) ?? 0)
        }

        /// Decodes JSON; `nil` if there is none, or if another program has written something else.
        static func decode<Value: Decodable>(_ text: String?) -> Value? {
            text.flatMap { try? JSONDecoder().decode(Value.self, from: Data($0.utf8)) }
        }

        static func encode(_ value: some Encodable) throws -> PostgreSQLValue { .json(try text(of: value)) }

        /// A value as text in JSON.
        static func text(of value: some Encodable) throws -> String {
            String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
        }
    }
#endif
