import Foundation
import RequestOperations

/// Watches for successes of other requests at hosts that records wait for: one watch for each host.
///
/// A success at the host of a record does not say that the record would succeed: a host can serve all but one path. So
/// each record that is woken and fails again doubles the number of successes until the next one is woken.
final class RecoveryWatches: Sendable {
    private struct Host {
        var doubt = RecoveryDoubt()
        var watch: Task<Void, Never>?
        /// How many records were woken and have no result yet.
        var woken = 0
    }

    private let table = Locked<[String: Host]>([:])
    private let registry: HostRegistry
    private let clock: WaitClock

    init(_ registry: HostRegistry, _ clock: WaitClock) {
        self.registry = registry
        self.clock = clock
    }

    /// Begins to watch an origin, unless that is watched already.
    ///
    /// - Parameter wake: Called after each success that counts. It wakes records and returns how many there were. The
    ///   watch ends when there are none.
    func watch(_ origin: String, _ wake: @escaping @Sendable () async -> Int) {
        guard let url = URL(string: origin) else { return }
        table.withLock { table in
            guard table[origin]?.watch == nil else { return }
            table[origin, default: Host()].watch = Task {
                repeat {
                    // If the observer has no answer, the watch was cancelled.
                    do { try await HostRecoveryObserver().wait(forHostOf: url, in: self.registry) } catch { return }
                } while await !self.isOver(origin, wake)
            }
        }
    }

    /// Wakes records after a success. Returns whether none is left.
    private func isOver(_ origin: String, _ wake: () async -> Int) async -> Bool {
        let now = clock.elapsed.nanoseconds
        guard table.withLock({ $0[origin]?.doubt.releases(at: now) ?? false }) else { return false }
        let count = await wake()
        table.withLock { table in
            table[origin]?.woken += count
            if count == 0 { table[origin]?.watch = nil }
        }
        return count == 0
    }

    /// Notes the new result of a record that had failed before.
    func note(_ origin: String, succeeded: Bool) {
        let now = clock.elapsed.nanoseconds
        table.withLock { table in
            guard var host = table[origin], host.woken > 0 else { return }
            host.woken -= 1
            if succeeded { host.doubt.succeeded() } else { host.doubt.failed(at: now) }
            table[origin] = host
        }
    }

    /// Ends all watches.
    func close() {
        let all = table.withLock { table in
            defer { table = [:] }
            return table.values.compactMap(\.watch)
        }
        for watch in all { watch.cancel() }
    }
}
