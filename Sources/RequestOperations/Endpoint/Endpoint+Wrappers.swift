// The wrappers have these short names only in endpoints. Elsewhere the names could clash with other modules, such as
// SwiftUI's Path.
extension Endpoint {
    /// Puts a property into the path, as a variable of the template (RFC 6570): `@Path var id: Int`.
    ///
    /// Single values, arrays and values with members can be expanded. A variable whose value is `nil` is undefined and
    /// expands to nothing: `{/id}` leaves the segment out. A value that would leave a segment empty is an error, such
    /// as `nil` or `""` in `users/{id}`. The path would name another resource.
    public typealias Path<Value: Encodable> = PlacedProperty<Value, PathPlace>

    /// Puts a property into the query, with any method: `@Query("per_page") var pageSize = 20`.
    public typealias Query<Value: Encodable> = PlacedProperty<Value, QueryPlace>

    /// Puts a property into a header field of the request: `@Field("If-Match") var tag = ""`.
    ///
    /// The elements of an array are joined by `", "` (RFC 9110, section 5.6.1). None of them may be `nil` or empty. A
    /// property that is `nil` as a whole sets no field. A name that is not a token is an error, and so is a value with
    /// a line break or a NUL.
    public typealias Field<Value: Encodable> = PlacedProperty<Value, FieldPlace>

    /// Puts a property into the body, with any method: `@Body var reason: String`.
    public typealias Body<Value: Encodable> = PlacedProperty<Value, BodyPlace>
}
