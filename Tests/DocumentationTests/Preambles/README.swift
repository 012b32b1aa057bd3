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
private let configuration = RequestConfiguration.default
private let queue = OperationQueue()
private let tokens = TokenStore()

nonisolated private func sign(_ request: URLRequest) -> URLRequest { request }
