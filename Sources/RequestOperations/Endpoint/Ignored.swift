/// Keeps a property of an endpoint, or of its request object, out of the request. The value need not be encodable.
@propertyWrapper
public struct Ignored<Value>: Encodable {
    /// The value of the property.
    public var wrappedValue: Value

    /// Wraps a value.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }

    /// Encodes nothing into a request. An encoder that does not know endpoints gets a null.
    public func encode(to encoder: any Encoder) throws {
        if let tree = encoder as? ParameterTreeEncoder {
            tree.slot.node = .absent
            return
        }
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}

extension Ignored: Sendable where Value: Sendable {}

extension Ignored: PlacedParameter {
    var placement: ParameterPlacement { .ignored }
    var valueType: Any.Type { Value.self }
    var name: String? { nil }
    var wrapped: (any Encodable)? { nil }
}
