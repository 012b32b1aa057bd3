/// The part of a request that a property of an endpoint goes to.
public enum ParameterPlacement: Sendable, Hashable {
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
