/// Operations for any queue.
extension RequestClient {
    /// Makes the operation of a request. It begins when a queue starts it.
    ///
    /// The value comes from JSON; see ``makeJSONDecoder``. `Data` is the body itself, and `String` its text. Parameters in a
    /// body are a form, unless ``RequestDefaults/parameterEncoder`` or the options name another encoder.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: A path that is joined to the base URL, or an absolute URL. It may have a query.
    ///   - object: A value whose members are parameters. None by default.
    ///   - parameters: Parameters, which win over those of the object. They go into the query for GET, HEAD and DELETE, and
    ///     into the body for other methods. None by default.
    ///   - type: The type of the value.
    ///   - edit: Sets other options of this request. Called once, before this function returns.
    /// - Returns: The operation. If the request cannot be made, it fails with the reason.
    public func operation<Value: Decodable & Sendable>(
        _ method: HTTPMethod, _ path: String, object: (any Encodable & Sendable)? = nil,
        parameters: [String: ParameterValue] = [:], as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> URLRequestOperation<Value> {
        operation(method, path, object: object, parameters: parameters, decoder: standardDecoder(), edit)
    }

    /// Makes the operation of a request, with parameters from variables of any encodable types.
    @_disfavoredOverload
    public func operation<Value: Decodable & Sendable>(
        _ method: HTTPMethod, _ path: String, object: (any Encodable & Sendable)? = nil,
        parameters: [String: any Encodable & Sendable], as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> URLRequestOperation<Value> {
        operation(method, path, object: object, parameters: parameters.erased, decoder: standardDecoder(), edit)
    }

    /// Makes the operation of a request. A decoder makes its value. See `operation(_:_:object:parameters:as:_:)`.
    public func operation<Value: Sendable>(
        _ method: HTTPMethod, _ path: String, object: (any Encodable & Sendable)? = nil,
        parameters: [String: ParameterValue] = [:], decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> URLRequestOperation<Value> { operation(of: draft(method, path, object: object, parameters, edit), decoder) }

    /// Makes the operation of an endpoint.
    ///
    /// The defaults of the client apply, and the endpoint's own values win over them.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint. The request uses the values that its properties have now.
    ///   - edit: Sets other options of this request. Called once, before this function returns.
    public func operation<Subject: Endpoint>(
        for endpoint: Subject, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> URLRequestOperation<Subject.Response> { operation(of: draft(endpoint, edit), endpoint.responseDecoder) }

    // MARK: Pages

    /// The pages of a path; see ``Pages``.
    ///
    /// ```swift
    /// for try await users in client.pages(of: "users", as: [User].self) { print(users.count) }
    /// ```
    ///
    /// Each page is a request of this client, with its fields, hooks and observers. The client's settings are read when this
    /// function is called. The parameters are sent with the first page only, because the link to the next page has its own. If
    /// the first request cannot be made, the sequence throws the reason. The parameters are those of `get(_:parameters:as:_:)`.
    public func pages<Value: Decodable & Sendable>(
        of path: String, parameters: [String: ParameterValue] = [:], as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> Pages<Value> { pages(of: path, parameters: parameters, decoder: standardDecoder(), edit) }

    /// The pages of a path whose values a decoder makes. See ``pages(of:parameters:as:_:)``.
    public func pages<Value: Sendable>(
        of path: String, parameters: [String: ParameterValue] = [:], decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> Pages<Value> { pages(of: draft(.get, path, object: nil, parameters, edit), decoder) }

    /// The pages of an endpoint. See ``pages(of:parameters:as:_:)``.
    public func pages<Subject: Endpoint>(
        of endpoint: Subject, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> Pages<Subject.Response> { pages(of: draft(endpoint, edit), endpoint.responseDecoder) }

    private func pages<Value: Sendable>(of draft: Draft, _ decoder: ResponseDecoder<Value>) -> Pages<Value> {
        Pages(
            on: queue, first: draft.alone.request, configuration: draft.configuration,
            hasHooks: !draft.settings.value.allHooks.isEmpty
        ) { [self] page in
            var draft = draft
            (draft.alone.request, draft.makeMember) = (page, nil)
            return operation(of: draft, decoder)
        }
    }

    // MARK: Making

    /// A request that is about to become an operation.
    struct Draft: Sendable {
        let settings: Box<ClientSettings>
        let options: RequestOptions
        let method: HTTPMethod
        let path: String
        var endpointType: Any.Type?
        /// The request that is sent if it is started alone.
        var alone: PreparedRequest
        /// Makes the request of a member of a batch, a chain or a group. `nil` if that request is the same.
        var makeMember: (@Sendable () -> PreparedRequest)?

        var configuration: RequestConfiguration {
            settings.value.plugins.reduce(into: options.configuration) { $1.add(to: &$0) }
        }
    }

    func draft(
        _ method: HTTPMethod, _ path: String, object: (any Encodable & Sendable)? = nil,
        _ parameters: [String: ParameterValue], _ edit: (inout RequestOptions) -> Void
    ) -> Draft {
        let (settings, options) = settingsAndOptions(edit)
        @Sendable func prepare(isMember: Bool) -> PreparedRequest {
            let defaults = settings.value.defaults(for: options, isMember: isMember)
            return PreparedRequest(method, path, object: object, parameters, options, defaults)
        }
        var draft = Draft(
            settings: settings, options: options, method: method, path: path, alone: prepare(isMember: false))
        if settings.value.haveDefaultsOfThoseAlone { draft.makeMember = { prepare(isMember: true) } }
        return draft
    }

    func draft(_ endpoint: some Endpoint, _ edit: (inout RequestOptions) -> Void) -> Draft {
        let (settings, options) = settingsAndOptions(edit) { endpoint.adjusted($0) }
        func prepare(isMember: Bool) -> PreparedRequest {
            PreparedRequest(endpoint, options, settings.value.defaults(for: options, isMember: isMember))
        }
        var draft = Draft(
            settings: settings, options: options, method: endpoint.method, path: endpoint.path,
            endpointType: type(of: endpoint), alone: prepare(isMember: false))
        if settings.value.haveDefaultsOfThoseAlone {
            // An endpoint may change, so the request of a member is made now.
            let member = prepare(isMember: true)
            draft.makeMember = { member }
        }
        return draft
    }

    /// The settings of this moment, and the options of one request.
    ///
    /// - Parameters:
    ///   - edit: What the call sets.
    ///   - adjust: What an endpoint changes in the configuration before that.
    private func settingsAndOptions(
        _ edit: (inout RequestOptions) -> Void, _ adjust: (RequestConfiguration) -> RequestConfiguration = { $0 }
    ) -> (Box<ClientSettings>, RequestOptions) {
        let settings = settings.withLock { $0 }
        var options = RequestOptions(adjust(settings.value.configuration))
        edit(&options)
        return (settings, options)
    }

    func operation<Value: Sendable>(of draft: Draft, _ decoder: ResponseDecoder<Value>) -> URLRequestOperation<Value> {
        make(draft) { request, configuration in
            URLRequestOperation(
                request, decoder: decoder,
                configuration: draft.alone.isUpload ? configuration.requiringBody : configuration)
        }
    }

    /// Makes an operation of any kind, and notes it as a submission.
    func make<Value: Sendable, Kind: URLRequestOperation<Value>>(
        _ draft: Draft, _ makeOperation: (URLRequest, RequestConfiguration) -> Kind
    ) -> Kind {
        let operation = makeOperation(draft.alone.request, draft.configuration)
        let submission = Submission(
            operation, id: operation.id, tag: draft.options.tag, method: draft.method, path: draft.path,
            url: draft.alone.problem == nil ? draft.alone.request.url : nil, endpointType: draft.endpointType,
            userInfo: draft.alone.userInfo)
        let call = ClientCall(
            of: self, submission, draft.settings, alone: draft.alone, makeMember: draft.makeMember)
        operation.participant = call
        note(call)
        return operation
    }

    /// Notes a submission.
    func note(_ call: ClientCall) {
        table.withLock { $0.add(call) }
        call.hearStepsIfWanted()
    }

    func standardDecoder<Value: Decodable & Sendable>() -> ResponseDecoder<Value> {
        .standard(settings.withLock { $0 }.value.makeJSONDecoder)
    }
}

extension ResponseDecoder where Value: Decodable {
    /// The decoder for a type: JSON, except for the types that are a body themselves.
    static func standard(_ makeJSONDecoder: @escaping @Sendable () -> JSONDecoder) -> ResponseDecoder {
        if let data = ResponseDecoder<Data>.data as? ResponseDecoder { return data }
        if let text = ResponseDecoder<String>.string as? ResponseDecoder { return text }
        return .json(decoder: makeJSONDecoder)
    }
}

extension ResponseDecoder where Value == ResponseHead {
    /// The head of the response, as for a request of the method HEAD.
    public static let head = ResponseDecoder { $0.head }
}

extension [String: any Encodable & Sendable] {
    var erased: [String: ParameterValue] { mapValues { ParameterValue($0) } }
}
