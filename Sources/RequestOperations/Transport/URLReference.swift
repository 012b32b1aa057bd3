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
    var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
    }

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

/// Percent-encodes text in UTF-8 (RFC 3986, section 2.1).
package struct PercentEncoding {
    /// For each byte, whether it stands for itself.
    private let standsForItself: [Bool]
    private let space: [UInt8]
    /// Whether an escape that is already in the text is kept.
    private let keepsEscapes: Bool
    /// Whether a lone CR or LF becomes CRLF.
    private let normalizesLineBreaks: Bool

    /// Makes an encoding.
    ///
    /// - Parameters:
    ///   - standsForItself: For each byte, whether it stands for itself: see ``table(_:)``.
    ///   - writesPlus: Whether a space becomes `+`, as in forms.
    init(
        _ standsForItself: [Bool], keepsEscapes: Bool = false, writesPlus: Bool = false,
        normalizesLineBreaks: Bool = false
    ) {
        self.standsForItself = standsForItself
        self.keepsEscapes = keepsEscapes
        self.normalizesLineBreaks = normalizesLineBreaks
        space = writesPlus ? Self.plus : Self.escapedSpace
    }

    /// Only the unreserved characters stand for themselves (RFC 3986, section 2.3).
    static let unreserved = PercentEncoding(table("-._~"))
    /// The reserved characters stand for themselves too, and so do escapes.
    static let reserved = PercentEncoding(table("-._~:/?#[]@!$&'()*+,;="), keepsEscapes: true)
    /// What a user and a password may hold (RFC 3986, section 3.2.1), and escapes.
    package static let userInformation = PercentEncoding(table("-._~!$&'()*+,;=:"), keepsEscapes: true)
    /// What a path may hold (RFC 3986, section 3.3), and escapes.
    static let path = PercentEncoding(table("-._~!$&'()*+,;=:@/"), keepsEscapes: true)
    /// What a query and a fragment may hold (RFC 3986, section 3.4), and escapes.
    static let query = PercentEncoding(table("-._~!$&'()*+,;=:@/?"), keepsEscapes: true)

    package func encoded(_ text: String) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count)
        append(text, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    func append(_ text: String, to output: inout [UInt8]) {
        // The text's own bytes are used without a copy, unless the text comes from Objective-C.
        let wasAppended: Void? = text.utf8.withContiguousStorageIfAvailable { append($0, to: &output) }
        if wasAppended == nil { Array(text.utf8).withUnsafeBufferPointer { append($0, to: &output) } }
    }

    private func append(_ bytes: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
        standsForItself.withUnsafeBufferPointer { standsForItself in
            if bytes.allSatisfy({ standsForItself[Int($0)] }) {
                output.append(contentsOf: bytes)
                return
            }
            for (place, byte) in bytes.enumerated() {
                if standsForItself[Int(byte)] {
                    output.append(byte)
                } else if byte == UInt8(ascii: " ") {
                    output += space
                } else if normalizesLineBreaks, bytes.isLoneLineBreak(at: place) {
                    output += Self.escapedLineBreak
                } else if keepsEscapes, byte == UInt8(ascii: "%"), bytes[place...].beginsWithEscape {
                    output.append(byte)
                } else {
                    output.append(UInt8(ascii: "%"))
                    output.append(Self.hexadecimal[Int(byte >> 4)])
                    output.append(Self.hexadecimal[Int(byte & 0xF)])
                }
            }
        }
    }

    private static let escapedSpace = Array("%20".utf8)
    private static let escapedLineBreak = Array("%0D%0A".utf8)
    private static let plus = Array("+".utf8)
    private static let hexadecimal = Array("0123456789ABCDEF".utf8)

    /// The table of the ASCII letters, the digits and other marks.
    static func table(_ marks: String) -> [Bool] {
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        let all = Set((letters + marks).utf8)
        return (0..<256).map { all.contains(UInt8($0)) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the byte at a place is a CR without an LF after it, or an LF without a CR before it.
    fileprivate func isLoneLineBreak(at place: Int) -> Bool {
        switch self[place] {
        case UInt8(ascii: "\r"): place + 1 == count || self[place + 1] != UInt8(ascii: "\n")
        case UInt8(ascii: "\n"): place == 0 || self[place - 1] != UInt8(ascii: "\r")
        default: false
        }
    }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
    /// Whether two hexadecimal digits follow the first byte.
    fileprivate var beginsWithEscape: Bool {
        count > 2 && self[startIndex + 1].hexadecimalDigit != nil && self[startIndex + 2].hexadecimalDigit != nil
    }
}

extension UInt8 {
    var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
