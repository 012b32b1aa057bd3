import RequestOperations

private struct Post: Decodable, Sendable {
    var id: Int
}

private struct Session: Decodable, Sendable {
    var token: String
}

private let baseURL = URL(fileURLWithPath: "/")
private let request = URLRequest(url: baseURL)
private let queue = OperationQueue()

private struct ListComments: Endpoint {
    typealias Response = [String]
    let path = "posts/{id}/comments"
    @Path var id: Int
}
