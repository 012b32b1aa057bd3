import OfflineRequests
import RequestOperations
import Testing

/// The names of the module OfflineRequests that programs use.
@Suite(.timeLimit(.minutes(10))) struct OfflineFaceTests {
    struct Favourite: Codable, Sendable { let id: Int }

    final class Handler: OfflineMessageHandler<Favourite>, @unchecked Sendable {
        override func handle(_ message: Favourite) async throws {}
        override func encode(_ message: Favourite) throws -> Data { try super.encode(message) }
        override func decode(_ payload: Data) throws -> Favourite { try super.decode(payload) }
    }

    @Test func `The names of the queue stay`() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        var configuration = OfflineConfiguration()
        configuration.request.networkPath = NetworkPath(.unreachable)
        configuration.lanePause = LanePausePolicy(statuses: [410], failingFor: .seconds(60))
        configuration.classifier = OutcomeClassifier { _, verdict in verdict }
        let queue = try await OfflineRequestQueue.open(name: "a", directory: directory, configuration: configuration)
        queue.register(Favourite.self, name: "request") { URLRequest(url: URL(fileURLWithPath: "/\($0.id)")) }
        queue.register(Favourite.self, name: "work") { _ in }
        queue.register(Handler(name: "object"))
        queue.pause()
        let request = URLRequest(url: try #require(URL(string: "https://a.example/")))
        let id = try await queue.add(request)
        try await queue.add(request, options: OfflineOptions(lane: "l", tag: "t"), unique: UniqueKey("k", .keep))
        try await queue.add(request, unique: UniqueKey("k", .merge { old, new in new }))
        try await queue.add(Favourite(id: 1))
        let record: OfflineRecord? = try await queue.record(id)
        #expect(record?.id == id)
        try await queue.enumerate(RecordFilter([.pending], lane: "l")) { _, stop in stop = true }
        #expect(try await !queue.retry(id))
        #expect(try await queue.remove(id))
        #expect(try await queue.outcome(of: id) == OfflineOutcome.removed)
        #expect(try await queue.pause(lane: "l"))
        let paused: [PausedLane] = try await queue.pausedLanes
        #expect(paused.first?.lane == "l" && paused.first?.reason == LanePauseReason.requested)
        #expect(try await queue.resume(lane: "l"))
        try await queue.synchronize()
        #expect(try await queue.removeAll() == 2)
        try await queue.drain()
        let counts: OfflineCounts = try await queue.counts
        #expect(counts == OfflineCounts())
        let events: AsyncStream<OfflineEvent> = queue.events
        queue.resume()
        await queue.close()
        for await _ in events {}
    }
}
