/// The path, as the place of a ``Endpoint/Path``.
public enum PathPlace: ParameterPlace {
    /// ``ParameterPlacement/path``.
    public static var placement: ParameterPlacement { .path }
}
