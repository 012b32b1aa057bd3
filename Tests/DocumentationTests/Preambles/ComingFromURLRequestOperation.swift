import RequestOperations

private struct User: Codable, Sendable {
    var name: String
}

private struct Job: Codable, Sendable {
    var isDone: Bool
}

private struct WrongVersion: Error {}

private actor TokenStore {
    func current() async throws -> String { "token" }
}

private let url = URL(fileURLWithPath: "/")
private let queue = OperationQueue()
private let processingQueue = OperationQueue()
private let tokens = TokenStore()

private func unlocks() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
