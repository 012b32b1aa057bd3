/// A link in the `Link` field of a response (RFC 8288).
public struct Link: Sendable, Hashable {
    /// The absolute URL that the link leads to.
    public let target: URL

    /// The types of the relation in lower case, such as `next`. A link with several relations is listed once, with all
    /// of them. The list is empty if the server named none.
    public let relations: [String]

    /// The other parameters, such as `title`, `type` and `hreflang`, by names in lower case.
    ///
    /// If a name appears several times, the first value counts. If a name ends with `*`, the decoded value (RFC 8187)
    /// is also stored under the name without `*`. It replaces the plain value there.
    public let parameters: [String: String]
}

extension Link: CustomStringConvertible, OpaqueReflectable {
    /// The target without its query, and the relations.
    public var description: String {
        "<\(Redaction.location(of: target))>; rel=\"\(relations.joined(separator: " "))\""
    }
}

extension ResponseHead {
    /// The links of the response that belong to its own resource, in their order. Links with an `anchor` are left out.
    ///
    /// Targets are resolved against ``url``. A link that cannot be read ends the list of its field, because what
    /// follows may be a part of it.
    public var links: [Link] {
        fields.filter { $0.name.lowercased() == "link" }.flatMap { LinkParser($0.value, base: url).links() }
    }

    /// The first link with a relation, such as `next`; `nil` if there is none.
    ///
    /// - Parameter relation: The type of the relation, in any case.
    public func link(_ relation: String) -> Link? {
        links.first { $0.relations.contains(relation.lowercased()) }
    }
}

/// Reads the value of a `Link` field (RFC 8288, appendix B.2).
struct LinkParser {
    private var rest: Substring.UnicodeScalarView
    private let base: URL

    init(_ value: String, base: URL) {
        rest = Substring(value).unicodeScalars
        self.base = base
    }

    func links() -> [Link] {
        var parser = self
        var links: [Link] = []
        while true {
            // Empty elements of a list are ignored (RFC 9110, section 5.6.1).
            parser.skip { $0.isSpace || $0 == "," }
            guard parser.take("<"), let link = parser.link() else { return links }
            if let link = link.value { links.append(link) }
        }
    }

    /// Reads a link after its `<`. It returns `nil` if the link cannot be read, and no value if the link is of no use
    /// here.
    private mutating func link() -> (value: Link?, Void)? {
        let reference = prefix { $0 != ">" }
        guard take(">") else { return nil }
        var parameters: [String: String] = [:]
        while true {
            skip(\.isSpace)
            guard take(";") else { break }
            skip(\.isSpace)
            let name = prefix { !$0.isSpace && !["=", ";", ","].contains($0) }.lowercased()
            skip(\.isSpace)
            var value = ""
            if take("=") {
                skip(\.isSpace)
                guard let read = parameterValue() else { return nil }
                value = read
            }
            if !name.isEmpty { parameters[name] = parameters[name] ?? value }
        }
        skip(\.isSpace)
        guard rest.isEmpty || rest.first == "," else { return nil }
        return (Link(reference, parameters, base: base), ())
    }

    private mutating func parameterValue() -> String? {
        guard rest.first == "\"" else {
            return prefix { ![";", ","].contains($0) }.trimmingCharacters(in: .whitespaces)
        }
        return rest.takeQuotedString()
    }

    private mutating func take(_ delimiter: Unicode.Scalar) -> Bool {
        guard rest.first == delimiter else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func skip(_ isSkipped: (Unicode.Scalar) -> Bool) {
        rest = rest.drop(while: isSkipped)
    }

    private mutating func prefix(while isTaken: (Unicode.Scalar) -> Bool) -> String {
        let taken = rest.prefix(while: isTaken)
        rest = rest[taken.endIndex...]
        return String(Substring(taken))
    }
}

extension Unicode.Scalar {
    fileprivate var isSpace: Bool { self == " " || self == "\t" }
}

extension Link {
    /// Makes a link from a reference and its parameters. `nil` if it belongs to another resource or does not lead to a
    /// URL.
    fileprivate init?(_ reference: String, _ parameters: [String: String], base: URL) {
        guard parameters["anchor"] == nil,
            let target = reference.isEmpty ? base : URL(reference: reference, relativeTo: base)?.absoluteURL
        else { return nil }
        var parameters = parameters
        let relations = parameters.removeValue(forKey: "rel") ?? ""
        for (name, value) in parameters where name.hasSuffix("*") {
            if let text = Self.decoded(value) { parameters[String(name.dropLast())] = text }
        }
        self.target = target
        self.relations = relations.split(separator: " ").map { $0.lowercased() }
        self.parameters = parameters
    }

    /// `UTF-8'en'%C3%A9` as text (RFC 8187, section 3.2).
    private static func decoded(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return String(parts[2]).removingPercentEncoding
    }
}
