import RequestOperations

private struct User: Codable, Sendable {
    var name: String
}

private let operation = URLRequestOperation(URLRequest(url: URL(fileURLWithPath: "/")), decoder: .json(User.self))
private let error: any Error = CancellationError()
