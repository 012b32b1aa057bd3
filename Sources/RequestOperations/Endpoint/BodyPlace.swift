/// The body, as the place of a ``BodyParameter``.
public enum BodyPlace: ParameterPlace {
    /// ``ParameterPlacement/body``.
    public static var placement: ParameterPlacement { .body }
}
