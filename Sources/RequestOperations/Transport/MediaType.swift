/// A media type or media range with its parameters (RFC 9110, sections 8.3.1 and 12.5.1).
struct MediaType: Sendable, Hashable {
    /// The type in lower case. `*` in a range of all types.
    let type: String
    /// The subtype in lower case. `*` in a range of all subtypes.
    let subtype: String
    /// The parameters, by names in lower case.
    private(set) var parameters: [String: String]

    /// Reads a type as browsers do (WHATWG MIME Sniffing, "parse a MIME type"). `nil` if the text is not a type.
    ///
    /// A parameter that is empty (`text/plain;`) or has no name is skipped. A value goes up to the next semicolon.
    /// Space before the value is kept, and space after it is dropped. The closing quotation mark of a quoted value may
    /// be missing. If a name appears several times, the first value counts.
    init?(_ text: String) {
        var scanner = MediaTypeScanner(text)
        let type = scanner.take { $0 != "/" }
        guard type.isToken, scanner.skip("/") else { return nil }
        let subtype = scanner.take { $0 != ";" }.trimmingTrailingSpace
        guard subtype.isToken, type != "*" || subtype == "*" else { return nil }
        var parameters: [String: String] = [:]
        while scanner.skip(";") {
            guard let (name, value) = scanner.parameter(), name.isToken, value.unicodeScalars.allSatisfy(\.mayBeQuoted)
            else { continue }
            parameters[name.lowercased()] = parameters[name.lowercased()] ?? value
        }
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        self.parameters = parameters
    }

    /// Reads the value of a `Content-Type` that may have been sent several times (Fetch, "extract a MIME type").
    ///
    /// A list element that is not a type is skipped. The last type counts, and takes over the charset of an earlier one
    /// if it has none. Different types or charsets give `nil`. In that case Fetch would take the last.
    static func ofField(_ field: String) -> MediaType? {
        let types = MediaTypeScanner(field).values().compactMap { MediaType($0) }.filter { $0.type != "*" }
        guard var type = types.last, types.allSatisfy({ $0.type == type.type && $0.subtype == type.subtype }) else {
            return nil
        }
        let charsets = types.compactMap { $0.parameters["charset"] }
        guard let charset = charsets.last else { return type }
        guard charsets.allSatisfy({ $0 == charset || Charset.areSame($0, charset) }) else { return nil }
        type.parameters["charset"] = charset
        return type
    }

    /// Whether the value of a `Content-Type` sets a charset outside of quoted strings, readable or not.
    static func mentionsCharset(in field: String) -> Bool {
        var scanner = MediaTypeScanner(field)
        return scanner.skipToCharset()
    }

    /// Whether this range covers a type.
    ///
    /// Two `charset` values are equal if they name the same charset. Other parameters must be exactly equal. A weight
    /// (`q`) is ignored.
    func includes(_ other: MediaType) -> Bool {
        guard type == "*" || type == other.type, subtype == "*" || subtype == other.subtype else { return false }
        return parameters.allSatisfy { name, value in
            guard name != "q" else { return true }
            guard let found = other.parameters[name] else { return false }
            return name == "charset" ? Charset.areSame(found, value) : found == value
        }
    }
}

/// Splits the value of a `Content-Type` into its parts (WHATWG MIME Sniffing and Fetch).
private struct MediaTypeScanner {
    private var rest: Substring.UnicodeScalarView

    /// Reads the text without the space at its beginning and end.
    init(_ text: String) {
        let scalars = text.unicodeScalars
        rest = Substring(Substring(scalars.drop(while: \.isHTTPSpace)).trimmingTrailingSpace).unicodeScalars
    }

    /// Takes the scalars up to the first that fails the test.
    mutating func take(while isTaken: (Unicode.Scalar) -> Bool) -> String {
        let taken = rest.prefix(while: isTaken)
        rest = rest[taken.endIndex...]
        return String(Substring(taken))
    }

    /// Skips a delimiter if it comes next.
    mutating func skip(_ delimiter: Unicode.Scalar) -> Bool {
        guard rest.first == delimiter else { return false }
        rest.removeFirst()
        return true
    }

    /// Takes a parameter up to the next semicolon; `nil` if it has no value.
    mutating func parameter() -> (name: String, value: String)? {
        rest = rest.drop(while: \.isHTTPSpace)
        let name = take { $0 != ";" && $0 != "=" }
        guard skip("=") else { return nil }
        guard rest.first == "\"" else {
            let value = take { $0 != ";" }.trimmingTrailingSpace
            return value.isEmpty ? nil : (name, value)
        }
        let value = rest.takeQuotedText().value
        _ = take { $0 != ";" }
        return (name, value)
    }

