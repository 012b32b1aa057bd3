/// What names one state of a representation, byte by byte (RFC 9110, section 8.8.1).
///
/// Only parts of the same state may be put together to a file. A weak validator does not tell two states apart, so it is
/// never used.
package enum StrongValidator: Sendable, Hashable, Codable {
    /// A strong entity tag, with its quotation marks.
    case entityTag(String)
    /// A date of modification, as the server wrote it.
    case date(String)

    /// The strong validator of a response; `nil` if it has none.
    package init?(_ head: ResponseHead) {
        if let tag = head.field("ETag") {
            // A response with a weak tag often has a date that is no better.
            guard Self.isStrong(tag) else { return nil }
            self = .entityTag(tag)
        } else if let modified = head.field("Last-Modified"), Self.isStrong(modified, head) {
            self = .date(modified)
        } else {
            return nil
        }
    }

    /// The value of `If-Range` and of the field that the validator came from.
    var value: String {
        switch self {
        case .entityTag(let tag): tag
        case .date(let date): date
        }
    }

    /// Whether a part with this head belongs to the same state.
    ///
    /// A 206 must repeat the entity tag. It should not repeat the date (RFC 9110, section 15.3.7).
    func matches(_ head: ResponseHead) -> Bool {
        switch self {
        case .entityTag(let tag): head.field("ETag") == tag
        case .date(let date): head.field("Last-Modified").map { $0 == date } ?? true
        }
    }

    private static func isStrong(_ tag: String) -> Bool {
        tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"") && !tag.dropFirst().dropLast().contains("\"")
    }

    /// A date is strong only if the resource cannot have changed twice within its second (RFC 9110, section 8.8.2.2).
    ///
    /// The time between the two dates must exceed any difference of the clocks that wrote them. A minute does.
    private static func isStrong(_ modified: String, _ head: ResponseHead) -> Bool {
        let now = Date()
        guard let modified = HTTPDate.parse(modified, now: now),
            let date = head.field("Date").flatMap({ HTTPDate.parse($0, now: now) })
        else { return false }
        return date.timeIntervalSince(modified) >= 60
    }
}
