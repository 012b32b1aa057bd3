import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

/// What an outage costs a run of many requests, on real sockets and in real time.
@Suite(.timeLimit(.minutes(15)), .serialized)
struct OutageTests {
    private static let (count, width, latency) = (1200, 16, Duration.milliseconds(50))

    @Test func `An outage of 2 s costs little more than 2 s`() async throws {
        let respond: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { _ in
            .delayed(Self.latency, then: .text("ok"))
        }
        let server = try await LoopbackServer.start(handler: respond)
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = Self.width
        var configuration = RequestConfiguration()
        configuration.hosts = HostRegistry()
        configuration.retryPolicy.maximumRetries = 8
        let operations = (0..<Self.count).map { number in
            URLRequestOperation(server.url("/\(number)"), configuration: configuration)
        }
        let began = ContinuousClock.now
        for operation in operations { queue.addOperation(operation) }
        try await Task.sleep(for: .seconds(1))
        server.stop()
        try await Task.sleep(for: .seconds(2))
        let successor = try await LoopbackServer.start(port: server.port, handler: respond)
        defer { successor.stop() }
        for operation in operations { _ = try await operation.value }
        // Undisturbed it takes 3.75 s. Tokens of the budget alone would take more than a minute.
        #expect(ContinuousClock.now - began < .seconds(20))
        #expect(operations.contains { $0.attempts.count > 1 })
    }
}
