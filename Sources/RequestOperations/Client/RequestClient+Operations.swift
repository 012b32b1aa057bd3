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
    ///   - edit: Sets what else differs for this request. Called once, before this function returns.
    /// - Returns: The operation. If the request cannot be made, it fails with the reason.
    public func operation<Value: Decodable & Sendable>(
        _ method: HTTPMethod, _ path: String, object: (any Encodable & Sendable)? = nil,
        parameters: [String: ParameterValue] = [:], as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> URLRequestOperation<Value> {
        call(method, path, object: object, parameters, standardDecoder(), edit).operation
    }

    /// Makes the operation of a request whose value a decoder makes. See
    /// `operation(_:_:object:parameters:as:_:)`.
    public func operation<Value: Sendable>(
        _ method: HTTPMethod, _ path: String, object: (any Encodable & Sendable)? = nil,
        parameters: [String: ParameterValue] = [:], decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> URLRequestOperation<Value> {
        call(method, path, object: object, parameters, decoder, edit).operation
    }

    /// Makes the operation of an endpoint.
    ///
    /// The defaults of the client apply, and the endpoint's own values win over them.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint. The request uses the values that its properties have now.
    ///   - edit: Sets what else differs for this request. Called once, before this function returns.
    public func operation<Subject: Endpoint>(
        for endpoint: Subject, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> URLRequestOperation<Subject.Response> {
        call(endpoint, edit).operation
    }

    /// Makes the operation of an upload.
    ///
    /// - Parameters:
    ///   - body: Bytes, a file or a stream. A stream that cannot be opened again is not retried.
    ///   - path: As for other requests.
    ///   - method: `POST` by default.
    ///   - parameters: Parameters for the query. None by default.
    ///   - decoder: Makes the value.
    ///   - edit: Sets what else differs, such as a `Content-Type` in ``RequestOptions/fields``.
    public func uploadOperation<Value: Sendable>(
        _ body: RequestBody, to path: String, method: HTTPMethod = .post, parameters: [String: ParameterValue] = [:],
        decoder: ResponseDecoder<Value>, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> URLRequestOperation<Value> {
        call(method, path, object: nil, parameters, decoder) { options in
            options.body = body
            edit(&options)
        }.operation
    }

    /// Makes the operation of an upload of files in a form (RFC 7578). See ``MultipartFormData/Part``.
    ///
    /// - Parameters:
    ///   - files: The files. The parameters come before them.
    ///   - path: As for other requests.
    ///   - method: `POST` by default.
    ///   - parameters: Parameters for the form. None by default.
    ///   - decoder: Makes the value.
    ///   - edit: Sets what else differs for this request.
    public func uploadOperation<Value: Sendable>(
        files: [MultipartFormData.Part], to path: String, method: HTTPMethod = .post,
        parameters: [String: ParameterValue] = [:], decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> URLRequestOperation<Value> {
        call(method, path, object: nil, parameters, decoder) { options in
            options.files = files
            edit(&options)
        }.operation
    }

    /// Makes the operation of an upload whose value is decoded as that of
    /// `operation(_:_:object:parameters:as:_:)`.
    public func uploadOperation<Value: Decodable & Sendable>(
        _ body: RequestBody, to path: String, method: HTTPMethod = .post, parameters: [String: ParameterValue] = [:],
        as type: Value.Type, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> URLRequestOperation<Value> {
        uploadOperation(body, to: path, method: method, parameters: parameters, decoder: standardDecoder(), edit)
    }

    /// Makes the operation of an upload of files whose value is decoded as that of
    /// `operation(_:_:object:parameters:as:_:)`.
    public func uploadOperation<Value: Decodable & Sendable>(
        files: [MultipartFormData.Part], to path: String, method: HTTPMethod = .post,
        parameters: [String: ParameterValue] = [:], as type: Value.Type,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> URLRequestOperation<Value> {
        uploadOperation(
            files: files, to: path, method: method, parameters: parameters, decoder: standardDecoder(), edit)
    }

    // MARK: Making

    func standardDecoder<Value: Decodable & Sendable>() -> ResponseDecoder<Value> { .standard(makeJSONDecoder) }

    /// An operation, and the way in which it may be shared. `nil` if it is not.
    struct Made<Value: Sendable> {
        let operation: ClientOperation<Value>
        let key: Flights.Key?
    }

    func call<Value: Sendable>(
        _ method: HTTPMethod, _ path: String, object: (any Encodable & Sendable)?,
        _ parameters: [String: ParameterValue], _ decoder: ResponseDecoder<Value>, isStandard: Bool = false,
        _ edit: (inout RequestOptions) -> Void
    ) -> Made<Value> {
        let (settings, options) = settled(edit)
        return make(decoder, options, settings, method: method, path: path, endpointType: nil, isStandard: isStandard) {
            try PreparedRequest(method, path, object: object, parameters, options, $0)
        }
    }

    func call<Subject: Endpoint>(
        _ endpoint: Subject, _ edit: (inout RequestOptions) -> Void
    ) -> Made<Subject.Response> {
        let (settings, options) = settled(edit) { endpoint.adjusted($0) }
        return make(
            endpoint.responseDecoder, options, settings, method: endpoint.method, path: endpoint.path,
            endpointType: type(of: endpoint), isStandard: true
        ) { try PreparedRequest(endpoint, options, $0) }
    }

    /// The settings of this moment, and the options of one request.
    ///
    /// - Parameters:
    ///   - edit: What the call sets.
    ///   - adjust: What an endpoint changes in the configuration before that.
    func settled(
        _ edit: (inout RequestOptions) -> Void, _ adjust: (RequestConfiguration) -> RequestConfiguration = { $0 }
    ) -> (ClientSettings, RequestOptions) {
        let settings = settings.withLock { $0 }
        var options = RequestOptions(adjust(settings.configuration))
        edit(&options)
        return (settings, options)
    }

    private func make<Value: Sendable>(
        _ decoder: ResponseDecoder<Value>, _ options: RequestOptions, _ settings: ClientSettings, method: HTTPMethod,
        path: String, endpointType: Any.Type?, isStandard: Bool, _ prepare: (RequestDefaults) throws -> PreparedRequest
    ) -> Made<Value> {
        let operation = make(options, settings, method: method, path: path, endpointType: endpointType, prepare) {
            ClientOperation($0, decoder: decoder, $0.isUpload(isMember: false) ? $1.requiringBody : $1)
        }
        let sharing = options.sharing ?? (isStandard && settings.sharesIdenticalRequests ? .identical : .never)
        let key = Flights.Key(
            sharing, operation.call.initiallyPrepared, ofSettings: settings.generation,
            isConfigured: options.isConfigured, Value.self, endpointType)
        return Made(operation: operation, key: key)
    }

    /// Makes an operation of any kind, and notes it as a submission.
    ///
    /// - Parameter makeOperation: Gets the call and the configuration of the operation.
    func make<Value: Sendable, Kind: URLRequestOperation<Value> & ClientRequest>(
        _ options: RequestOptions, _ settings: ClientSettings, method: HTTPMethod, path: String,
        endpointType: Any.Type?, _ prepare: (RequestDefaults) throws -> PreparedRequest,
        _ makeOperation: (ClientCall, RequestConfiguration) -> Kind
    ) -> Kind {
        let defaults = settings.defaults(for: options, isMember: false)
        let alone = Result { try prepare(defaults) }
        let member =
            settings.haveDefaultsOfThoseAlone
            ? Result { try prepare(settings.defaults(for: options, isMember: true)) } : alone
        let reporter = SubmissionReporter(self, on: settings.callbackQueue, settings.log)
        let call = ClientCall(
            reporter, settings.allHooks, settings.log, alone: alone, member: member,
            orFailingAs: .placeholder(
                method, relativeTo: options.baseURL ?? defaults.baseURL ?? URL(fileURLWithPath: "/")))
        var configuration = options.configuration
        for plugin in settings.plugins { plugin.add(to: &configuration) }
        configuration.completionQueue = settings.callbackQueue
        let listener = configuration.onEvent
        configuration.onEvent = { event in
            listener?(event)
            reporter.report(event)
        }
        let operation = makeOperation(call, configuration)
        let submission = Submission(
            operation, id: operation.id, method: method, path: path, url: call.initial?.url, endpointType: endpointType,
            tag: options.tag, userInfo: (try? alone.get())?.userInfo ?? options.userInfo)
        reporter.attach(submission)
        table.withLock { $0.add(submission) }
        return operation
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

/// The pages of a resource; see ``Pages``.
extension RequestClient {
    /// The pages of a path.
    ///
    /// ```swift
    /// for try await users in client.pages(of: "users", as: [User].self) { print(users.count) }
    /// ```
    ///
    /// Each page is a request of this client, with its fields, hooks and observers. The settings are those of this call. The
    /// parameters go with the first page only, because the link to the next one has its own. If the first request cannot be
    /// made, the sequence throws the reason. The parameters are those of `get(_:parameters:as:_:)`.
    public func pages<Value: Decodable & Sendable>(
        of path: String, parameters: [String: ParameterValue] = [:], as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> Pages<Value> {
        pages(of: path, parameters: parameters, decoder: standardDecoder(), edit)
    }

    /// The pages of a path whose values a decoder makes. See ``pages(of:parameters:as:_:)``.
    public func pages<Value: Sendable>(
        of path: String, parameters: [String: ParameterValue] = [:], decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> Pages<Value> {
        let (settings, options) = settled(edit)
        return pages(decoder, options, settings, method: .get, path: path, endpointType: nil) {
            try PreparedRequest(.get, path, object: nil, parameters, options, $0)
        }
    }

    /// The pages of an endpoint. See ``pages(of:parameters:as:_:)``.
    public func pages<Subject: Endpoint>(
        of endpoint: Subject, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> Pages<Subject.Response> {
        let (settings, options) = settled(edit) { endpoint.adjusted($0) }
        return pages(
            endpoint.responseDecoder, options, settings, method: endpoint.method, path: endpoint.path,
            endpointType: Subject.self
        ) { try PreparedRequest(endpoint, options, $0) }
    }

    private func pages<Value: Sendable>(
        _ decoder: ResponseDecoder<Value>, _ options: RequestOptions, _ settings: ClientSettings, method: HTTPMethod,
        path: String, endpointType: Any.Type?, _ prepare: (RequestDefaults) throws -> PreparedRequest
    ) -> Pages<Value> {
        let defaults = settings.defaults(for: options, isMember: false)
        let first = Result { try prepare(defaults) }
        let request =
            (try? first.get())?.request
            ?? .placeholder(method, relativeTo: options.baseURL ?? defaults.baseURL ?? URL(fileURLWithPath: "/"))
        var configuration = options.configuration
        for plugin in settings.plugins { plugin.add(to: &configuration) }
        return Pages(
            on: queue, first: request, configuration: configuration, hasHooks: !settings.allHooks.isEmpty
        ) { [self] page in
            make(options, settings, method: method, path: path, endpointType: endpointType) { _ in
                try first.get().at(page)
            } _: {
                ClientOperation($0, decoder: decoder, $1)
            }
        }
    }
}
