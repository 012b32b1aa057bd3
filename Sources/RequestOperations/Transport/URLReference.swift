/// A URL or a relative reference, split into its parts (RFC 3986, section 4.1).
struct URLReference {
    /// Everything before the query: a path, and the scheme and authority if present.
    let location: String
    /// The text after the first `?`.
    let query: String?
    /// The text after the first `#`.
    let fragment: String?

    /// Splits the text between bytes, because a mark plus a combining mark is a different `Character`.
    init(_ text: String) {
        let bytes = text.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        location = String(text[..<mark])
        query = mark < end ? String(text[bytes.index(after: mark)..<end]) : nil
        fragment = end < bytes.endIndex ? String(text[bytes.index(after: end)...]) : nil
    }

    /// The location. Characters that a path cannot hold are escaped. Scheme and authority stay as they are.
    var escapedLocation: String {
        guard let path = Self.endOfAuthority(in: location) else { return PercentEncoding.path.encoded(location) }
        return String(location[..<path]) + PercentEncoding.path.encoded(String(location[path...]))
    }

    /// The query. Characters that it cannot hold are escaped.
    var escapedQuery: String? { query.map(PercentEncoding.query.encoded) }

    /// The fragment. Characters that it cannot hold are escaped.
    var escapedFragment: String? { fragment.map(PercentEncoding.query.encoded) }

    /// The whole reference. Characters that its parts cannot hold are escaped.
    var escaped: String {
        escapedLocation + (escapedQuery.map { "?" + $0 } ?? "") + (escapedFragment.map { "#" + $0 } ?? "")
    }

    // MARK: Scheme and authority

    /// Whether there is a scheme but no authority, as in `data:`. The scheme then decides what the rest means.
    var isOpaque: Bool {
        Self.endOfScheme(in: location) != nil && Self.endOfAuthority(in: location) == nil
    }

    /// The location without user and password.
    ///
    /// An opaque URL keeps only its scheme. A text that is not a valid reference, but has a colon in its first segment,
    /// is left out as a whole. It may be a URL with a typing error before its user.
    ///
    /// - Parameter mark: The text that replaces the user, the password and the `@`.
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

    /// The end of a reference's scheme, after its colon; `nil` if it has no scheme.
    private static func endOfScheme(in reference: String) -> String.Index? {
        let bytes = reference.utf8
        guard bytes.first?.isLetter == true, let colon = bytes.firstIndex(where: { !$0.isOfScheme }),
            bytes[colon] == UInt8(ascii: ":")
        else { return nil }
        return bytes.index(after: colon)
    }

    /// The end of a reference's scheme and authority; `nil` if it has no authority.
    static func endOfAuthority(in reference: String) -> String.Index? {
        let rest = reference.utf8[(endOfScheme(in: reference) ?? reference.startIndex)...]
        guard rest.starts(with: "//".utf8) else { return nil }
        return rest.dropFirst(2).firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII letter.
    var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
    }

    /// Whether the byte is an ASCII digit.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether the byte may follow the first letter of a scheme (RFC 3986, section 3.1).
    var isOfScheme: Bool {
        isLetter || isDigit || "+.-".utf8.contains(self)
    }
}

extension URL {
    /// The URL of a reference. With a base, the reference is resolved (RFC 3986, section 5.2) and the URL is absolute.
    ///
    /// The parts are escaped one by one. If one part has a bracket, Foundation would escape all parts again.
    package init?(reference: String, relativeTo base: URL? = nil) {
        let escaped = URLReference(reference).escaped
        guard let base else {
            self.init(string: escaped, encodingInvalidCharacters: false)
            return
        }
        // The whole reference is valid now, so Foundation escapes nothing.
        guard let url = URL(string: escaped, relativeTo: base)?.absoluteURL else { return nil }
        // Foundation removes dot segments only from paths that it joins. A reference without a path takes over the path
        // of the base unchanged.
        guard !URLReference(reference).location.isEmpty, let plain = url.withoutDotSegments else {
            self = url
            return
        }
        self = plain
    }

    /// The URL without `.` and `..` in its path (RFC 3986, section 5.2.4); `nil` if it has none, or cannot be split.
    private var withoutDotSegments: URL? {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
        let path = parts.percentEncodedPath.withoutDotSegments
        guard path != parts.percentEncodedPath else { return nil }
        parts.percentEncodedPath = path
        return parts.url
    }
}

extension String {
    /// The path without `.` and `..` (RFC 3986, section 5.2.4). A path that is not absolute stays as it is.
    fileprivate var withoutDotSegments: String {
        guard hasPrefix("/") else { return self }
        var segments: [Substring] = []
        let all = dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (place, segment) in all.enumerated() {
            let isDots = segment == "." || segment == ".."
            if segment == ".." { _ = segments.popLast() }
            if !isDots { segments.append(segment) }
            // A path that ends with `.` or `..` names a folder, so it keeps a slash at the end.
            if isDots, place == all.count - 1 { segments.append("") }
        }
        return "/" + segments.joined(separator: "/")
    }
}
