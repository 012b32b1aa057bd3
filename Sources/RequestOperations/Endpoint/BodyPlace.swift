/// The body, as the place of ``Endpoint/Body``.
public enum BodyPlace: ParameterPlace {
    /// ``ParameterPlacement/body``.
    public static var placement: ParameterPlacement { .body }
}
