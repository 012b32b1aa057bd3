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

    /// The fragment with what it cannot hold escaped.
    var escapedFragment: String? { fragment.map(PercentEncoding.query.encoded) }

    /// The whole, with what its parts cannot hold escaped.
    var escaped: String {
        escapedLocation + (escapedQuery.map { "?" + $0 } ?? "") + (escapedFragment.map { "#" + $0 } ?? "")
    }

    // MARK: Scheme and authority

    /// Whether there is a scheme and no authority, as in `data:`, so that the rest is whatever the scheme makes of it.
    var isOpaque: Bool {
        Self.endOfScheme(in: location) != nil && Self.endOfAuthority(in: location) == nil
    }

    /// The location without user and password.
    ///
    /// An opaque URL keeps only its scheme. A text with another colon in its first segment is no reference, and all of it is
    /// left out: it may be a URL with a mistake before its user.
    ///
    /// - Parameter mark: What takes the place of user, password and `@`.
    func location(withUserAs mark: String) -> String {
        let scheme = Self.endOfScheme(in: location)
        if let path = Self.endOfAuthority(in: location) {
            let authority = location.utf8[(scheme ?? location.startIndex)..<path].dropFirst(2)
            guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return location }
            return location[..<authority.startIndex] + mark + location[authority.index(after: at)...]
        }
        if let scheme { return String(location[..<scheme]) }
        let hasColon = location.utf8.prefix { $0 != UInt8(ascii: "/") }.contains(UInt8(ascii: ":"))
        return hasColon ? Redaction.mark : location
    }

    /// Where the scheme of a reference ends, behind its colon; `nil` if it has none.
    private static func endOfScheme(in reference: String) -> String.Index? {
        let bytes = reference.utf8
        guard bytes.first?.isLetter == true, let colon = bytes.firstIndex(where: { !$0.isOfScheme }),
            bytes[colon] == UInt8(ascii: ":")
        else { return nil }
        return bytes.index(after: colon)
    }

    /// Where scheme and authority of a reference end; `nil` if it has no authority.
    static func endOfAuthority(in reference: String) -> String.Index? {
        let rest = reference.utf8[(endOfScheme(in: reference) ?? reference.startIndex)...]
        guard rest.starts(with: "//".utf8) else { return nil }
        return rest.dropFirst(2).firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
    }
}

extension UInt8 {
    /// Whether it is a letter of ASCII.
    var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
    }

    /// Whether a scheme may have it behind its first letter (RFC 3986, section 3.1).
    var isOfScheme: Bool {
        isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || "+.-".utf8.contains(self)
    }
}

extension URL {
    /// The URL of a reference. Its parts are escaped one by one: if one of them has a bracket, Foundation escapes all of
    /// them once more. With a base it is resolved (RFC 3986, section 5.2), and absolute.
    package init?(reference: String, relativeTo base: URL? = nil) {
        let escaped = URLReference(reference).escaped
        guard let base else {
            self.init(string: escaped, encodingInvalidCharacters: false)
            return
        }
        // The whole is valid now, so that Foundation escapes nothing.
        guard let url = URL(string: escaped, relativeTo: base)?.absoluteURL else { return nil }
        // Foundation removes dot segments only from paths that it joins. A reference without a path takes that of the base
        // as it is.
        guard !URLReference(reference).location.isEmpty, let plain = url.withoutDotSegments else {
            self = url
            return
        }
        self = plain
    }

    /// The URL without `.` and `..` in its path (RFC 3986, section 5.2.4); `nil` if there are none, or no parts.
    private var withoutDotSegments: URL? {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
        let path = parts.percentEncodedPath.withoutDotSegments
        guard path != parts.percentEncodedPath else { return nil }
        parts.percentEncodedPath = path
        return parts.url
    }
}

extension String {
    /// An absolute path without `.` and `..` (RFC 3986, section 5.2.4). Any other is left as it is.
    fileprivate var withoutDotSegments: String {
        guard hasPrefix("/") else { return self }
        var segments: [Substring] = []
        let all = dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (place, segment) in all.enumerated() {
            let isDots = segment == "." || segment == ".."
            if segment == ".." { _ = segments.popLast() }
            if !isDots { segments.append(segment) }
            // What ends with one of them is a folder.
            if isDots, place == all.count - 1 { segments.append("") }
        }
        return "/" + segments.joined(separator: "/")
    }
}
