#if PostgreSQL
    import CRequestOperationsPostgreSQL
    package import Foundation

    /// The rows that a statement returned.
    // Unchecked, because nobody changes a result of libpq after it was received. So threads may share it.
    package final class PostgreSQLRows: RandomAccessCollection, @unchecked Sendable {
        fileprivate let result: OpaquePointer

        /// - Parameter result: The result in binary form, which this object frees.
        init(_ result: OpaquePointer) {
            self.result = result
        }

        deinit { PQclear(result) }

        package var startIndex: Int { 0 }
        package var endIndex: Int { Int(PQntuples(result)) }
        package subscript(index: Int) -> PostgreSQLRow { PostgreSQLRow(rows: self, index: Int32(index)) }
    }

    /// One row. Its columns are counted from 0. A column that is null, or has another type than the one asked for, is `nil`.
    package struct PostgreSQLRow: Sendable {
        fileprivate let rows: PostgreSQLRows
        fileprivate let index: Int32

        /// An integer of any size.
        package func integer(_ column: Int) -> Int64? {
            switch type(column) {
            case 20, 21, 23: bytes(of: column) { Self.integer($0) }
            default: nil
            }
        }

        package func double(_ column: Int) -> Double? {
            type(column) == 701 ? bytes(of: column) { Double(bitPattern: UInt64(bitPattern: Self.integer($0))) } : nil
        }

        package func bool(_ column: Int) -> Bool? {
            type(column) == 16 ? bytes(of: column) { $0.first == 1 } : nil
        }

        /// A text, or the text of JSON.
        package func text(_ column: Int) -> String? {
            // The binary form of `jsonb` begins with its version.
            let start = type(column) == 3802 ? 1 : 0
            return bytes(of: column) { String(decoding: $0.dropFirst(start), as: UTF8.self) }
        }

        /// Any value in its binary form.
        package func data(_ column: Int) -> Data? { bytes(of: column) { Data($0) } }

        /// An array of texts. It has no nulls.
        package func texts(_ column: Int) -> [String]? {
            type(column) == 1009
                ? bytes(of: column) { Self.elements($0).map { String(decoding: $0, as: UTF8.self) } } : nil
        }

        // The object identifiers of types are those of `pg_type.dat` of PostgreSQL.
        private func type(_ column: Int) -> UInt32 { PQftype(rows.result, Int32(column)) }

        private func bytes<Value>(of column: Int, _ read: (UnsafeRawBufferPointer) -> Value) -> Value? {
            guard PQgetisnull(rows.result, index, Int32(column)) == 0 else { return nil }
            let length = Int(PQgetlength(rows.result, index, Int32(column)))
            return read(UnsafeRawBufferPointer(start: PQgetvalue(rows.result, index, Int32(column)), count: length))
        }

        private static func integer(_ bytes: some Collection<UInt8>) -> Int64 {
            // The first byte has the sign.
            bytes.dropFirst().reduce(Int64(Int8(bitPattern: bytes.first ?? 0))) { $0 << 8 | Int64($1) }
        }

        /// The elements of an array of one dimension (`array_send`).
        private static func elements(_ bytes: UnsafeRawBufferPointer) -> [Slice<UnsafeRawBufferPointer>] {
            guard bytes.count >= 20 else { return [] }
            var (elements, place): ([Slice<UnsafeRawBufferPointer>], Int) = ([], 20)
            while place + 4 <= bytes.count {
                let length = max(Int(integer(bytes[place..<place + 4])), 0)
                place += 4
                guard place + length <= bytes.count else { break }
                elements.append(bytes[place..<place + length])
                place += length
            }
            return elements
        }
    }
#endif
