#if PostgreSQL
    package import Foundation

    /// A parameter of a statement, as libpq sends it in binary form.
    ///
    /// The statement names the type of each parameter, by a cast or as the argument of a function. The value must have
    /// exactly that type.
    package enum PostgreSQLValue: Sendable, Hashable {
        case null
        case bool(Bool)
        /// `smallint`.
        case int16(Int16)
        /// `integer`.
        case int32(Int32)
        /// `bigint`.
        case int64(Int64)
        /// `double precision`.
        case double(Double)
        case text(String)
        /// `bytea`.
        case bytes(Data)
        /// `jsonb`.
        case json(String)
        case array(ElementType, [PostgreSQLValue])

        /// The type of an array's elements, by its object identifier (`pg_type.dat` of PostgreSQL).
        package enum ElementType: UInt32, Sendable {
            case bool = 16
            case bytes = 17
            case int64 = 20
            case int16 = 21
            case int32 = 23
            case text = 25
            case double = 701
        }

        package static func optional(_ text: String?) -> PostgreSQLValue { text.map(Self.text) ?? .null }
        package static func optional(_ number: Double?) -> PostgreSQLValue { number.map(Self.double) ?? .null }
        package static func optional(_ data: Data?) -> PostgreSQLValue { data.map(Self.bytes) ?? .null }
        package static func texts(_ texts: some Sequence<String>) -> PostgreSQLValue {
            .array(.text, texts.map(Self.text))
        }
        package static func int64s(_ numbers: some Sequence<Int64>) -> PostgreSQLValue {
            .array(.int64, numbers.map(Self.int64))
        }

        /// Appends the binary form. Returns `false` for null, which has none.
        func encode(into bytes: inout [UInt8]) -> Bool {
            switch self {
            case .null: return false
            case .bool(let value): bytes.append(value ? 1 : 0)
            case .int16(let number): bytes.append(bigEndian: number)
            case .int32(let number): bytes.append(bigEndian: number)
            case .int64(let number): bytes.append(bigEndian: number)
            case .double(let number): bytes.append(bigEndian: number.bitPattern)
            case .text(let text): bytes.append(contentsOf: text.utf8)
            case .bytes(let data): bytes.append(contentsOf: data)
            case .json(let text):
                bytes.append(1)
                bytes.append(contentsOf: text.utf8)
            case .array(let type, let elements): Self.encode(elements, of: type, into: &bytes)
            }
            return true
        }

        /// The form of `array_recv`: the number of dimensions, whether there are nulls, the type, and for the one dimension
        /// its length and its first index. Then come the elements, each after its length, which is -1 for null.
        private static func encode(_ elements: [PostgreSQLValue], of type: ElementType, into bytes: inout [UInt8]) {
            bytes.append(bigEndian: Int32(elements.isEmpty ? 0 : 1))
            bytes.append(bigEndian: Int32(elements.contains(.null) ? 1 : 0))
            bytes.append(bigEndian: type.rawValue)
            guard !elements.isEmpty else { return }
            bytes.append(bigEndian: Int32(elements.count))
            bytes.append(bigEndian: Int32(1))
            for element in elements {
                let start = bytes.count
                bytes.append(bigEndian: Int32(-1))
                guard element.encode(into: &bytes) else { continue }
                let length = UInt32(bytes.count - start - 4)
                for place in 0..<4 { bytes[start + place] = UInt8(truncatingIfNeeded: length >> (24 - 8 * place)) }
            }
        }
    }

    extension [UInt8] {
        fileprivate mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
            for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
                append(UInt8(truncatingIfNeeded: number >> Number(shift)))
            }
        }
    }
#endif
