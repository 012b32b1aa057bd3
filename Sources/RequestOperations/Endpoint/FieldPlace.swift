/// The header fields, as the place of ``Endpoint/Field``.
public enum FieldPlace: ParameterPlace {
    /// ``ParameterPlacement/field``.
    public static var placement: ParameterPlacement { .field }
}
