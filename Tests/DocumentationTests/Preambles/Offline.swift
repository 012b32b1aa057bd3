import Foundation
import OfflineRequests
import RequestOperations

private let server = URL(fileURLWithPath: "/")
private var queue: OfflineRequestQueue { get async throws { try await OfflineRequestQueue.open() } }

private struct Tokens {
    func current() async throws -> String { "" }
}

private struct Customer {
    let id: String
    let webhook: URL
}

private struct Order: Codable {
    let id: Int
}

private let tokens = Tokens()
private let customer = Customer(id: "", webhook: server)
private let order = Order(id: 1)
