/// A URL or a relative reference, cut into its parts (RFC 3986, section 4.1).
struct URLReference {
    /// All before the query: a path, with scheme and authority where there are some.
    let location: String
    /// What follows the first `?`.
    let query: String?
    /// What follows the first `#`.
    let fragment: String?

    /// Cuts a text between bytes: a mark with a combining one after it is another `Character`.
    init(_ text: String) {
        let bytes = text.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        location = String(text[..<mark])
        query = mark < end ? String(text[bytes.index(after: mark)..<end]) : nil
        fragment = end < bytes.endIndex ? String(text[bytes.index(after: end)...]) : nil
    }

    /// The location with what a path cannot hold escaped; scheme and authority stay as they are.
    var escapedLocation: String {
        guard let path = Self.endOfAuthority(in: location) else { return PercentEncoding.path.encoded(location) }
        return String(location[..<path]) + PercentEncoding.path.encoded(String(location[path...]))
    }

    /// The query with what it cannot hold escaped.
    var escapedQuery: String? { query.map(PercentEncoding.query.encoded) }

    /// The whole, with what its parts cannot hold escaped.
    var escaped: String {
        escapedLocation + (escapedQuery.map { "?" + $0 } ?? "")
            + (fragment.map { "#" + PercentEncoding.query.encoded($0) } ?? "")
    }

    /// Where scheme and authority of a reference end; `nil` if it has no authority.
    static func endOfAuthority(in reference: String) -> String.Index? {
        let match = reference.prefixMatch(
            of: /(?:[A-Za-z][A-Za-z0-9+.\-]*:)?\/\/[^\/?#]*/.matchingSemantics(.unicodeScalar))
        return match?.range.upperBound
    }
}

extension URL {
    /// The URL of a reference, whose parts are escaped one by one: Foundation escapes every part anew, the escapes in it
    /// too, if one of them holds a bracket.
    init?(reference: String, relativeTo base: URL? = nil) {
        let escaped = URLReference(reference).escaped
        guard let base else {
            self.init(string: escaped, encodingInvalidCharacters: false)
            return
        }
        // The whole is valid now, so that Foundation escapes nothing.
        self.init(string: escaped, relativeTo: base)
    }
}
