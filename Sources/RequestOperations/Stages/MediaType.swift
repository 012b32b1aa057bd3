/// A media type or media range with its parameters (RFC 9110, sections 8.3.1 and 12.5.1).
struct MediaType: Sendable, Hashable {
    /// The type in lower case, `*` in a range over all types.
    let type: String
    /// The subtype in lower case, `*` in a range over all subtypes.
    let subtype: String
    /// The parameters; names in lower case.
    let parameters: [String: String]

    /// Reads a type, or gives `nil` for what is not one. A parameter that is empty (`text/plain;`) or cannot be read is
    /// passed over, as browsers do.
    init?(_ text: String) {
        var parser = FieldParser(text)
        guard let type = parser.token(), parser.take("/"), let subtype = parser.token() else { return nil }
        guard type != "*" || subtype == "*" else { return nil }
        var parameters: [String: String] = [:]
        while !parser.isAtEnd {
            guard parser.take(";") else { return nil }
            if let name = parser.token(), parser.take("="), let value = parser.tokenOrQuotedString(), parser.isAt(";") {
                // The first of several counts, as browsers have it.
                parameters[name.lowercased()] = parameters[name.lowercased()] ?? value
            }
            parser.skip(to: ";")
        }
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        self.parameters = parameters
    }

    /// Whether this range covers a type. `charset` values compare without regard to case, other parameters exactly; a
    /// weight (`q`) is not compared.
    func includes(_ other: MediaType) -> Bool {
        guard type == "*" || type == other.type, subtype == "*" || subtype == other.subtype else { return false }
        return parameters.allSatisfy { name, value in
            guard name != "q" else { return true }
            guard let found = other.parameters[name] else { return false }
            return name == "charset" ? found.lowercased() == value.lowercased() : found == value
        }
    }
}

/// Reads the tokens and quoted strings of a field value (RFC 9110, section 5.6).
struct FieldParser {
    private var rest: Substring.UnicodeScalarView

    init(_ text: String) {
        rest = Substring(text.trimmingCharacters(in: .whitespaces)).unicodeScalars
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Takes a delimiter, if it stands next; space is tolerated on both sides of a semicolon only.
    mutating func take(_ delimiter: Unicode.Scalar) -> Bool {
        if delimiter == ";" { skipSpace() }
        guard rest.first == delimiter else { return false }
        rest.removeFirst()
        if delimiter == ";" { skipSpace() }
        return true
    }

    /// Whether a delimiter or the end comes next, after any space.
    mutating func isAt(_ delimiter: Unicode.Scalar) -> Bool {
        skipSpace()
        return rest.isEmpty || rest.first == delimiter
    }

    /// Goes on to the next delimiter, or to the end.
    mutating func skip(to delimiter: Unicode.Scalar) {
        rest = rest.drop { $0 != delimiter }
    }

    mutating func token() -> String? {
        let token = rest.prefix(while: \.isTokenScalar)
        guard !token.isEmpty else { return nil }
        rest = rest[token.endIndex...]
        return String(Substring(token))
    }

    mutating func tokenOrQuotedString() -> String? {
        rest.first == "\"" ? rest.takeQuotedString() : token()
    }

    private mutating func skipSpace() {
        rest = rest.drop { $0 == " " || $0 == "\t" }
    }
}

extension Substring.UnicodeScalarView {
    /// Takes a quoted string, whose opening quotation mark stands first (RFC 9110, section 5.6.4); `nil` if it does not end.
    mutating func takeQuotedString() -> String? {
        removeFirst()
        var value = String.UnicodeScalarView()
        while let scalar = popFirst() {
            switch scalar {
            case "\"":
                return String(value)
            case "\\":
                guard let escaped = popFirst() else { return nil }
                value.append(escaped)
            default:
                value.append(scalar)
            }
        }
        return nil
    }
}

extension Unicode.Scalar {
    /// Whether a token may contain it.
    var isTokenScalar: Bool { isASCII && UInt8(ascii: self).isTokenCharacter }
}
