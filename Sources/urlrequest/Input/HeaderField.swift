import RequestOperations

/// One field of a request, checked so that it can be sent.
struct HeaderField: Equatable, Sendable {
    /// The name, a token (RFC 9110, section 5.1).
    let name: String

    /// The value, without surrounding space.
    let value: String

    /// Makes a field from its name and value.
    ///
    /// - Throws: ``UnusableInput`` for a name that is not a token. The same for a value with a control character: a CR
    ///   or LF in it would begin another field (RFC 9110, section 5.5). The same for the fields that say where a body
    ///   ends, since the body that is sent decides that.
    init(name: String, value: String) throws {
        let name = name.trimmingCharacters(in: .whitespaces)
        let value = value.trimmingCharacters(in: .whitespaces)
        guard RequestPreflight.isToken(name) else {
            let other = name.unicodeScalars.first { !RequestPreflight.isToken(String($0)) }
            throw UnusableInput(
                other.map { "\(named($0)) cannot stand in the name of a header field" } ?? "a header field has no name")
        }
        guard !["content-length", "transfer-encoding"].contains(name.lowercased()) else {
            throw UnusableInput("the header field \(name) is made from the body")
        }
        if let control = value.unicodeScalars.first(where: { $0 != "\t" && ($0.value < 0x20 || $0.value == 0x7F) }) {
            throw UnusableInput("\(named(control)) cannot stand in the value of the header field \(name)")
        }
        self.name = name
        self.value = value
    }

    /// Makes a field from `Name: value`.
    init(line: String) throws {
        guard let colon = line.firstIndex(of: ":") else { throw UnusableInput("a header field has no colon") }
        try self.init(name: String(line[..<colon]), value: String(line[line.index(after: colon)...]))
    }
}

extension URLRequest {
    /// Adds a field to the fields of the same name. Values are joined by a comma (RFC 9110, section 5.3), cookies by a
    /// semicolon (RFC 6265, section 4.2.1).
    mutating func add(_ field: HeaderField) {
        if field.name.lowercased() == "cookie", let other = value(forHTTPHeaderField: field.name) {
            setValue("\(other); \(field.value)", forHTTPHeaderField: field.name)
        } else {
            addValue(field.value, forHTTPHeaderField: field.name)
        }
    }
}
