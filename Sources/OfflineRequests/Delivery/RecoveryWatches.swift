import Foundation
import RequestOperations

/// Watches for successes of other requests to hosts that failed: one watch for each host.
final class RecoveryWatches: Sendable {
    private let watches = Locked<[String: Task<Void, Never>]>([:])

    /// Waits for a success at a host, then calls an action once. A second watch of a host has no effect.
    func watch(
        _ origin: String, after failure: AttemptFailure, _ action: @escaping @Sendable () async -> Void
    ) {
        watches.withLock { watches in
            guard watches[origin] == nil else { return }
            watches[origin] = Task {
                // An observer that throws says nothing about the host.
                let hasRecovered = await Self.recovery(after: failure)
                _ = self.watches.withLock { $0.removeValue(forKey: origin) }
                if hasRecovered { await action() }
            }
        }
    }

    private static func recovery(after failure: AttemptFailure) async -> Bool {
        do {
            try await HostRecoveryObserver().wait(after: failure)
            return !Task.isCancelled
        } catch { return false }
    }

    /// Ends all watches.
    func close() {
        let all = watches.withLock { watches in
            defer { watches = [:] }
            return Array(watches.values)
        }
        for watch in all { watch.cancel() }
    }
}
