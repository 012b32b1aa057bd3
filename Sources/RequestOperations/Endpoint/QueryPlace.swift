/// The query, as the place of a ``QueryParameter``.
public enum QueryPlace: ParameterPlace {
    /// ``ParameterPlacement/query``.
    public static var placement: ParameterPlacement { .query }
}
