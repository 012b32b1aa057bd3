import Foundation
import RequestOperations

/// The queues that are open in this process, by their name and where they are kept.
final class OpenQueues: Sendable {
    static let shared = OpenQueues()

    private let queues = Locked<[String: Task<OfflineRequestQueue, any Error>]>([:])

    /// The queue at a path, opened once.
    ///
    /// - Parameter open: Opens it. Called once, unless it throws.
    func queue(
        at path: String, open: @escaping @Sendable () async throws -> OfflineRequestQueue
    ) async throws -> OfflineRequestQueue {
        let opening = queues.withLock { queues in
            if let opening = queues[path] { return opening }
            let opening = Task { try await open() }
            queues[path] = opening
            return opening
        }
        do { return try await opening.value } catch {
            queues.withLock { if $0[path] == opening { $0[path] = nil } }
            throw error
        }
    }

    /// Forgets a queue that is being closed. A later call opens it again.
    func remove(_ queue: OfflineRequestQueue, at path: String) async {
        // After an earlier close, another queue may have the path.
        guard let opening = queues.withLock({ $0[path] }), case .success(let open) = await opening.result,
            open === queue
        else { return }
        queues.withLock { if $0[path] == opening { $0[path] = nil } }
    }
}
