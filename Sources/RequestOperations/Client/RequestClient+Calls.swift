/// Calls that await their value.
///
/// All have the parameters of `operation(_:_:object:parameters:as:_:)`, or take a decoder instead of a type. Cancelling the Task
/// cancels the request. Parameters may come from variables of any encodable types, such as `["id": id, "q": text]`.
extension RequestClient {
    /// Gets a value. See `operation(_:_:object:parameters:as:_:)` for the parameters.
    public func get<Value: Decodable & Sendable>(
        _ path: String, parameters: [String: ParameterValue] = [:], as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await value(of: .get, path, nil, parameters, standardDecoder(), isStandard: true, edit)
    }

    /// Gets a value, with parameters of any types.
    @_disfavoredOverload
    public func get<Value: Decodable & Sendable>(
        _ path: String, parameters: [String: any Encodable & Sendable], as type: Value.Type = Value.self,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await value(of: .get, path, nil, parameters.erased, standardDecoder(), isStandard: true, edit)
    }

    /// Gets a value that a decoder makes.
    public func get<Value: Sendable>(
        _ path: String, parameters: [String: ParameterValue] = [:], decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .get, path, nil, parameters, decoder, edit) }

    /// Posts parameters and gets a value.
    public func post<Value: Decodable & Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: ParameterValue] = [:],
        as type: Value.Type = Value.self, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .post, path, object, parameters, standardDecoder(), edit) }

    /// Posts parameters, and ignores the body of the response or gets a value that a decoder makes.
    public func post<Value: Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: ParameterValue] = [:],
        decoder: ResponseDecoder<Value> = .void, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .post, path, object, parameters, decoder, edit) }

    /// Posts parameters and gets a value, with parameters of any types.
    @_disfavoredOverload
    public func post<Value: Decodable & Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: any Encodable & Sendable],
        as type: Value.Type = Value.self, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .post, path, object, parameters.erased, standardDecoder(), edit) }

    /// Posts parameters, and ignores the body of the response or gets a value that a decoder makes, with parameters of any types.
    @_disfavoredOverload
    public func post<Value: Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: any Encodable & Sendable],
        decoder: ResponseDecoder<Value> = .void, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .post, path, object, parameters.erased, decoder, edit) }

    /// Puts parameters and gets a value.
    public func put<Value: Decodable & Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: ParameterValue] = [:],
        as type: Value.Type = Value.self, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .put, path, object, parameters, standardDecoder(), edit) }

    /// Puts parameters, and ignores the body of the response or gets a value that a decoder makes.
    public func put<Value: Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: ParameterValue] = [:],
        decoder: ResponseDecoder<Value> = .void, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .put, path, object, parameters, decoder, edit) }

    /// Puts parameters and gets a value, with parameters of any types.
    @_disfavoredOverload
    public func put<Value: Decodable & Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: any Encodable & Sendable],
        as type: Value.Type = Value.self, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .put, path, object, parameters.erased, standardDecoder(), edit) }

    /// Puts parameters, and ignores the body of the response or gets a value that a decoder makes, with parameters of any types.
    @_disfavoredOverload
    public func put<Value: Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: any Encodable & Sendable],
        decoder: ResponseDecoder<Value> = .void, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .put, path, object, parameters.erased, decoder, edit) }

    /// Sends a PATCH and gets a value.
    public func patch<Value: Decodable & Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: ParameterValue] = [:],
        as type: Value.Type = Value.self, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .patch, path, object, parameters, standardDecoder(), edit) }

    /// Sends a PATCH, and ignores the body of the response or gets a value that a decoder makes.
    public func patch<Value: Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: ParameterValue] = [:],
        decoder: ResponseDecoder<Value> = .void, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .patch, path, object, parameters, decoder, edit) }

    /// Sends a PATCH and gets a value, with parameters of any types.
    @_disfavoredOverload
    public func patch<Value: Decodable & Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: any Encodable & Sendable],
        as type: Value.Type = Value.self, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .patch, path, object, parameters.erased, standardDecoder(), edit) }

    /// Sends a PATCH, and ignores the body of the response or gets a value that a decoder makes, with parameters of any types.
    @_disfavoredOverload
    public func patch<Value: Sendable>(
        _ path: String, object: (any Encodable & Sendable)? = nil, parameters: [String: any Encodable & Sendable],
        decoder: ResponseDecoder<Value> = .void, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .patch, path, object, parameters.erased, decoder, edit) }

    /// Sends a DELETE and gets a value.
    public func delete<Value: Decodable & Sendable>(
        _ path: String, parameters: [String: ParameterValue] = [:],
        as type: Value.Type = Value.self, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .delete, path, nil, parameters, standardDecoder(), edit) }

    /// Sends a DELETE, and ignores the body of the response or gets a value that a decoder makes.
    public func delete<Value: Sendable>(
        _ path: String, parameters: [String: ParameterValue] = [:],
        decoder: ResponseDecoder<Value> = .void, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .delete, path, nil, parameters, decoder, edit) }

    /// Sends a DELETE and gets a value, with parameters of any types.
    @_disfavoredOverload
    public func delete<Value: Decodable & Sendable>(
        _ path: String, parameters: [String: any Encodable & Sendable],
        as type: Value.Type = Value.self, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .delete, path, nil, parameters.erased, standardDecoder(), edit) }

    /// Sends a DELETE, and ignores the body of the response or gets a value that a decoder makes, with parameters of any types.
    @_disfavoredOverload
    public func delete<Value: Sendable>(
        _ path: String, parameters: [String: any Encodable & Sendable],
        decoder: ResponseDecoder<Value> = .void, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value { try await value(of: .delete, path, nil, parameters.erased, decoder, edit) }

    /// Gets the head of a response without its body.
    public func head(
        _ path: String, parameters: [String: ParameterValue] = [:], _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> ResponseHead { try await value(of: .head, path, nil, parameters, .head, isStandard: true, edit) }

    /// Sends the request of an endpoint. See ``operation(for:_:)``.
    public func send<Subject: Endpoint>(
        _ endpoint: Subject, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Subject.Response {
        try await value(of: made(draft(endpoint, edit), endpoint.responseDecoder, isStandard: true))
    }

    /// - Parameter isStandard: Whether the client decides about sharing if the options of the call do not.
    private func value<Value: Sendable>(
        of method: HTTPMethod, _ path: String, _ object: (any Encodable & Sendable)?,
        _ parameters: [String: ParameterValue], _ decoder: ResponseDecoder<Value>, isStandard: Bool = false,
        _ edit: (inout RequestOptions) -> Void
    ) async throws -> Value {
        try await value(
            of: made(draft(method, path, object: object, parameters, edit), decoder, isStandard: isStandard))
    }

    private func made<Value: Sendable>(
        _ draft: Draft, _ decoder: ResponseDecoder<Value>, isStandard: Bool
    ) -> (operation: URLRequestOperation<Value>, key: Flights.Key?) {
        (operation(of: draft, decoder), Flights.Key(draft, isStandard: isStandard, Value.self))
    }

    /// - Parameter made: An operation, and how it may be shared. `nil` if it is not shared.
    private func value<Value: Sendable>(
        of made: (operation: URLRequestOperation<Value>, key: Flights.Key?)
    ) async throws -> Value {
        guard let key = made.key else { return try await value(ofSubmitted: made.operation) }
        return try await flights.value(of: made.operation, for: key) { submit($0) }
    }

    func value<Value: Sendable>(ofSubmitted operation: URLRequestOperation<Value>) async throws -> Value {
        submit(operation)
        return try await operation.value
    }
}
