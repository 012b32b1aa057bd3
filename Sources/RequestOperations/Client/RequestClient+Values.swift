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