    /// The values of a list separated by commas outside of quoted strings (Fetch, "get, decode, and split").
    func values() -> [String] {
        var scanner = self
        var values: [String] = []
        while true {
            let start = scanner.rest.startIndex
            while let scalar = scanner.rest.first, scalar != "," {
                if scalar == "\"" { _ = scanner.rest.takeQuotedText() } else { scanner.rest.removeFirst() }
            }
            values.append(String(Substring(rest[start..<scanner.rest.startIndex])))
            guard scanner.skip(",") else { return values }
        }
    }

    /// Skips everything before a charset with a value, outside of quoted strings; `false` if there is none.
    ///
    /// An unclosed quotation mark begins no quoted string.
    mutating func skipToCharset() -> Bool {
        var previous: Unicode.Scalar = ";"
        // After one unclosed mark, the search for closing marks stops. Otherwise the time could grow with the square of
        // the field's length.
        var areClosed = true
        while let scalar = rest.first {
            if scalar == "\"", areClosed {
                var quoted = rest
                areClosed = quoted.takeQuotedText().isClosed
                rest = areClosed ? quoted : rest.dropFirst()
            } else if !previous.isOfWord, setsCharset {
                return true
            } else {
                rest.removeFirst()
            }
            previous = scalar
        }
        return false
    }

    /// Whether a charset with a value comes next. Space around the equals sign is allowed.
    private var setsCharset: Bool {
        var rest = rest
        for letter in "charset".unicodeScalars {
            // This bit makes an ASCII letter lower case.
            guard let scalar = rest.popFirst(), scalar.value | 0x20 == letter.value else { return false }
        }
        rest = rest.drop(while: \.isHTTPSpace)
        guard rest.popFirst() == "=", let value = rest.drop(while: \.isHTTPSpace).first else { return false }
        return value != ";" && value != ","
    }
}

extension StringProtocol {
    /// The text without HTTP whitespace at its end.
    fileprivate var trimmingTrailingSpace: String {
        guard let last = unicodeScalars.lastIndex(where: { !$0.isHTTPSpace }) else { return "" }
        return String(String.UnicodeScalarView(unicodeScalars[...last]))
    }

    /// Whether this is a token (RFC 9110, section 5.6.2).
    fileprivate var isToken: Bool { !isEmpty && unicodeScalars.allSatisfy(\.isTokenScalar) }
}

extension Substring.UnicodeScalarView {
    /// Takes an element of a list: all up to the next comma that is in no quoted string (RFC 9110, section 5.6.1).
    mutating func takeListElement() -> String {
        var (isQuoted, isEscaped) = (false, false)
        let element = prefix { scalar in
            if isEscaped {
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = isQuoted
            } else if scalar == "\"" {
                isQuoted.toggle()
            }
            return isQuoted || scalar != ","
        }
        self = self[element.endIndex...]
        return String(Substring(element))
    }

    /// Takes a quoted string whose opening quotation mark comes first (RFC 9110, section 5.6.4). If it is not closed, it is
    /// all of the rest.
    fileprivate mutating func takeQuotedText() -> (value: String, isClosed: Bool) {
        removeFirst()
        var value = String.UnicodeScalarView()
        while let scalar = popFirst() {
            if scalar == "\"" { return (String(value), true) }
            // A backslash at the very end stands for itself.
            value.append(scalar == "\\" ? popFirst() ?? scalar : scalar)
        }
        return (String(value), false)
    }

    /// Takes a quoted string whose opening quotation mark comes first; `nil` if it is not closed.
    mutating func takeQuotedString() -> String? {
        let (value, isClosed) = takeQuotedText()
        return isClosed ? value : nil
    }
}

extension Unicode.Scalar {
    /// Whether a token may contain this scalar.
    var isTokenScalar: Bool { isASCII && UInt8(ascii: self).isTokenCharacter }

    /// Whether the scalar is space (WHATWG MIME Sniffing, "HTTP whitespace").
    fileprivate var isHTTPSpace: Bool { self == " " || self == "\t" || self == "\n" || self == "\r" }

    /// Whether the scalar is part of a word: a letter, a digit, `_` or `-`.
    fileprivate var isOfWord: Bool {
        self == "_" || self == "-" || ("0"..."9").contains(self) || properties.isAlphabetic
    }

    /// Whether a parameter value may contain this scalar (WHATWG MIME Sniffing, "HTTP quoted-string token code point").
    fileprivate var mayBeQuoted: Bool {
        self == "\t" || (0x20...0x7E).contains(value) || (0x80...0xFF).contains(value)
    }
}
