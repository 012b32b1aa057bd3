import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct ReachabilityObserverTests {
    private let clock = ManualClock()
    private let path = NetworkPath(.unreachable)

    private func waiting(spread: Duration = .zero) async -> URLRequestOperation<Data> {
        var configuration = RequestConfiguration.scripted([.error(.notConnected), .body(Data())])
        configuration.clock = clock
        configuration.hosts = clock.hosts
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(60)))
        configuration.retryPolicy.earlyRetryObservers = [ReachabilityObserver(path: path, spread: spread)]
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        return operation
    }

    @Test func `A request that waits goes out when the network is back`() async throws {
        let operation = await waiting()
        path.update(.reachable(.wired))
        _ = try await operation.value
        #expect(operation.attempts.last?.wokenBy == .observer("ReachabilityObserver"))
    }

    @Test func `A network that is there ends no wait`() async throws {
        path.update(.reachable(.wifi))
        let operation = await waiting()
        path.update(.reachable(.wifi))
        path.update(.reachable(.wired))
        path.update(.unreachable)
        #expect(path.waitingCount == 1)
        clock.advance(by: .seconds(60))
        _ = try await operation.value
        #expect(operation.attempts.last?.wokenBy == .backoff)
    }

    @Test func `Work without a host goes out without a line`() async throws {
        var request = anyRequest
        request.url = nil
        let failure = AttemptFailure(Problem(), request: request)
        let observer = ReachabilityObserver(path: path, spread: .zero)
        let waits = (0..<3).map { _ in
            Task { [clock] in
                try await RetryWait(on: RequestClock(clock)).run(
                    .seconds(60), or: [observer], after: failure, in: clock.hosts)
            }
        }
        await clock.sleepers(3)
        path.update(.reachable(.wired))
        for wait in waits { #expect(try await wait.value == .observer("ReachabilityObserver")) }
    }

    @Test func `A wake up comes within the spread and never after the backoff`() async throws {
        let operation = await waiting(spread: .seconds(10))
        path.update(.reachable(.wired))
        await clock.sleepers(2)
        clock.advance(by: .seconds(10))
        _ = try await operation.value
        #expect(operation.attempts.last?.wokenBy == .observer("ReachabilityObserver"))
    }

    @Test func `A request that ends leaves the path`() async {
        let operation = await waiting()
        #expect(path.waitingCount == 1)
        operation.cancel()
        _ = try? await operation.value
        await eventually { path.waitingCount == 0 }
    }

    @Test func `Two to a host go and the others follow their successes`() async throws {
        let (mayAnswer, arrived) = (Door(), Collector<Void>())
        let url = try #require(URL(string: "http://behind-the-network.invalid/"))
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 10
        let operations = (0..<10).map { _ in
            var configuration = RequestConfiguration.scripted([
                .error(.notConnected),
                .dynamic { _ in
                    arrived.append(())
                    await mayAnswer.pass()
                    return .body(Data())
                },
            ])
            configuration.clock = clock
            configuration.hosts = clock.hosts
            configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(60)))
            configuration.retryPolicy.earlyRetryObservers = [ReachabilityObserver(path: path, spread: .zero)]
            return URLRequestOperation(url, configuration: configuration)
        }
        for operation in operations { queue.addOperation(operation) }
        await clock.sleepers(10)
        path.update(.reachable(.wired))
        await arrived.count(2)
        await eventually { clock.hosts.waitingCount(for: url) == 8 }
        #expect(arrived.count == 2)
        mayAnswer.open()
        for operation in operations { _ = try await operation.value }
        #expect(operations.allSatisfy { $0.attempts.last?.wokenBy == .observer("ReachabilityObserver") })
    }

    @Test func `A host that is down is tried twice`() async throws {
        let url = try #require(URL(string: "http://down-behind-the-network.invalid/"))
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 10
        var configuration = RequestConfiguration.scripted([.error(.cannotConnect)])
        configuration.clock = clock
        configuration.hosts = clock.hosts
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(60)))
        configuration.retryPolicy.earlyRetryObservers = [ReachabilityObserver(path: path, spread: .zero)]
        let operations = (0..<10).map { _ in URLRequestOperation(url, configuration: configuration) }
        for operation in operations { queue.addOperation(operation) }
        await clock.sleepers(10)
        path.update(.reachable(.wired))
        await eventually {
            operations.reduce(0) { $0 + $1.attempts.count } == 12 && clock.sleeperCount == 10
                && clock.hosts.waitingCount(for: url) == 8
        }
        queue.cancelAllOperations()
    }

    @Test func `Tries that come too early do not stop the releases of a success`() async throws {
        let url = try #require(URL(string: "http://soon-behind-the-network.invalid/"))
        let isUp = Locked(false)
        var configuration = RequestConfiguration.scripted([
            .dynamic { _ in isUp.withLock { $0 } ? .body(Data()) : .error(.cannotConnect) }
        ])
        configuration.clock = clock
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(60)))
        configuration.retryPolicy.earlyRetryObservers = [
            HostRecoveryObserver(), ReachabilityObserver(path: path, spread: .zero),
        ]
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 10
        let operations = (0..<10).map { _ in URLRequestOperation(url, configuration: configuration) }
        for operation in operations { queue.addOperation(operation) }
        await clock.sleepers(10)
        path.update(.reachable(.wired))
        await eventually {
            operations.reduce(0) { $0 + $1.attempts.count } == 12 && clock.sleeperCount == 10
        }
        // The two that were tried may join the queue of their host later than the success comes.
        let untried = operations.filter { $0.attempts.count == 1 }
        isUp.withLock { $0 = true }
        _ = try await run(URLRequestOperation(url, configuration: configuration))
        for operation in untried { _ = try await operation.value }
        #expect(untried.count == 8 && clock.now.offset == .zero)
        queue.cancelAllOperations()
    }

    @Test func `It can be awaited by an observer that is made of it`() async throws {
        let observer = ReachabilityObserver(path: path, spread: .zero)
        let awaiting = Task { try await observer.wait(after: AttemptFailure(Problem(), request: anyRequest)) }
        await eventually { path.waitingCount == 1 }
        path.update(.reachable(.wired))
        try await awaiting.value
    }

    @Test func `It watches the path of the system by default`() {
        // Nothing but that it can be made: what the system says is its own affair.
        #expect(ReachabilityObserver().spread == .milliseconds(500))
        #expect(ReachabilityObserver(path: path, spread: .seconds(-1)).spread == .zero)
    }
}
