// Former names of the wrappers, kept for programs that still use them.

/// The former name of ``Endpoint/Path``.
@available(*, deprecated, message: "Use @Path in an endpoint, or PlacedProperty.")
public typealias PathParameter<Value: Encodable> = PlacedProperty<Value, PathPlace>

/// The former name of ``Endpoint/Query``.
@available(*, deprecated, message: "Use @Query in an endpoint, or PlacedProperty.")
public typealias QueryParameter<Value: Encodable> = PlacedProperty<Value, QueryPlace>

/// The former name of ``Endpoint/Header``.
@available(*, deprecated, message: "Use @Header in an endpoint, or PlacedProperty.")
public typealias HeaderParameter<Value: Encodable> = PlacedProperty<Value, HeaderPlace>

/// The former name of ``Endpoint/Body``.
@available(*, deprecated, message: "Use @Body in an endpoint, or PlacedProperty.")
public typealias BodyParameter<Value: Encodable> = PlacedProperty<Value, BodyPlace>
