/// The request that is made from the properties of an endpoint.
struct EndpointRequest: Sendable {
    let request: URLRequest
    /// Makes the body of an attempt from the present contents of the files. `nil` if the request itself holds its body.
    let makeBody: (@Sendable () throws -> RequestBody)?

    /// Makes the request.
    ///
    /// - Throws: A `RequestError` of the stage `process`.
    init<Subject: Endpoint>(
        _ endpoint: Subject, relativeTo base: URL, and others: RequestParameters = RequestParameters()
    ) throws {
        do {
            var parameters = try EndpointParameters(of: endpoint, and: others)
            let (path, isAbsolute) = try Self.path(of: endpoint, parameters.path)
            if let rest = others.withoutDefaults(
                in: isAbsolute ? [path] : [base.absoluteString, path], endpoint.naming)
            {
                parameters = try EndpointParameters(of: endpoint, and: rest)
            }
            let hasBody = !parameters.body.members.isEmpty || !endpoint.files.isEmpty
            let encoded = hasBody ? try endpoint.bodyEncoder.makeBody(parameters.body, endpoint.files) : nil
            let location = try EndpointURL(
                path: path, isAbsolute: isAbsolute, base: base,
                query: String(decoding: try endpoint.queryEncoder.bytes(of: parameters.query), as: UTF8.self))
            guard RequestPreflight.isToken(endpoint.method.rawValue) else {
                throw EndpointProblem(description: "The method is not a token.")
            }
            var request = URLRequest(url: location.url)
            request.httpMethod = endpoint.method.rawValue
            // A later field replaces an earlier one of the same name.
            if let authorization = location.authorization { request.setField("Authorization", to: authorization) }
            if let encoded { request.setField("Content-Type", to: encoded.contentType) }
            try request.setAccept(endpoint.acceptedContentTypes)
            try request.setFields(parameters.fields, with: endpoint.queryEncoder)
            try request.setFields(endpoint.fields)
            switch encoded?.body {
            case nil: makeBody = nil
            case .data(let data): (request.httpBody, makeBody) = (data, nil)
            case .streamed(let make): makeBody = make
            }
            self.request = request
        } catch let error as RequestError {
            throw error
        } catch {
            throw RequestError(
                .unencodableParameter, stage: .process, underlying: error,
                reason: Self.reason(of: error).map { "\(Self.name(of: endpoint)): \($0)" })
        }
    }

    /// What an error calls an endpoint: its type and its path. A call of a client has only a path.
    private static func name<Subject: Endpoint>(of endpoint: Subject) -> String {
        let path = URLReference(endpoint.path).location(withUserAs: "")
        return Subject.self == PlainEndpoint.self ? path : "\(Subject.self), \(path)"
    }

    /// The path with its variables filled in, and whether it is meant to be an absolute URL.
    private static func path<Subject: Endpoint>(
        of endpoint: Subject, _ parameters: ParameterRecord
    ) throws -> (String, isAbsolute: Bool) {
        let path = endpoint.path
        if parameters.members.isEmpty, !path.utf8.contains(where: "{}".utf8.contains) {
            let literal = PercentEncoding.reserved.encoded(path)
            return (literal, literal.hasScheme)
        }
        let template = try URITemplate(path)
        let values = Dictionary(parameters.members.map { ($0.name, $0.value) }) { $1 }
        if let unused = values.keys.sorted().first(where: { !template.variables.contains($0) }) {
            throw EndpointProblem(description: "'\(unused)' is not a variable of the path.")
        }
        if let missing = template.variables.sorted().first(where: { values[$0] == nil }) {
            throw EndpointProblem(description: "No property for '{\(missing)}' in the path is wrapped in @Path.")
        }
        let expanded = try template.expanded(with: values) { value, name in
            try endpoint.queryEncoder.text(of: value, path: [ParameterKey(name)])
        }
        if !values.isEmpty { try check(expanded, of: template, with: values) }
        return (expanded, try template.isAbsolute)
    }

    /// Checks that values add no `.` or `..` segments to the path, and no empty ones. Only the template may do that.
    private static func check(
        _ path: String, of template: URITemplate, with values: [String: ParameterNode]
    ) throws {
        let sample = try template.expanded(with: values.mapValues { $0.isUndefined ? .text("") : $0 }) { _, _ in "x" }
        guard path.dotSegments == sample.dotSegments else {
            throw EndpointProblem(description: "A value makes a segment '.' or '..' of the path.")
        }
        let empty = try template.expanded(with: values) { value, name in
            if case .text("") = value { "" } else { "x" }
        }
        guard empty.emptySegments <= sample.emptySegments else {
            throw EndpointProblem(description: "A value that is nil or empty leaves a segment of the path empty.")
        }
    }

    /// A sentence that names the property, without a value.
    private static func reason(of error: any Error) -> String? {
        switch error {
        case let problem as EndpointProblem: problem.description
        case EncodingError.invalidValue(_, let context): sentence(of: context)
        default: nil
        }
    }

