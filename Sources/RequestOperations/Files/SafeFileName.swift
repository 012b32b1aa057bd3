/// The name of a file that a server or a URL suggests, made safe.
///
/// It names a visible file in its folder, on any system: no path, no control or invisible characters, no name that Windows
/// reserves, and at most 240 bytes. So there is room for a number.
package struct SafeFileName: Sendable, Hashable {
    private let stem: String
    /// The extension with its dot, or an empty string. `.tar.gz` is one extension.
    private let pathExtension: String

    private static let maximumLength = 240
    private static let maximumExtensionLength = 32

    /// The name for a response: from its `Content-Disposition`, or from its URL, or `download`.
    package init(of head: ResponseHead) {
        let field = head.fields.first { $0.name.lowercased() == "content-disposition" }
        let suggested = field.flatMap { ContentDisposition($0.value).fileName }
        let path = URLComponents(url: head.url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
        self = suggested.flatMap(Self.init) ?? Self(path.removingPercentEncoding ?? path) ?? Self(plain: "download")
    }

    /// Makes a suggested name safe; `nil` if nothing is left of it.
    ///
    /// Of a path, the last component counts. Both `/` and `\` separate components. All steps go by scalars: a separator with
    /// a mark after it is one `Character`, and so is a letter with hundreds of marks.
    init?(_ suggested: String) {
        // A suggestion can be very long, and the steps below look at each scalar.
        let end = String(String.UnicodeScalarView(suggested.unicodeScalars.suffix(4 * Self.maximumLength)))
        // Format characters are invisible. Some reverse the direction of text, and so hide an extension.
        let visible = end.precomposedStringWithCanonicalMapping.unicodeScalars.filter {
            $0.properties.generalCategory != .format
        }
        guard let last = visible.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last else { return nil }
        let name = Self.trimmed(last.map(Self.allowed))
        guard !name.isEmpty else { return nil }
        self.init(plain: name)
        if isReserved { self.init(plain: "_" + name) }
    }

    /// Makes a name of a text that is safe but for its length.
    package init(plain name: String) {
        let pathExtension = Self.pathExtension(of: name)
        var stem = name.unicodeScalars.dropLast(pathExtension.unicodeScalars.count)
        var length = name.utf8.count
        while length > Self.maximumLength, let last = stem.popLast() { length -= UTF8.width(last) }
        while stem.count > 1, stem.last == "." || stem.last == " " { stem.removeLast() }
        self.stem = String(stem)
        self.pathExtension = pathExtension
    }

    /// The name, or a variant to use if the name is taken: number 2 is `name-2.txt`.
    package func variant(_ number: Int) -> String {
        number == 1 ? stem + pathExtension : "\(stem)-\(number)\(pathExtension)"
    }

    private static func allowed(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: "_"
        case .spaceSeparator: " "
        default: forbidden.contains(scalar) ? "_" : scalar
        }
    }

    /// What Windows does not allow in a name.
    private static let forbidden = Set("<>:\"|?*/\\".unicodeScalars)

    /// A leading dot hides a file, a leading hyphen looks like an option, and a leading mark joins what is before the name.
    /// Windows drops dots and spaces at the end.
    private static func trimmed(_ name: [Unicode.Scalar]) -> String {
        var name = name.drop { scalar in
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .spacingMark, .enclosingMark: true
            default: scalar == "." || scalar == " " || scalar == "-"
            }
        }
        while let last = name.last, last == "." || last == " " { name.removeLast() }
        return String(String.UnicodeScalarView(name))
    }

    /// Whether Windows reads the name as that of a device, with any extension.
    private var isReserved: Bool {
        let scalars = (stem + pathExtension).unicodeScalars.prefix { $0 != "." }
        let base = String(scalars).trimmingCharacters(in: .whitespaces).uppercased()
        if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(base) { return true }
        guard base.hasPrefix("COM") || base.hasPrefix("LPT"), base.count == 4, let last = base.last else {
            return false
        }
        return "0123456789¹²³".contains(last)
    }

    /// The letters and digits after the last dot, with the dot. Of a compressed file, the extension before that belongs to
    /// it.
    private static func pathExtension(of name: String) -> String {
        guard let last = lastExtension(of: name) else { return "" }
        guard compressions.contains(last.dropFirst().lowercased()),
            let inner = lastExtension(of: String(name.dropLast(last.count))), inner.dropFirst().first?.isLetter == true
        else { return last }
        return inner + last
    }

    private static let compressions: Set<String> = ["gz", "bz2", "xz", "zst", "z", "lz", "lz4", "lzma", "br"]

    private static func lastExtension(of name: String) -> String? {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        let text = name[dot...]
        guard text.count > 1, text.utf8.count <= maximumExtensionLength / 2,
            text.dropFirst().allSatisfy({ $0.isLetter || $0.isNumber })
        else { return nil }
        return String(text)
    }
}

/// The value of a `Content-Disposition` field (RFC 6266).
struct ContentDisposition: Sendable, Hashable {
    /// The name that the server suggests, as it came. It may hold anything, also a path.
    let fileName: String?

    /// Reads a value. What cannot be read ends it, and the parameters before that count.
    ///
    /// `filename*` counts more than `filename` (RFC 6266, section 4.3), unless it cannot be decoded. Of several parameters
    /// of one name, the first counts.
    init(_ value: String) {
        var rest = Substring(value).unicodeScalars
        var parameters: [String: String] = [:]
        // The disposition itself does not matter: this is a download in any case.
        _ = Self.prefix(of: &rest) { $0 != ";" }
        while rest.popFirst() == ";" {
            let name = Self.prefix(of: &rest) { $0 != "=" && $0 != ";" }.lowercased()
            guard rest.first == "=" else { continue }
            rest.removeFirst()
            rest = rest.drop { $0 == " " || $0 == "\t" }
            let text: String
            if rest.first == "\"" {
                guard let quoted = rest.takeQuotedString() else { break }
                text = quoted
                _ = Self.prefix(of: &rest) { $0 != ";" }
            } else {
                text = Self.prefix(of: &rest) { $0 != ";" }
            }
            parameters[name] = parameters[name] ?? text
        }
        fileName = parameters["filename*"].flatMap(Self.decoded) ?? parameters["filename"]
    }

    /// Takes a prefix, without the space around it.
    private static func prefix(
        of rest: inout Substring.UnicodeScalarView, while isTaken: (Unicode.Scalar) -> Bool
    ) -> String {
        let taken = rest.prefix(while: isTaken)
        rest = rest[taken.endIndex...]
        return String(Substring(taken)).trimmingCharacters(in: .whitespaces)
    }

    /// `UTF-8'en'%C3%A9` as text (RFC 8187, section 3.2). ISO 8859-1 was a part of the older RFC 5987.
    private static func decoded(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let text = String(parts[2])
        switch parts[0].lowercased() {
        case "utf-8": return text.removingPercentEncoding
        case "iso-8859-1": return decodedLatin1(text)
        default: return nil
        }
    }

    private static func decodedLatin1(_ text: String) -> String? {
        var decoded = String.UnicodeScalarView()
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(Unicode.Scalar(byte))
                continue
            }
            guard let code = Data(hexadecimal: String(rest.prefix(2)) ?? ""), code.count == 1 else { return nil }
            decoded.append(Unicode.Scalar(code[0]))
            rest = rest.dropFirst(2)
        }
        return String(decoded)
    }
}
