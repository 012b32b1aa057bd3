import RequestOperations

private struct User: Codable, Sendable {
    let name: String
}

private struct GetUser: Endpoint {
    typealias Response = User
    let path = "users/{id}"
    @Path var id: Int
}

private let client = RequestClient()
private let requests = [client.operation(.get, "users", as: [User].self)]
