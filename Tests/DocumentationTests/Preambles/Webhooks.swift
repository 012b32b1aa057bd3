import Foundation
import OfflineRequests
import RequestOperations

private struct Customer {
    let id: String
    let webhook: URL
}

private struct Order: Codable {
    let id: Int
}

private let customer = Customer(id: "", webhook: URL(fileURLWithPath: "/"))
private let order = Order(id: 1)

/// The driver of a program.
private struct Transaction {
    func query(_ text: String, _ parameters: [String?]) async throws {}
    func commit() async throws {}
}

private let transaction = Transaction()

private struct Secrets {
    func signature(for host: String) throws -> WebhookSignature? { nil }
    func token() async throws -> String { "" }
}

private let secrets = Secrets()

private struct Customers {
    func tell(_ lane: String, _ reason: LanePauseReason) async throws {}
}

private let customers = Customers()
private var configuration: OfflineConfiguration {
    get { OfflineConfiguration() }
    set {}
}
private let (body, fields) = (Data(), [String: String]())
private var queue: OfflineRequestQueue { preconditionFailure("No sample runs.") }

#if !PostgreSQL
    extension OfflineStorage {
        fileprivate static func postgreSQL(_ database: String) -> OfflineStorage {
            .directory(URL(fileURLWithPath: database))
        }
    }
#endif
