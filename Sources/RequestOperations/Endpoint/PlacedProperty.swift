/// Puts a property of an endpoint into a part of the request.
///
/// ``Endpoint/Path``, ``Endpoint/Query``, ``Endpoint/Field`` and ``Endpoint/Body`` are this type, each with its
/// ``ParameterPlace``. A request object can have such properties too, with the full name of the wrapper:
/// `@PlacedProperty<Int, QueryPlace> var page = 1`.
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
    var valueType: Any.Type { Value.self }

    var wrapped: (any Encodable)? {
        if let optional = wrappedValue as? any OptionalParameter { return optional.encodableValue }
        return wrappedValue
    }
}
