import RequestOperations

private struct User: Codable, Sendable {
    var name: String
}

private let url = URL(fileURLWithPath: "/")
private let queue = OperationQueue()
