/// Puts a property of an endpoint into a part of the request.
///
/// ``Endpoint/Path``, ``Endpoint/Query``, ``Endpoint/Field`` and ``Endpoint/Body`` are this type, each with its place:
/// ``PathPlace``, ``QueryPlace``, ``FieldPlace`` or ``BodyPlace``. A request object
/// can have such properties too, with the full name of the wrapper: `@PlacedProperty<Int, QueryPlace> var page = 1`.
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
    var placement: ParameterPlacement {
        // The comparison only compares addresses, but a cast costs far more.
        if Place.self == PathPlace.self { return .path }
        if Place.self == QueryPlace.self { return .query }
        if Place.self == FieldPlace.self { return .field }
        precondition(Place.self == BodyPlace.self, "\(Place.self) is no place of a property.")
        return .body
    }

    var valueType: Any.Type { Value.self }

    var wrapped: (any Encodable)? {
        if let optional = wrappedValue as? any OptionalParameter { return optional.encodableValue }
        return wrappedValue
    }
}

// The wrappers have these short names only in endpoints. Elsewhere the names could clash with other modules, such as
// SwiftUI's Path.
extension Endpoint {
    /// Puts a property into the path, as a variable of the template (RFC 6570): `@Path var id: Int`.
    ///
    /// Single values, arrays and values with members can be expanded. A variable whose value is `nil` is undefined and
    /// expands to nothing: `{/id}` leaves the segment out. A value that would leave a segment empty is an error, such
    /// as `nil` or `""` in `users/{id}`. The path would name another resource.
    public typealias Path<Value: Encodable> = PlacedProperty<Value, PathPlace>

    /// Puts a property into the query, with any method: `@Query("per_page") var pageSize = 20`.
    public typealias Query<Value: Encodable> = PlacedProperty<Value, QueryPlace>

    /// Puts a property into a header field of the request: `@Field("If-Match") var tag = ""`.
    ///
    /// The elements of an array are joined by `", "` (RFC 9110, section 5.6.1). None of them may be `nil` or empty. A
    /// property that is `nil` as a whole sets no field. A name that is not a token is an error, and so is a value with
    /// a line break or a NUL.
    public typealias Field<Value: Encodable> = PlacedProperty<Value, FieldPlace>

    /// Puts a property into the body, with any method: `@Body var reason: String`.
    public typealias Body<Value: Encodable> = PlacedProperty<Value, BodyPlace>
}

/// Where a ``PlacedProperty`` goes. Only the places of this module conform.
public protocol ParameterPlace {}

/// The path, as the place of ``Endpoint/Path``.
public enum PathPlace: ParameterPlace {}

/// The query, as the place of ``Endpoint/Query``.
public enum QueryPlace: ParameterPlace {}

/// The header fields, as the place of ``Endpoint/Field``.
public enum FieldPlace: ParameterPlace {}

/// The body, as the place of ``Endpoint/Body``.
public enum BodyPlace: ParameterPlace {}

/// The part of a request that a property of an endpoint goes to.
enum ParameterPlacement: Sendable, Hashable {
    /// A variable of the path's template.
    case path
    /// The query.
    case query
    /// A header field.
    case field
    /// The body.
    case body
    /// No part.
    case ignored
}

extension HTTPMethod {
    /// The part of the request that parameters go to by default with this method.
    var placement: ParameterPlacement {
        switch self {
        case .get, .head, .delete: .query
        default: .body
        }
    }
}

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
            tree.node = .absent
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

/// An optional of any type.
protocol OptionalParameter {
    var encodableValue: (any Encodable)? { get }
}

extension Optional: OptionalParameter where Wrapped: Encodable {
    var encodableValue: (any Encodable)? { flatMap { $0 } }
}
