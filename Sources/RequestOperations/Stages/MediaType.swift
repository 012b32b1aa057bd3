/// A media type or media range with its parameters (RFC 9110, sections 8.3.1 and 12.5.1).
struct MediaType: Sendable, Hashable {
    /// The type in lower case, `*` in a range over all types.
    let type: String
    /// The subtype in lower case, `*` in a range over all subtypes.
    let subtype: String
    /// The parameters; names in lower case.
    let parameters: [String: String]

    /// Reads a type, or gives `nil` for what is not one. An empty parameter (`text/plain;`) is tolerated.
    init?(_ text: String) {
        var parser = FieldParser(text)
        guard let type = parser.token(), parser.take("/"), let subtype = parser.token() else { return nil }
        guard type != "*" || subtype == "*" else { return nil }
        var parameters: [String: String] = [:]
        while !parser.isAtEnd {
            guard parser.take(";") else { return nil }
            guard let name = parser.token() else { continue }
            guard parser.take("="), let value = parser.tokenOrQuotedString() else { return nil }
            // The first of several counts, as browsers have it.
            parameters[name.lowercased()] = parameters[name.lowercased()] ?? value
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
        rest = Substring(text).unicodeScalars
        skipSpace()
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Takes one delimiter and the space after it, if it stands next.
    mutating func take(_ delimiter: Unicode.Scalar) -> Bool {
        guard rest.first == delimiter else { return false }
        rest.removeFirst()
        skipSpace()
        return true
    }

    mutating func token() -> String? {
        let token = rest.prefix(while: \.isTokenScalar)
        guard !token.isEmpty else { return nil }
        rest = rest[token.endIndex...]
        skipSpace()
        return String(Substring(token))
    }

    mutating func tokenOrQuotedString() -> String? {
        rest.first == "\"" ? quotedString() : token()
    }

    private mutating func quotedString() -> String? {
        rest.removeFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"":
                skipSpace()
                return String(value)
            case "\\":
                guard let escaped = rest.popFirst() else { return nil }
                value.append(escaped)
            default:
                value.append(scalar)
            }
        }
        return nil
    }

    private mutating func skipSpace() {
        rest = rest.drop { $0 == " " || $0 == "\t" }
    }
}

extension Unicode.Scalar {
    /// Whether a token may contain it (`tchar`, RFC 9110, section 5.6.2).
    var isTokenScalar: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9": true
        case "!", "#", "$", "%", "&", "'", "*", "+", "-", ".", "^", "_", "`", "|", "~": true
        default: false
        }
    }
}
