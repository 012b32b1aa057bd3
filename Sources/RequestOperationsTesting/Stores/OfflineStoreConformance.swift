import Foundation
package import OfflineRequests

/// A promise of `OfflineStore` that every store keeps, and its check.
///
/// The suite imports no test library. In Swift Testing, parameterise a test over ``all``.
package struct OfflineStoreConformance: Sendable, CustomStringConvertible {
    /// The promise in one sentence.
    package let name: String
    private let check: @Sendable (Bench) async throws -> Void

    init(_ name: String, _ check: @escaping @Sendable (Bench) async throws -> Void) {
        self.name = name
        self.check = check
    }

    /// All promises.
    package static let all: [OfflineStoreConformance] =
        adding + contents + uniqueKeys + bounds + claiming + places + delivering + leases + waits + looking + removing
        + lanes

    /// Checks the promise, and closes the stores of the bench.
    ///
    /// - Parameter bench: Makes stores over new data, which no other check has used.
    /// - Throws: ``ConformanceFailure`` if the promise is broken, or an error of the store.
    package func run(_ bench: Bench) async throws {
        let result: Result<Void, any Error>
        do { result = .success(try await check(bench)) } catch { result = .failure(error) }
        for store in bench.opened.withLock({ $0 }) { await store.close() }
        try result.get()
    }

    package var description: String { name }
}

extension OfflineStoreConformance {
    /// Makes the stores of one check, all over the same data, and lets time pass for them.
    package struct Bench: Sendable {
        /// What a store is opened with.
        package struct Opening: Sendable {
            /// How long outcomes are kept. One hour by default.
            package var outcomeRetention = Duration.seconds(3600)
            /// How long the sender may be silent after a sign of life. One minute by default.
            package var leaseDuration = Duration.seconds(60)
            /// How long a lane may fail. `nil`, without limit, by default.
            package var lanePatience: Duration?
        }

        /// Whether several stores send at the same time.
        let isShared: Bool
        fileprivate let opened = Locked<[any OfflineStore]>([])
        private let open: @Sendable (Opening) async throws -> any OfflineStore
        private let now: @Sendable () -> Date
        private let wait: @Sendable (Duration) async throws -> Void

        /// Makes a bench.
        ///
        /// - Parameters:
        ///   - isShared: Whether several stores send at the same time.
        ///   - now: The time of the stores' clock. It may differ from it by some seconds.
        ///   - wait: Lets at least this much time pass on that clock.
        ///   - open: Opens a store. Called once for each store of the check.
        package init(
            isShared: Bool, now: @escaping @Sendable () -> Date,
            wait: @escaping @Sendable (Duration) async throws -> Void,
            open: @escaping @Sendable (Opening) async throws -> any OfflineStore
        ) {
            self.isShared = isShared
            self.now = now
            self.wait = wait
            self.open = open
        }

        /// Opens a store.
        func store(_ edit: (inout Opening) -> Void = { _ in }) async throws -> any OfflineStore {
            var opening = Opening()
            edit(&opening)
            let store = try await open(opening)
            opened.withLock { $0.append(store) }
            return store
        }

        /// A date some seconds from now. Use a wide margin.
        func date(in seconds: Double) -> Date { now() + seconds }

        /// Lets at least this much time pass for the stores.
        func pass(_ duration: Duration) async throws { try await wait(duration) }
    }
}
