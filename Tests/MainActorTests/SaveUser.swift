import RequestOperations

/// An endpoint on the main actor, with each of the wrappers.
struct SaveUser: Endpoint {
    typealias Response = User
    let method = HTTPMethod.put
    let path = "users/{id}"

    @Path var id: Int
    @Query("per_page") var pageSize = 20
    @Field("X-Tag") var tag: String? = "a"
    @Body var note: String
    @Ignored var cache = ""
}
