/// The path, as the place of a ``PathParameter``.
public enum PathPlace: ParameterPlace {
    /// ``ParameterPlacement/path``.
    public static var placement: ParameterPlacement { .path }
}
