import RequestOperations
import RequestOperationsTesting
import Testing

private struct User: Codable, Sendable {
    var name: String
}

private struct Session: Codable, Sendable {
    var token: String
}

private actor TokenStore {
    func current() async throws -> String { "token" }
}

private let url = URL(fileURLWithPath: "/")
private let request = URLRequest(url: url)
private let loginRequest = URLRequest(url: url)
private let queue = OperationQueue()
private let tokens = TokenStore()
