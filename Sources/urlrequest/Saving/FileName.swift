import RequestOperations

/// The name of a saved body, made from its URL: host, port, path and query.
///
/// Of letters and digits of any script and `-._=+@,` only, so that it names nothing but a visible file in its directory
/// and needs no quotes in a shell; everything else becomes `_`. At most 200 bytes long, so that a suffix fits in too.
struct FileName: Hashable, Sendable {
    private let stem: String
    /// With its dot, or empty.
    private let pathExtension: String

    private static let maximumLength = 200
    private static let maximumExtensionLength = 16

    /// Makes the name for a URL.
    init(of url: URL?) {
        let components = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
        var parts = [components?.host ?? ""]
        if let port = components?.port { parts[0] += "-\(port)" }
        // An encoding that is not UTF-8 stays as it is.
        let path = components?.percentEncodedPath ?? ""
        parts += (path.removingPercentEncoding ?? path).split(separator: "/").map(String.init)
        if let query = components?.percentEncodedQuery { parts.append(query.removingPercentEncoding ?? query) }
        let name = Self.safe(Self.shortened(parts.joined(separator: "_")))
        pathExtension = Self.pathExtension(of: name.dropFirst(Self.safe(parts[0]).count))
        let rest = Self.cut(name.dropLast(pathExtension.count), to: Self.maximumLength - pathExtension.utf8.count)
        stem = rest.isEmpty ? "response" : rest
    }

    /// The name, or one of those to use if that is taken: number 2 is `name-2.txt`.
    func variant(_ number: Int) -> String {
        number == 1 ? stem + pathExtension : "\(stem)-\(number)\(pathExtension)"
    }

    /// The beginning and the end of a long text, which are all that a name can keep of it: a URL may have millions of
    /// characters, and what follows looks at each.
    private static func shortened(_ text: String) -> String {
        let (beginning, end) = (4 * maximumLength, 2 * maximumExtensionLength)
        guard text.utf8.count > 4 * (beginning + end) else { return text }
        let scalars = text.unicodeScalars
        return String(scalars.prefix(beginning)) + String(scalars.suffix(end))
    }

    /// The letters and digits after the last dot, with it, as long as they are an extension and not a part of the name.
    private static func pathExtension(of text: Substring) -> String {
        guard let dot = text.lastIndex(of: "."), text[dot...].utf8.count <= maximumExtensionLength,
            text[text.index(after: dot)...].allSatisfy({ $0.isLetter || $0.isNumber })
        else { return "" }
        return String(text[dot...])
    }

    private static func safe(_ text: String) -> String {
        var safe = ""
        for scalar in text.precomposedStringWithCanonicalMapping.unicodeScalars {
            let isAllowed = allowed.contains(scalar)
            // Two dots in a row are nothing that a name needs, and a leading one would hide the file.
            if scalar == ".", safe.isEmpty || safe.last == "." { continue }
            if scalar == "-", safe.isEmpty { continue }
            safe.unicodeScalars.append(isAllowed ? scalar : "_")
        }
        while safe.last == "." { safe.removeLast() }
        return safe
    }

    private static let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._=+@,"))

    /// The longest beginning, in whole characters, that has at most so many bytes and does not end with a dot.
    private static func cut(_ text: Substring, to length: Int) -> String {
        var text = text
        while text.utf8.count > length || text.last == "." { text.removeLast() }
        return String(text)
    }
}
