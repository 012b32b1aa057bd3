import OfflineRequests
import RequestOperationsTesting
import Testing

/// What every store promises, over SQLite.
@Suite(.timeLimit(.minutes(10))) struct ConformanceTests {
    @Test(arguments: OfflineStoreConformance.all)
    func `SQLite keeps a promise`(promise: OfflineStoreConformance) async throws {
        let fixture = try Fixture()
        let bench = OfflineStoreConformance.Bench(
            isShared: false, now: fixture.configuration.date,
            wait: { fixture.clock.advance(by: $0) },
            open: { opening in
                try await SQLiteStore.open(
                    name: "test", directory: fixture.directory, outcomeRetention: opening.outcomeRetention,
                    lanePatience: opening.lanePatience, date: fixture.configuration.date, clock: fixture.clock,
                    onRecovery: { Issue.record("\($0)") })
            })
        try await promise.run(bench)
    }
}
