import Foundation

/// A row of a damaged database that looks like one of the table of records.
struct SalvagedRecord {
    /// The columns of the table, in their order.
    private enum Column: Int, CaseIterable {
        case id, state, head, network, reason, fence, lane, tag, key, priority, added, due, expires
        case attempts, refusals, failure, ending, origin, message, bytes, content, body, file, seal
    }

    private let row: PageImages.Row
    private let parts: RecordRow.Parts
    /// Whether the bytes fit their checksum.
    let isSound: Bool

    /// Reads a row; `nil` if it does not belong to the table.
    init?(_ row: PageImages.Row) {
        func value(_ column: Column) -> SQLiteValue { row.values[column.rawValue] }
        guard row.values.count == Column.allCases.count, row.id > 0, let content = value(.content).blob,
            let lane = value(.lane).text, let seal = value(.seal).integer,
            let priority = value(.priority).integer, let bytes = value(.bytes).integer
        else { return nil }
        self.row = row
        parts = RecordRow.Parts(
            id: row.id, content: content, body: value(.body).blob, file: value(.file).text, lane: lane,
            tag: value(.tag).text, key: value(.key).text, priority: priority, bytes: bytes,
            added: value(.added).real ?? 0, expires: value(.expires).real, network: value(.network).integer ?? 0,
            origin: value(.origin).text, message: value(.message).text)
        // The page may be older than the present version of the schema.
        isSound = [parts.checksum, parts.firstChecksum.value].contains(UInt64(bitPattern: seal))
    }

    /// The values of a row of the table of outcomes; `nil` if the row is not of that table.
    static func outcome(_ row: PageImages.Row) -> (ended: SQLiteValue, text: SQLiteValue)? {
        guard row.values.count == 3, let ended = row.values[1].real, let text = row.values[2].text,
            let _: OfflineOutcome = RecordRow.decode(text)
        else { return nil }
        return (.real(ended), .text(text))
    }

    /// Adds the record, unless there is one with its id. Returns whether it did.
    ///
    /// What was in flight is pending again. A value that is out of its range is replaced.
    func insert(into connection: SQLiteConnection) throws -> Bool {
        var values = row.values
        func replace(_ column: Column, _ value: (SQLiteValue) throws -> SQLiteValue) rethrows {
            values[column.rawValue] = try value(values[column.rawValue])
        }
        let state = values[Column.state.rawValue].integer
        var ending: DeadLetterReason? = values[Column.ending.rawValue].text.flatMap(RecordRow.decode)
        if !isSound { ending = RecordRow.damage }
        let isDead = !isSound || state == 3 && ending != nil
        replace(.id) { _ in .integer(row.id) }
        replace(.state) { _ in .integer(isDead ? 3 : state == 1 ? 1 : 0) }
        replace(.head) { _ in .integer(0) }
        replace(.network) { .integer($0.integer == 0 ? 0 : 1) }
        replace(.bytes) { .integer(min(max($0.integer ?? 0, 0), RecordRow.largestBytes)) }
        for column in [Column.reason, .fence, .attempts, .refusals] {
            replace(column) { .integer(max($0.integer ?? 0, 0)) }
        }
        replace(.added) { .real($0.real ?? 0) }
        // A record that only an event would wake becomes due. The queue makes it wait again if necessary.
        replace(.due) { .real(($0.real ?? 0) < RecordRow.never ? $0.real ?? 0 : 0) }
        replace(.expires) { .optional($0.real) }
        if isSound { replace(.seal) { _ in .integer(Int64(bitPattern: parts.checksum)) } }
        try replace(.ending) { _ in .optional(isDead ? try ending.map(RecordRow.encode) : nil) }
        let marks = values.map { _ in "?" }.joined(separator: ", ")
        try connection.forEach("INSERT OR IGNORE INTO records VALUES (\(marks))", values) { _ in true }
        return connection.changes > 0
    }
}

extension SQLiteValue {
    fileprivate var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    fileprivate var text: String? { if case .text(let text) = self { text } else { nil } }
    fileprivate var blob: Data? { if case .blob(let data) = self { data } else { nil } }

    /// A number. SQLite stores a real number without a fraction as an integer.
    fileprivate var real: Double? {
        switch self {
        case .real(let number): number
        case .integer(let number): Double(number)
        default: nil
        }
    }
}
