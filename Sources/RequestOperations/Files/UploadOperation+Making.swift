extension UploadOperation {
    /// Makes an operation that uploads a body to a URL.
    ///
    /// - Parameters:
    ///   - body: Bytes, a file or a stream.
    ///   - url: The URL.
    ///   - method: The method. PUT by default. ``UploadProtocol/tus`` has its own.
    ///   - uploadProtocol: How the body gets to the server. ``UploadProtocol/plain`` by default.
    ///   - decoder: Makes the value from the last response.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given.
    public convenience init(
        _ body: RequestBody, to url: URL, method: HTTPMethod = .put, by uploadProtocol: UploadProtocol = .plain,
        decoder: ResponseDecoder<Value>, configuration: RequestConfiguration = .default
    ) {
        self.init(
            body, to: URLRequest(url, method), by: uploadProtocol, decoder: decoder, configuration: configuration)
    }

    /// Makes an operation that uploads a form to a URL.
    ///
    /// - Parameters:
    ///   - form: The form.
    ///   - url: The URL.
    ///   - method: The method. POST by default.
    ///   - uploadProtocol: How the form gets to the server. ``UploadProtocol/plain`` by default.
    ///   - decoder: Makes the value from the response.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given.
    public convenience init(
        _ form: MultipartFormData, to url: URL, method: HTTPMethod = .post,
        by uploadProtocol: UploadProtocol = .plain, decoder: ResponseDecoder<Value>,
        configuration: RequestConfiguration = .default
    ) {
        self.init(
            form, to: URLRequest(url, method), by: uploadProtocol, decoder: decoder, configuration: configuration)
    }
}

extension UploadOperation where Value == Data {
    /// Makes an operation that uploads a body, and whose value is the body of the response.
    public convenience init(
        _ body: RequestBody, to request: URLRequest, by uploadProtocol: UploadProtocol = .plain,
        configuration: RequestConfiguration = .default
    ) {
        self.init(body, to: request, by: uploadProtocol, decoder: .data, configuration: configuration)
    }

    /// Makes an operation that uploads a body to a URL, and whose value is the body of the response.
    public convenience init(
        _ body: RequestBody, to url: URL, method: HTTPMethod = .put, by uploadProtocol: UploadProtocol = .plain,
        configuration: RequestConfiguration = .default
    ) {
        self.init(
            body, to: url, method: method, by: uploadProtocol, decoder: .data, configuration: configuration)
    }

    /// Makes an operation that uploads a form, and whose value is the body of the response.
    public convenience init(
        _ form: MultipartFormData, to request: URLRequest, by uploadProtocol: UploadProtocol = .plain,
        configuration: RequestConfiguration = .default
    ) {
        self.init(form, to: request, by: uploadProtocol, decoder: .data, configuration: configuration)
    }

    /// Makes an operation that uploads a form to a URL, and whose value is the body of the response.
    public convenience init(
        _ form: MultipartFormData, to url: URL, method: HTTPMethod = .post,
        by uploadProtocol: UploadProtocol = .plain, configuration: RequestConfiguration = .default
    ) {
        self.init(
            form, to: url, method: method, by: uploadProtocol, decoder: .data, configuration: configuration)
    }
}

extension URLRequest {
    fileprivate init(_ url: URL, _ method: HTTPMethod) {
        self.init(url: url)
        httpMethod = method.rawValue
    }
}
