import RequestOperations

/// A line of the input that is a JSON object. A key whose value is `null` counts as absent.
struct JSONLine {
    /// The body that a line has. A string is sent as it is. An object or array is sent as its JSON text.
    struct Body {
        let data: Data
        let isJSON: Bool
    }

    private(set) var method: String?
    private(set) var url: URL?
    private(set) var fields: [HeaderField] = []
    private(set) var body: Body?
    /// What a line for a durable queue says besides.
    private(set) var queueing = Queueing()

    /// Reads a line, which must be valid UTF-8.
    ///
    /// - Parameter isForQueue: Whether the keys `lane`, `key`, `notBefore` and `expires` are known. `false` by default.
    /// - Throws: ``UnusableInput`` with the column of the error.
    init(_ text: ArraySlice<UInt8>, isForQueue: Bool = false) throws {
        var keys: Set<String> = []
        var scanner = JSONScanner(text)
        try scanner.object { key, scanner in
            let column = scanner.keyColumn
            guard keys.insert(key).inserted else {
                throw UnusableInput("the key \(quoted(key)) stands twice", column: column)
            }
            switch key {
            case "method": method = try Self.readMethod(&scanner)
            case "url": url = try Self.readURL(&scanner)
            case "headers": fields = try Self.readFields(&scanner)
            case "body": body = try Self.readBody(&scanner)
            case "lane" where isForQueue: queueing.lane = try Self.readString(key, &scanner)
            case "key" where isForQueue: queueing.key = try Self.readString(key, &scanner)
            case "notBefore" where isForQueue: queueing.notBefore = try Self.readDate(key, &scanner)
            case "expires" where isForQueue: queueing.expires = try Self.readDate(key, &scanner)
            default: throw UnusableInput("the key \(quoted(key)) is not known", column: column)
            }
        }
        try scanner.end()
    }

    private static func readMethod(_ scanner: inout JSONScanner) throws -> String? {
        if try scanner.skipNull() { return nil }
        let column = scanner.column
        guard scanner.kind == .string else { throw UnusableInput("method is not a string", column: column) }
        let method = try scanner.string()
        guard RequestPreflight.isToken(method) else {
            throw UnusableInput("the method \(quoted(method)) is not a token", column: column)
        }
        return method
    }

    private static func readURL(_ scanner: inout JSONScanner) throws -> URL? {
        if try scanner.skipNull() { return nil }
        let column = scanner.column
        guard scanner.kind == .string else { throw UnusableInput("url is not a string", column: column) }
        let json = try scanner.value()
        var inner = JSONScanner(json)
        do { return try URL(requestable: inner.string()) } catch let error as UnusableInput {
            // After an escape, columns in the URL differ from columns in the line.
            let isPlain = !json.contains(UInt8(ascii: "\\"))
            throw isPlain ? error.beginning(at: column + 1) : UnusableInput(error.reason(in: "the URL"), column: column)
        }
    }

    private static func readFields(_ scanner: inout JSONScanner) throws -> [HeaderField] {
        if try scanner.skipNull() { return [] }
        guard scanner.kind == .object else {
            throw UnusableInput("headers is not an object", column: scanner.column)
        }
        var fields: [HeaderField] = []
        try scanner.object { name, scanner in
            switch scanner.kind {
            case .array:
                try scanner.array { scanner in
                    if let field = try readField(name, &scanner) { fields.append(field) }
                }
            case .object, .string, .other:
                if let field = try readField(name, &scanner) { fields.append(field) }
            }
        }
        return fields
    }

    private static func readField(_ name: String, _ scanner: inout JSONScanner) throws -> HeaderField? {
        if try scanner.skipNull() { return nil }
        guard scanner.kind == .string else {
            throw UnusableInput(
                "a value of headers is neither a string nor an array of strings", column: scanner.column)
        }
        let column = scanner.column
        let value = try scanner.string()
        do { return try HeaderField(name: name, value: value) } catch let error as UnusableInput {
            throw error.beginning(at: column)
        }
    }

    private static func readString(_ key: String, _ scanner: inout JSONScanner) throws -> String? {
        if try scanner.skipNull() { return nil }
        guard scanner.kind == .string else { throw UnusableInput("\(key) is not a string", column: scanner.column) }
        return try scanner.string()
    }

    private static func readDate(_ key: String, _ scanner: inout JSONScanner) throws -> Date? {
        let column = scanner.column
        guard let text = try readString(key, &scanner) else { return nil }
        do { return try OptionValue.date(text) } catch let error as UnusableInput {
            throw UnusableInput("\(key): \(error.reason)", column: column)
        }
    }

    private static func readBody(_ scanner: inout JSONScanner) throws -> Body? {
        if try scanner.skipNull() { return nil }
        switch scanner.kind {
        case .string: return Body(data: Data(try scanner.string().utf8), isJSON: false)
        case .object, .array: return Body(data: Data(try scanner.value()), isJSON: true)
        case .other: throw UnusableInput("body is not a string, an object or an array", column: scanner.column)
        }
    }
}
