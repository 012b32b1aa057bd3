/// The query, as the place of ``Endpoint/Query``.
public enum QueryPlace: ParameterPlace {
    /// ``ParameterPlacement/query``.
    public static var placement: ParameterPlacement { .query }
}
