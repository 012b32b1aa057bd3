import RequestOperations

/// Reads one JSON text (RFC 8259) from its beginning to its end, member by member.
///
/// Foundation's parser makes its own values. A body made from those values is not the same as the given one: numbers
/// and the order of keys change. This scanner returns the text of a value unchanged.
struct JSONScanner {
    /// The kind of the next value, by its first byte.
    enum Kind {
        case object
        case array
        case string
        /// A number, `true`, `false`, `null`, or no value at all.
        case other
    }

    private let bytes: ArraySlice<UInt8>
    private var position: Int
    private var depth = 0
    /// The column at which the last key begins.
    private(set) var keyColumn = 1

    private static let maximumDepth = 512

    /// Makes a scanner of a text, which must be valid UTF-8.
    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// The kind of the next value.
    var kind: Kind {
        mutating get {
            skipSpace()
            return switch peek {
            case UInt8(ascii: "{"): .object
            case UInt8(ascii: "["): .array
            case UInt8(ascii: "\""): .string
            default: .other
            }
        }
    }

    /// The column at which the next value begins, or the end of the text. Counted in characters, from 1.
    var column: Int {
        mutating get {
            skipSpace()
            return column(of: position)
        }
    }

    /// Reads an object. `member` must read the value of each key.
    mutating func object(_ member: (_ key: String, _ scanner: inout JSONScanner) throws -> Void) throws {
        try list(from: "{", to: "}") { scanner in
            let column = scanner.column
            let key = try scanner.string()
            scanner.keyColumn = column
            try scanner.expect(":")
            try member(key, &scanner)
        }
    }

    /// Reads an array. `element` must read each element.
    mutating func array(_ element: (_ scanner: inout JSONScanner) throws -> Void) throws {
        try list(from: "[", to: "]", element)
    }

    /// Reads a string.
    mutating func string() throws -> String {
        try expect("\"")
        var decoded: [UInt8] = []
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                // The text is valid UTF-8, and escapes always decode to whole scalars.
                return String(decoding: decoded, as: UTF8.self)
            case UInt8(ascii: "\\"):
                decoded.append(contentsOf: String(try escape()).utf8)
            case 0..<0x20:
                position -= 1
                throw malformed("a control character stands in a string")
            default:
                decoded.append(byte)
            }
        }
        throw malformed("a string has no end")
    }

    /// Reads `null` if it is the next value. Returns whether it was.
    mutating func skipNull() throws -> Bool {
        guard kind == .other, bytes[position...].starts(with: "null".utf8) else { return false }
        try scalar()
        return true
    }

    /// Reads any value and returns its text unchanged.
    mutating func value() throws -> ArraySlice<UInt8> {
        let kind = kind
        let start = position
        switch kind {
        case .object: try object { _, scanner in _ = try scanner.value() }
        case .array: try array { scanner in _ = try scanner.value() }
        case .string: _ = try string()
        case .other: try scalar()
        }
        return bytes[start..<position]
    }

    /// Checks that only space is left.
    mutating func end() throws {
        skipSpace()
        if peek != nil { throw malformed("something follows its end") }
    }

    // MARK: Parts

    private var peek: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = peek, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    private mutating func expect(_ wanted: Unicode.Scalar) throws {
        skipSpace()
        guard peek == UInt8(ascii: wanted) else { throw malformed("“\(wanted)” is missing") }
        position += 1
    }

    private mutating func list(
        from open: Unicode.Scalar, to close: Unicode.Scalar, _ element: (inout JSONScanner) throws -> Void
    ) throws {
        try expect(open)
        depth += 1
        guard depth <= Self.maximumDepth else { throw malformed("it is nested too deeply") }
        defer { depth -= 1 }
        skipSpace()
        if peek == UInt8(ascii: close) {
            position += 1
            return
        }
        while true {
            try element(&self)
            skipSpace()
            if peek == UInt8(ascii: close) {
                position += 1
                return
            }
            try expect(",")
        }
    }

    private mutating func escape() throws -> Unicode.Scalar {
        guard let byte = peek else { throw malformed("a string has no end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try escapedScalar()
        default:
            position -= 1
            throw malformed("an escape is not known")
        }
    }

    private mutating func escapedScalar() throws -> Unicode.Scalar {
        let unit = try hexadecimal()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard UTF16.isLeadSurrogate(UInt16(unit)), peek == UInt8(ascii: "\\") else {
            throw malformed("half of a surrogate pair is missing")
        }
        position += 1
        guard peek == UInt8(ascii: "u") else { throw malformed("half of a surrogate pair is missing") }
        position += 1
        let trail = try hexadecimal()
        guard UTF16.isTrailSurrogate(UInt16(trail)),
            let scalar = Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + trail & 0x3FF)
        else { throw malformed("half of a surrogate pair is missing") }
        return scalar
    }

    private mutating func hexadecimal() throws -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw malformed("an escape needs four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private mutating func scalar() throws {
        for word in ["true", "false", "null"] where bytes[position...].starts(with: word.utf8) {
            position += word.utf8.count
            return
        }
        try number()
    }

    private mutating func number() throws {
        if peek == UInt8(ascii: "-") { position += 1 }
        if peek == UInt8(ascii: "0") { position += 1 } else { try digits() }
        if peek == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            position += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
    }

    private mutating func digits() throws {
        let start = position
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        if position == start { throw malformed("a value is missing or is none of JSON's") }
    }

    /// An error that names the character where the fault was found.
    private func malformed(_ reason: String) -> UnusableInput {
        let rest = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
        let found = rest.unicodeScalars.first.map { "at \(named($0))" } ?? "at the end of the line"
        return UnusableInput("malformed JSON: \(reason), \(found)", column: column(of: position))
    }

    private func column(of position: Int) -> Int {
        // In UTF-8, a byte that continues a character begins with the bits 10.
        bytes[..<position].count { $0 & 0xC0 != 0x80 } + 1
    }
}
