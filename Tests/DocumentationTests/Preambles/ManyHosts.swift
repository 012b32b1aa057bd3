import Foundation
import OfflineRequests
import RequestOperations

private struct Customer {
    let id: String
}

private let customer = Customer(id: "")
private let request = URLRequest(url: URL(fileURLWithPath: "/"))

/// The driver of a program.
private struct Transaction {
    func query(_ text: String, _ parameters: [String?]) async throws {}
}

private let transaction = Transaction()

#if !PostgreSQL
    // Without the trait there is no libpq, so these stand in for what the trait adds.
    private struct PostgreSQLOptions {
        var preparesStatements = true
        var listens = true
    }

    extension OfflineStorage {
        fileprivate static func postgreSQL(_ database: String, options: PostgreSQLOptions = .init()) -> OfflineStorage {
            .directory(URL(fileURLWithPath: database))
        }
    }
#endif