    private static func sentence(of context: EncodingError.Context) -> String {
        let name = context.codingPath.map(\.stringValue).joined(separator: ".")
        let names = context.debugDescription.contains("'\(name)'")
        return names ? context.debugDescription : "'\(name)' cannot be encoded: \(context.debugDescription)"
    }
}

extension ParameterNode {
    /// Whether a template treats the value as undefined (RFC 6570, section 3.2.1).
    fileprivate var isUndefined: Bool {
        switch self {
        case .absent, .null: true
        case .list(let list): list.elements.allSatisfy(\.isNil)
        case .record(let record): record.members.allSatisfy(\.value.isNil)
        default: false
        }
    }
}

extension String {
    /// The number of segments in a path that are `.` or `..` (RFC 3986, section 3.3), escaped or not. They change where
    /// the path leads.
    fileprivate var dotSegments: Int {
        segments.count {
            [".", ".."].contains($0.replacingOccurrences(of: "%2e", with: ".", options: .caseInsensitive))
        }
    }

    fileprivate var emptySegments: Int { segments.count(where: \.isEmpty) }

    private var segments: [Substring] {
        prefix { $0 != "?" && $0 != "#" }.split(separator: "/", omittingEmptySubsequences: false)
    }
}

extension URLRequest {
    /// What errors name if a request cannot be made.
    static func placeholder(_ method: HTTPMethod, relativeTo baseURL: URL) -> URLRequest {
        var request = URLRequest(url: baseURL)
        request.httpMethod = method.rawValue
        return request
    }
}

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
        // Most URLs have no user, and to split one is slow.
        let mayHaveUser = text.utf8.contains(UInt8(ascii: "@"))
        guard let joined = URL(string: text, encodingInvalidCharacters: false),
            var parts = mayHaveUser ? URLComponents(url: joined, resolvingAgainstBaseURL: true) : URLComponents()
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
    /// Whether the text begins with a scheme and `://`. Only ASCII letters count.
    var hasScheme: Bool {
        guard utf8.first?.isLetter == true else { return false }
        return utf8.drop(while: \.isOfScheme).starts(with: "://".utf8)
    }

    /// Puts a path below this path or URL, with one `/` between them. An empty path changes nothing. A URL must have no
    /// query.
    func joined(withPath path: String) -> String {
        guard !path.isEmpty else { return self }
        return (hasSuffix("/") ? String(dropLast()) : self) + (path.hasPrefix("/") ? path : "/" + path)
    }
}

extension URLRequest {
    /// Sets the media ranges that are accepted, if there are any.
    fileprivate mutating func setAccept(_ ranges: [String]) throws {
        guard !ranges.isEmpty else { return }
        guard ranges.allSatisfy({ MediaType($0) != nil && RequestPreflight.isFieldValue($0) }) else {
            throw EndpointProblem(description: "One of 'acceptedContentTypes' is not a media range.")
        }
        setField("Accept", to: ranges.joined(separator: ", "))
    }

    /// Sets the endpoint's own header fields. Each name may appear once, ignoring case.
    fileprivate mutating func setFields(_ fields: [String: String]) throws {
        guard fields.count < 2 || Set(fields.keys.map { $0.lowercased() }).count == fields.count else {
            throw EndpointProblem(description: "'fields' has a name twice, in different cases.")
        }
        for (name, value) in fields { try setCheckedField(name, value) }
    }

    fileprivate mutating func setFields(
        _ parameters: ParameterRecord, with encoder: URLEncodedFormEncoder
    ) throws {
        for member in parameters.members where !member.value.isNil {
            let path = [ParameterKey(member.name)]
            let value =
                if case .list(let list) = member.value {
                    try list.elements.map { try Self.element($0, path, encoder) }.joined(separator: ", ")
                } else {
                    try encoder.text(of: member.value, path: path)
                }
            try setCheckedField(member.name, value)
        }
    }

    /// The text of a list element. A list cannot have an empty element (RFC 9110, section 5.6.1.1).
    private static func element(
        _ node: ParameterNode, _ path: [ParameterKey], _ encoder: URLEncodedFormEncoder
    ) throws -> String {
        let text = try encoder.text(of: node, path: path)
        guard !node.isNil, !text.isEmpty else {
            throw URLEncodedFormEncoder.invalid(
                "", path, "has a nil or empty element, which a list cannot have")
        }
        return text
    }

    private mutating func setCheckedField(_ name: String, _ value: String) throws {
        guard RequestPreflight.isToken(name) else {
            throw URLEncodedFormEncoder.invalid("", [ParameterKey(name)], "is not a name that a field can have")
        }
        guard RequestPreflight.isFieldValue(value) else {
            throw URLEncodedFormEncoder.invalid(
                "", [ParameterKey(name)], "has a line break or a NUL, which no field can have")
        }
        setField(name, to: value)
    }
}

/// A problem with an endpoint, described in one sentence.
struct EndpointProblem: Error, CustomStringConvertible {
    let description: String
}
