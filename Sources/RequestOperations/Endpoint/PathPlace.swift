/// The path, as the place of ``Endpoint/Path``.
public enum PathPlace: ParameterPlace {
    /// ``ParameterPlacement/path``.
    public static var placement: ParameterPlacement { .path }
}
