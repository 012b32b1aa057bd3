/// A part of a request as a type. The wrappers of endpoints differ by this type: ``PlacedProperty``.
public protocol ParameterPlace {
    /// The part.
    static var placement: ParameterPlacement { get }
}
