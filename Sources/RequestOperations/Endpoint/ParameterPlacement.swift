/// The part of a request that a property of an endpoint goes to.
public enum ParameterPlacement: Sendable, Hashable {
    /// A variable of the path's template.
    case path
    /// The query.
    case query
    /// A field.
    case header
    /// The body.
    case body
    /// No part.
    case ignored
}

/// A part of a request as a type. The wrappers of endpoints differ by this type: ``PlacedProperty``.
public protocol ParameterPlace {
    /// The part.
    static var placement: ParameterPlacement { get }
}

/// A property wrapper that says where its property goes.
protocol PlacedParameter {
    var placement: ParameterPlacement { get }
    /// The name that replaces the name of the property.
    var name: String? { get }
    /// The value; `nil` for an optional without a value.
    var wrapped: (any Encodable)? { get }
}

/// An optional of any type.
protocol OptionalParameter {
    var encodableValue: (any Encodable)? { get }
}

extension Optional: OptionalParameter where Wrapped: Encodable {
    var encodableValue: (any Encodable)? { flatMap { $0 } }
}
