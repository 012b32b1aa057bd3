import RequestOperations

/// The name of a saved body, made from its URL: host, port, path and query.
///
/// It has only letters and digits of any script and `-._=+@,`. Everything else becomes `_`. So it always names a
/// visible file in its directory, and needs no quotes in a shell. It has at most 200 bytes, so that a suffix still
/// fits.
struct FileName: Hashable, Sendable {
    private let stem: String
    /// The extension with its dot, or an empty string.
    private let pathExtension: String

    private static let maximumLength = 200
    private static let maximumExtensionLength = 16

    /// Makes the name for a URL.
    init(of url: URL?) {
        let components = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
        var parts = [components?.host ?? ""]
        if let port = components?.port { parts[0] += "-\(port)" }
        // An encoding that is not UTF-8 stays unchanged.
        let path = components?.percentEncodedPath ?? ""
        parts += (path.removingPercentEncoding ?? path).split(separator: "/").map(String.init)
        if let query = components?.percentEncodedQuery { parts.append(query.removingPercentEncoding ?? query) }
        let name = Self.safe(Self.shortened(parts.joined(separator: "_")))
        pathExtension = Self.pathExtension(of: name.dropFirst(Self.safe(parts[0]).count))
        let rest = Self.cut(name.dropLast(pathExtension.count), to: Self.maximumLength - pathExtension.utf8.count)
        stem = rest.isEmpty ? "response" : rest
    }

    /// The name, or a variant to use if the name is taken: number 2 is `name-2.txt`.
    func variant(_ number: Int) -> String {
        number == 1 ? stem + pathExtension : "\(stem)-\(number)\(pathExtension)"
    }

    /// Returns the beginning and the end of a long text. A name cannot keep more of it.
    ///
    /// A URL may have millions of characters, and the later steps look at each one.
    private static func shortened(_ text: String) -> String {
        let (beginning, end) = (4 * maximumLength, 2 * maximumExtensionLength)
        guard text.utf8.count > 4 * (beginning + end) else { return text }
        let scalars = text.unicodeScalars
        return String(scalars.prefix(beginning)) + String(scalars.suffix(end))
    }

    /// The letters and digits after the last dot, with the dot, if they are short enough for an extension.
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
            // A name does not need two dots in a row. A leading dot would hide the file.
            if scalar == ".", safe.isEmpty || safe.last == "." { continue }
            if scalar == "-", safe.isEmpty { continue }
            safe.unicodeScalars.append(isAllowed ? scalar : "_")
        }
        while safe.last == "." { safe.removeLast() }
        return safe
    }

    private static let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._=+@,"))

    /// The longest beginning, in whole characters, that has at most `length` bytes and does not end with a dot.
    private static func cut(_ text: Substring, to length: Int) -> String {
        var text = text
        while text.utf8.count > length || text.last == "." { text.removeLast() }
        return String(text)
    }
}

/// The name of one body in the output directory.
struct OutputName: Sendable, Hashable {
    /// The name that its URL gives.
    let base: FileName
    /// The number of the body among those with the same base, from 1.
    let number: Int

    /// The name of the file.
    var text: String { base.variant(number) }
}

/// The names that a run has given to bodies, in the order of the input. A pure value.
struct OutputNames {
    /// The hashes of the names. A million names need 16 MB.
    private var given: Set<Int> = []
    /// The next number for each base that was given before, by the hash of the base.
    private var next: [Int: Int] = [:]

    /// Returns the first name of a base that was not given before.
    mutating func give(_ base: FileName) -> OutputName {
        var name = OutputName(base: base, number: next[base.hashValue] ?? 1)
        while !given.insert(name.text.hashValue).inserted { name = OutputName(base: base, number: name.number + 1) }
        if name.number > 1 { next[base.hashValue] = name.number + 1 }
        return name
    }
}
