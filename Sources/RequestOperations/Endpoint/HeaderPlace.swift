/// The header fields, as the place of a ``Endpoint/Header``.
public enum HeaderPlace: ParameterPlace {
    /// ``ParameterPlacement/header``.
    public static var placement: ParameterPlacement { .header }
}
