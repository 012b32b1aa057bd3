// The wrappers have these short names only in endpoints. Elsewhere the names could clash with other modules, such as
// SwiftUI's Path.
extension Endpoint {
    /// Puts a property into the path: `@Path var id: Int`. See ``PathParameter``.
    public typealias Path<Value: Encodable> = PathParameter<Value>

    /// Puts a property into the query: `@Query("per_page") var pageSize = 20`. See ``QueryParameter``.
    public typealias Query<Value: Encodable> = QueryParameter<Value>

    /// Puts a property into a header field: `@Header("If-Match") var tag = ""`. See ``HeaderParameter``.
    public typealias Header<Value: Encodable> = HeaderParameter<Value>

    /// Puts a property into the body: `@Body var reason: String`. See ``BodyParameter``.
    public typealias Body<Value: Encodable> = BodyParameter<Value>
}
