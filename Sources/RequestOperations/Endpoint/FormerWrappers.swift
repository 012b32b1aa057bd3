// Former names of the wrappers, kept for programs that still use them.

/// The former name of ``Endpoint/Path``.
@available(*, deprecated, message: "Use @Path in an endpoint, or PlacedProperty.")
public typealias PathParameter<Value: Encodable> = PlacedProperty<Value, PathPlace>

/// The former name of ``Endpoint/Query``.
@available(*, deprecated, message: "Use @Query in an endpoint, or PlacedProperty.")
public typealias QueryParameter<Value: Encodable> = PlacedProperty<Value, QueryPlace>

/// The former name of ``Endpoint/Field``.
@available(*, deprecated, message: "Use @Field in an endpoint, or PlacedProperty.")
public typealias HeaderParameter<Value: Encodable> = PlacedProperty<Value, FieldPlace>

/// The former name of ``Endpoint/Body``.
@available(*, deprecated, message: "Use @Body in an endpoint, or PlacedProperty.")
public typealias BodyParameter<Value: Encodable> = PlacedProperty<Value, BodyPlace>

extension Endpoint {
    /// The former name of ``Field``.
    @available(*, deprecated, renamed: "Field")
    public typealias Header<Value: Encodable> = PlacedProperty<Value, FieldPlace>
}

/// The former name of ``FieldPlace``.
@available(*, deprecated, renamed: "FieldPlace")
public typealias HeaderPlace = FieldPlace

extension ParameterPlacement {
    /// The former name of ``field``.
    @available(*, deprecated, renamed: "field")
    public static var header: ParameterPlacement { .field }
}
