extension URLRequestOperation {
    /// Makes an operation that sends a value as JSON and decodes the response.
    ///
    /// ```swift
    /// let operation = try URLRequestOperation(url, method: .put, json: user, decoder: .json(User.self))
    /// ```
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - method: The method. `POST` by default.
    ///   - value: Becomes the body, of the type `application/json`. It is encoded now.
    ///   - encoder: Encodes the value. A new `JSONEncoder` by default.
    ///   - decoder: Makes the value of an accepted response.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given.
    /// - Throws: A ``RequestError`` with the code ``RequestError/Code/unencodableBody`` and the error of the encoder.
    public convenience init(
        _ url: URL, method: HTTPMethod = .post, json value: some Encodable, encoder: JSONEncoder = JSONEncoder(),
        decoder: ResponseDecoder<Value>, configuration: RequestConfiguration = .default
    ) throws {
        self.init(
            try URLRequest(url, method, json: value, encoder), decoder: decoder, configuration: configuration)
    }
}

extension URLRequestOperation where Value == Data {
    /// Makes an operation that sends a value as JSON, and whose value is the body of the response. See the other initialiser
    /// for the parameters.
    public convenience init(
        _ url: URL, method: HTTPMethod = .post, json value: some Encodable, encoder: JSONEncoder = JSONEncoder(),
        configuration: RequestConfiguration = .default
    ) throws {
        self.init(try URLRequest(url, method, json: value, encoder), decoder: .data, configuration: configuration)
    }
}

extension URLRequest {
    fileprivate init(_ url: URL, _ method: HTTPMethod, json value: some Encodable, _ encoder: JSONEncoder) throws {
        self.init(url: url)
        httpMethod = method.rawValue
        setValue("application/json", forHTTPHeaderField: "Content-Type")
        do {
            httpBody = try encoder.encode(value)
        } catch {
            throw RequestError(.unencodableBody, stage: .process, underlying: error).about(self, nil)
        }
    }
}
