/// A property wrapper that says where its property goes.
protocol PlacedParameter {
    var placement: ParameterPlacement { get }
    /// The declared type of the property.
    var valueType: Any.Type { get }
    /// The name that replaces the name of the property.
    var name: String? { get }
    /// The value; `nil` for an optional without a value.
    var wrapped: (any Encodable)? { get }
}
