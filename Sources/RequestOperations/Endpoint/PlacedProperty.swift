/// Puts a property of an endpoint into a part of the request.
///
/// ``PathParameter``, ``QueryParameter``, ``HeaderParameter`` and ``BodyParameter`` are this type.
@propertyWrapper
public struct PlacedProperty<Value: Encodable, Place: ParameterPlace>: Encodable {
    /// The value of the property.
    public var wrappedValue: Value
    let name: String?

    /// Wraps a value under the name of its property.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
        name = nil
    }

    /// Wraps a value under another name.
    ///
    /// - Parameters:
    ///   - wrappedValue: The value after the `=`.
    ///   - name: The name, which is not converted.
    public init(wrappedValue: Value, _ name: String) {
        self.wrappedValue = wrappedValue
        self.name = name
    }

    /// Encodes only the value, for encoders that do not know endpoints.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension PlacedProperty: Sendable where Value: Sendable {}

extension PlacedProperty: PlacedParameter {
    var placement: ParameterPlacement { Place.placement }

    var wrapped: (any Encodable)? {
        if let optional = wrappedValue as? any OptionalParameter { return optional.encodableValue }
        return wrappedValue
    }
}

/// Puts a property of an endpoint into the path, as a variable of the template (RFC 6570).
///
/// Single values, arrays and values with members can be expanded. A variable whose value is `nil` is undefined and
/// expands to nothing: `{/id}` leaves the segment out. A value that would leave a segment empty is an error, such as
/// `nil` or `""` in `users/{id}`. The path would name another resource.
///
/// Written `@Path` in an endpoint: ``Endpoint/Path``.
public typealias PathParameter<Value: Encodable> = PlacedProperty<Value, PathPlace>

/// Puts a property of an endpoint into the query, with any method.
///
/// Written `@Query` in an endpoint: ``Endpoint/Query``.
public typealias QueryParameter<Value: Encodable> = PlacedProperty<Value, QueryPlace>

/// Puts a property of an endpoint into a header field of the request.
///
/// The elements of an array are joined by `", "` (RFC 9110, section 5.6.1). None of them may be `nil` or empty. A
/// property that is `nil` as a whole sets no field. A name that is not a token is an error, and so is a value with a
/// line break or a NUL.
///
/// Written `@Header` in an endpoint: ``Endpoint/Header``.
public typealias HeaderParameter<Value: Encodable> = PlacedProperty<Value, HeaderPlace>

/// Puts a property of an endpoint into the body, with any method.
///
/// Written `@Body` in an endpoint: ``Endpoint/Body``.
public typealias BodyParameter<Value: Encodable> = PlacedProperty<Value, BodyPlace>
