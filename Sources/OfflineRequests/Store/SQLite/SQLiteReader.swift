import Foundation
import RequestOperations

/// Reads a database beside its writer. A commit under way does not hold it up.
final class SQLiteReader: Sendable {
    private let database: SQLiteDatabase
    private let queue = DispatchQueue(label: "OfflineRequests.SQLiteReader")
    private let isClosed = Locked(false)

    init(_ database: SQLiteDatabase) {
        self.database = database
    }

    /// Runs a closure in a transaction that reads.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                guard !isClosed.withLock({ $0 }) else {
                    return continuation.resume(throwing: OfflineQueueError(.closed))
                }
                do { continuation.resume(returning: try database.read(body)) } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// Returns what the database looks like now.
    func version() async throws -> StoreVersion {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                guard !isClosed.withLock({ $0 }) else {
                    return continuation.resume(throwing: OfflineQueueError(.closed))
                }
                continuation.resume(with: Result { try database.version() })
            }
        }
    }

    /// Closes the database after the reads that have begun.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                isClosed.withLock { $0 = true }
                database.close()
                continuation.resume()
            }
        }
    }
}
