/// The request that is made from the properties of an endpoint.
struct EndpointRequest: Sendable {
    let request: URLRequest
    private let body: ParameterEncoder.Body

    /// The request with its body, or `nil` if the body is streamed.
    var urlRequest: URLRequest? { isStreamed ? nil : request }

    /// Whether the body is streamed, and so is not part of the request.
    var isStreamed: Bool {
        if case .streamed = body { true } else { false }
    }

    /// Makes the body from the present contents of the files.
    func makeBody() throws -> RequestBody {
        switch body {
        case .none: .none
        case .data(let data): .data(data)
        case .streamed(let makeBody): try makeBody()
        }
    }

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
            let encoded = try Self.body(of: endpoint, parameters.body)
            let location = try EndpointURL(
                path: path, isAbsolute: isAbsolute, base: base,
                query: String(decoding: try endpoint.queryEncoder.bytes(of: parameters.query), as: UTF8.self))
            guard RequestPreflight.isToken(endpoint.method.rawValue) else {
                throw EndpointProblem(description: "The method is not a token.")
            }
            var request = URLRequest(url: location.url)
            request.httpMethod = endpoint.method.rawValue
            var fields = EndpointFields()
            if let authorization = location.authorization { fields.set("Authorization", authorization) }
            if let encoded { fields.set("Content-Type", encoded.contentType) }
            try fields.setAccept(endpoint.acceptedContentTypes)
            try fields.set(parameters.fields, with: endpoint.queryEncoder)
            try fields.set(endpoint.fields)
            for (name, value) in fields.values { request.setField(name, to: value) }
            body = encoded?.body ?? .none
            if case .data(let data) = body { request.httpBody = data }
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

    private static func body<Subject: Endpoint>(
        of endpoint: Subject, _ parameters: ParameterRecord
    ) throws -> ParameterEncoder.Output? {
        guard !parameters.members.isEmpty || !endpoint.files.isEmpty else { return nil }
        return try endpoint.bodyEncoder.encode(parameters, files: endpoint.files)
    }

    /// The path with its variables filled in, and whether it is meant to be an absolute URL.
    private static func path<Subject: Endpoint>(
        of endpoint: Subject, _ parameters: ParameterRecord
    ) throws -> (String, isAbsolute: Bool) {
        let template = try URITemplate(endpoint.path)
        let values = Dictionary(parameters.members.map { ($0.name, $0.value) }) { $1 }
        if let unused = values.keys.sorted().first(where: { !template.variables.contains($0) }) {
            throw URITemplate.Problem(description: "'\(unused)' is no variable of the path.")
        }
        if let missing = template.variables.sorted().first(where: { values[$0] == nil }) {
            throw URITemplate.Problem(
                description: "No property for '{\(missing)}' in the path is wrapped in @Path.")
        }
        let path = try template.expanded(with: values) { value, name in
            try endpoint.queryEncoder.text(of: value, path: [ParameterKey(name)])
        }
        if !values.isEmpty { try check(path, of: template, with: values) }
        return (path, try template.isAbsolute)
    }

    /// Checks that values add no `.` or `..` segments to the path, and no empty ones. Only the template may do that.
    private static func check(
        _ path: String, of template: URITemplate, with values: [String: ParameterNode]
    ) throws {
        let sample = try template.expanded(with: values.mapValues { $0.isUndefined ? .text("") : $0 }) { _, _ in "x" }
        guard path.dotSegments == sample.dotSegments else {
            throw URITemplate.Problem(description: "A value makes a segment '.' or '..' of the path.")
        }
        let empty = try template.expanded(with: values) { value, name in
            if case .text("") = value { "" } else { "x" }
        }
        guard empty.emptySegments <= sample.emptySegments else {
            throw URITemplate.Problem(description: "A value that is nil or empty leaves a segment of the path empty.")
        }
    }

    /// A sentence that names the property, without a value.
    private static func reason(of error: any Error) -> String? {
        switch error {
        case let problem as URITemplate.Problem: problem.description
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
    /// The number of `.` and `..` segments in a path (RFC 3986, section 3.3), escaped or not. They change where the
    /// path leads.
    fileprivate var dotSegments: Int {
        prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
            .filter { segment in
                [".", ".."].contains(segment.replacingOccurrences(of: "%2e", with: ".", options: .caseInsensitive))
            }
            .count
    }

    /// The number of empty segments in a path.
    fileprivate var emptySegments: Int {
        prefix { $0 != "?" && $0 != "#" }.split(separator: "/", omittingEmptySubsequences: false)
            .filter(\.isEmpty).count
    }
}

extension URLRequest {
    /// What the errors of a request name that cannot be made.
    static func placeholder(_ method: HTTPMethod, relativeTo baseURL: URL) -> URLRequest {
        var request = URLRequest(url: baseURL)
        request.httpMethod = method.rawValue
        return request
    }
}
