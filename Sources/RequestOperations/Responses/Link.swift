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

extension Link: CustomStringConvertible, CustomReflectable {
    /// The target without its query, and the relations.
    public var description: String {
        "<\(Redaction.location(of: target))>; rel=\"\(relations.joined(separator: " "))\""
    }

    /// No children, so that `dump` does not show the target's query.
    public var customMirror: Mirror { Mirror(opaque: self) }
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
