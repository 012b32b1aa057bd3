/// Calls that await their value.
///
/// All have the parameters of `operation(_:_:object:parameters:as:_:)`, or take a decoder instead of a type. To cancel the
/// Task cancels the request.
extension RequestClient {
    /// Gets a value. See `operation(_:_:object:parameters:as:_:)` for the parameters.
    public func get<Value: Decodable & Sendable>(
        _ path: String, parameters: [String: ParameterValue] = [:], as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await value(of: call(.get, path, object: nil, parameters, standardDecoder(), isStandard: true, edit))
    }

    /// Gets a value that a decoder makes.
    public func get<Value: Sendable>(
        _ path: String, parameters: [String: ParameterValue] = [:], decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await value(of: call(.get, path, object: nil, parameters, decoder, edit))
    }

    /// Posts parameters and gets a value.
    public func post<Value: Decodable & Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: ParameterValue] = [:],
        as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await value(of: call(.post, path, object: object, parameters, standardDecoder(), isStandard: true, edit))
    }

    /// Posts parameters and gets a value that a decoder makes.
    public func post<Value: Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: ParameterValue] = [:],
        decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await value(of: call(.post, path, object: object, parameters, decoder, edit))
    }

    /// Posts parameters, and ignores the body of the response.
    public func post(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: ParameterValue] = [:],
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws {
        try await value(of: call(.post, path, object: object, parameters, .void, edit))
    }

    /// Puts parameters and gets a value.
    public func put<Value: Decodable & Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: ParameterValue] = [:],
        as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await value(of: call(.put, path, object: object, parameters, standardDecoder(), isStandard: true, edit))
    }

    /// Puts parameters and gets a value that a decoder makes.
    public func put<Value: Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: ParameterValue] = [:],
        decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await value(of: call(.put, path, object: object, parameters, decoder, edit))
    }

    /// Puts parameters, and ignores the body of the response.
    public func put(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: ParameterValue] = [:],
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws {
        try await value(of: call(.put, path, object: object, parameters, .void, edit))
    }

    /// Sends a PATCH and gets a value.
    public func patch<Value: Decodable & Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: ParameterValue] = [:],
        as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await value(of: call(.patch, path, object: object, parameters, standardDecoder(), isStandard: true, edit))
    }

    /// Sends a PATCH and gets a value that a decoder makes.
    public func patch<Value: Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: ParameterValue] = [:],
        decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await value(of: call(.patch, path, object: object, parameters, decoder, edit))
    }

    /// Sends a PATCH, and ignores the body of the response.
    public func patch(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: ParameterValue] = [:],
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws {
        try await value(of: call(.patch, path, object: object, parameters, .void, edit))
    }

    /// Sends a DELETE and gets a value.
    public func delete<Value: Decodable & Sendable>(
        _ path: String, parameters: [String: ParameterValue] = [:], as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await value(of: call(.delete, path, object: nil, parameters, standardDecoder(), isStandard: true, edit))
    }

    /// Sends a DELETE and gets a value that a decoder makes.
    public func delete<Value: Sendable>(
        _ path: String, parameters: [String: ParameterValue] = [:], decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await value(of: call(.delete, path, object: nil, parameters, decoder, edit))
    }

    /// Sends a DELETE, and ignores the body of the response.
    public func delete(
        _ path: String, parameters: [String: ParameterValue] = [:],
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws {
        try await value(of: call(.delete, path, object: nil, parameters, .void, edit))
    }

    /// Gets the head of a response without its body.
    public func head(
        _ path: String, parameters: [String: ParameterValue] = [:], _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> ResponseHead {
        try await value(of: call(.head, path, object: nil, parameters, .head, isStandard: true, edit))
    }

    /// Sends the request of an endpoint. See ``operation(for:_:)``.
    public func send<Subject: Endpoint>(
        _ endpoint: Subject, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Subject.Response {
        try await value(of: call(endpoint, edit))
    }

    /// Uploads a body. See ``uploadOperation(_:to:method:parameters:decoder:_:)``.
    public func upload<Value: Sendable>(
        _ body: RequestBody, to path: String, method: HTTPMethod = .post, parameters: [String: ParameterValue] = [:],
        decoder: ResponseDecoder<Value>, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        let operation = uploadOperation(
            body, to: path, method: method, parameters: parameters, decoder: decoder, edit)
        submit(operation)
        return try await operation.value
    }

    /// Uploads a body and decodes the response as `operation(_:_:object:parameters:as:_:)` does.
    public func upload<Value: Decodable & Sendable>(
        _ body: RequestBody, to path: String, method: HTTPMethod = .post, parameters: [String: ParameterValue] = [:],
        as type: Value.Type = Value.self, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await upload(body, to: path, method: method, parameters: parameters, decoder: standardDecoder(), edit)
    }

    /// Uploads files in a form. See ``uploadOperation(files:to:method:parameters:decoder:_:)``.
    public func upload<Value: Sendable>(
        files: [MultipartFormData.Part], to path: String, method: HTTPMethod = .post,
        parameters: [String: ParameterValue] = [:], decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        let operation = uploadOperation(
            files: files, to: path, method: method, parameters: parameters, decoder: decoder, edit)
        submit(operation)
        return try await operation.value
    }

    /// Uploads files in a form and decodes the response as `operation(_:_:object:parameters:as:_:)` does.
    public func upload<Value: Decodable & Sendable>(
        files: [MultipartFormData.Part], to path: String, method: HTTPMethod = .post,
        parameters: [String: ParameterValue] = [:], as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await upload(
            files: files, to: path, method: method, parameters: parameters, decoder: standardDecoder(), edit)
    }

    private func value<Value: Sendable>(of made: Made<Value>) async throws -> Value {
        guard let key = made.key else {
            submit(made.operation)
            return try await made.operation.value
        }
        return try await flights.value(of: made.operation, for: key) { submit($0) }
    }
}

/// Calls with parameters from variables of any encodable types, such as `parameters: ["id": id, "q": text]`.
///
/// They do what the functions with ``ParameterValue`` do, which are preferred where the parameters are literals alone.
extension RequestClient {
    /// Gets a value.
    @_disfavoredOverload
    public func get<Value: Decodable & Sendable>(
        _ path: String, parameters: [String: any Encodable & Sendable], as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await get(path, parameters: parameters.erased, as: type, edit)
    }

    /// Posts parameters and gets a value.
    @_disfavoredOverload
    public func post<Value: Decodable & Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: any Encodable & Sendable],
        as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await post(path, object: object, parameters: parameters.erased, as: type, edit)
    }

    /// Posts parameters, and ignores the body of the response.
    @_disfavoredOverload
    public func post(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: any Encodable & Sendable],
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws {
        try await post(path, object: object, parameters: parameters.erased, edit)
    }

    /// Puts parameters and gets a value.
    @_disfavoredOverload
    public func put<Value: Decodable & Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: any Encodable & Sendable],
        as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await put(path, object: object, parameters: parameters.erased, as: type, edit)
    }

    /// Puts parameters, and ignores the body of the response.
    @_disfavoredOverload
    public func put(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: any Encodable & Sendable],
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws {
        try await put(path, object: object, parameters: parameters.erased, edit)
    }

    /// Sends a PATCH with parameters and gets a value.
    @_disfavoredOverload
    public func patch<Value: Decodable & Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: any Encodable & Sendable],
        as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await patch(path, object: object, parameters: parameters.erased, as: type, edit)
    }

    /// Sends a PATCH with parameters, and ignores the body of the response.
    @_disfavoredOverload
    public func patch(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: any Encodable & Sendable],
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws {
        try await patch(path, object: object, parameters: parameters.erased, edit)
    }

    /// Sends a DELETE and gets a value.
    @_disfavoredOverload
    public func delete<Value: Decodable & Sendable>(
        _ path: String, parameters: [String: any Encodable & Sendable], as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await delete(path, parameters: parameters.erased, as: type, edit)
    }

    /// Sends a DELETE, and ignores the body of the response.
    @_disfavoredOverload
    public func delete(
        _ path: String, parameters: [String: any Encodable & Sendable],
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws {
        try await delete(path, parameters: parameters.erased, edit)
    }

    /// Makes the operation of a request.
    @_disfavoredOverload
    public func operation<Value: Decodable & Sendable>(
        _ method: HTTPMethod, _ path: String, object: (any Encodable & Sendable)? = nil,
        parameters: [String: any Encodable & Sendable], as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> URLRequestOperation<Value> {
        operation(method, path, object: object, parameters: parameters.erased, as: type, edit)
    }
}

extension [String: any Encodable & Sendable] {
    fileprivate var erased: [String: ParameterValue] { mapValues { ParameterValue($0) } }
}
