import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(5))) struct HostRegistryTests {
    /// How often a request that succeeds takes the lock of its registry, which reads the clock each time.
    private func visits(_ queue: OperationQueue, limiter: RequestLimiter? = nil) async throws -> Int {
        let reads = Collector<Void>()
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.hosts = HostRegistry(clock: AskingClock { reads.append(()) })
        configuration.retryPolicy = .default
        configuration.limiter = limiter
        let before = reads.count
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        queue.addOperation(operation)
        _ = try await operation.value
        return reads.count - before
    }

    @Test func `A request to a host of which nothing is known asks for it once`() async throws {
        #expect(try await visits(OperationQueue()) == 1)
        #expect(try await visits(RequestQueue()) == 1)
    }

    @Test func `Who waits for a sign is released by the clock of the registry`() async {
        let clock = ManualClock()
        let released = Collector<Void>()
        let leave = HostRegistry(clock: clock).join(Origin(anyRequest.url), notBefore: .seconds(1), sign: 1) {
            release in
            release.finish(nil)
            released.append(())
            return true
        }
        await clock.sleepers(1)
        #expect(released.count == 0)
        clock.advance(by: .seconds(1))
        await eventually { released.count == 1 }
        leave()
    }

    @Test func `Before a request lines up for a slot it asks once more`() async throws {
        #expect(try await visits(OperationQueue(), limiter: RequestLimiter(total: 1)) == 2)
    }
}
