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
