/// The URL of an endpoint: its path below a base URL, or its own absolute URL, with the query.
struct EndpointURL {
    let url: URL
    /// The `Authorization` field made from a user and a password in the URL. ``url`` no longer contains them.
    let authorization: String?

    /// Joins the parts.
    ///
    /// - Parameters:
    ///   - path: A path or an absolute URL, percent-encoded. It may have a query and a fragment. The fragment is not
    ///     sent (RFC 9110, section 7.1). A redirect inherits it, and the URL of the response has it.
    ///   - isAbsolute: Whether the path is meant to be an absolute URL.
    ///   - base: An absolute URL. Its query comes before that of the path.
    ///   - query: The query that follows both, percent-encoded.
    init(path: String, isAbsolute: Bool, base: URL, query: String) throws {
        guard isAbsolute || !path.hasPrefix("//") && !path.hasScheme else {
            throw Self.bad("a value, or '//', makes the path name a host; write an absolute URL")
        }
        guard isAbsolute || base.scheme != nil && base.host?.isEmpty == false else {
            throw Self.bad("the base URL is not absolute")
        }
        let first = URLReference(isAbsolute ? path : base.absoluteString)
        let second = isAbsolute ? nil : URLReference(path)
        // Each part is escaped on its own. Nothing is escaped afterwards: see `URL.init(reference:)`.
        let location =
            second.map { first.escapedLocation.joined(withPath: PercentEncoding.path.encoded($0.location)) }
            ?? first.escapedLocation
        let queries = [first.escapedQuery ?? "", second?.escapedQuery ?? "", query].filter { !$0.isEmpty }
        // A reference does not inherit the fragment of its base (RFC 3986, section 5.2.2).
        let fragment = (second ?? first).escapedFragment.map { "#" + $0 } ?? ""
        let text = (queries.isEmpty ? location : location + "?" + queries.joined(separator: "&")) + fragment
        guard let joined = URL(string: text, encodingInvalidCharacters: false),
            var parts = URLComponents(url: joined, resolvingAgainstBaseURL: true)
        else {
            throw Self.bad("the path and the base do not make a URL")
        }
        guard let user = parts.user else {
            url = joined
            authorization = nil
            return
        }
        guard let field = BasicAuthorization.field(user: user, password: parts.password ?? "") else {
            throw Self.bad("the user in the URL has a colon, which the scheme Basic cannot send")
        }
        authorization = field
        parts.user = nil
        parts.password = nil
        guard let withoutUser = parts.url else { throw Self.bad("the base is not a URL") }
        url = withoutUser
    }

    static func bad(_ reason: String) -> RequestError {
        RequestError(.badURL, stage: .process, reason: reason)
    }
}

extension String {
    /// Puts a path below this path or URL, with one `/` between them. An empty path changes nothing. A URL must have no
    /// query.
    func joined(withPath path: String) -> String {
        guard !path.isEmpty else { return self }
        return (hasSuffix("/") ? String(dropLast()) : self) + (path.hasPrefix("/") ? path : "/" + path)
    }
}
