import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct ReachabilityObserverTests {
    private let clock = ManualClock()
    private let path = NetworkPath(.unreachable)

    private func waiting(spread: Duration = .zero) async -> URLRequestOperation<Data> {
        var configuration = RequestConfiguration.scripted([.error(.notConnected), .body(Data())])
        configuration.clock = clock
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(60)))
        configuration.retryPolicy.earlyRetryObservers = [ReachabilityObserver(path: path, spread: spread)]
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        return operation
    }

    @Test func aRequestThatWaitsGoesOutWhenTheNetworkIsBack() async throws {
        let operation = await waiting()
        path.update(.reachable(.wired))
        _ = try await operation.value
        #expect(operation.attempts.last?.wokenBy == .observer("ReachabilityObserver"))
    }

    @Test func aNetworkThatIsThereEndsNoWait() async throws {
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

    @Test func aWakeUpComesWithinTheSpreadAndNeverAfterTheBackoff() async throws {
        let operation = await waiting(spread: .seconds(10))
        path.update(.reachable(.wired))
        await clock.sleepers(2)
        clock.advance(by: .seconds(10))
        _ = try await operation.value
        #expect(operation.attempts.last?.wokenBy == .observer("ReachabilityObserver"))
    }

    @Test func aRequestThatEndsLeavesThePath() async {
        let operation = await waiting()
        #expect(path.waitingCount == 1)
        operation.cancel()
        _ = try? await operation.value
        await eventually { path.waitingCount == 0 }
    }

    @Test func itCanBeAwaitedByAnObserverThatIsMadeOfIt() async throws {
        let observer = ReachabilityObserver(path: path, spread: .zero)
        let awaiting = Task { try await observer.wait(after: AttemptFailure(Problem(), request: anyRequest)) }
        await eventually { path.waitingCount == 1 }
        path.update(.reachable(.wired))
        try await awaiting.value
    }

    @Test func itWatchesThePathOfTheSystemByDefault() {
        // Nothing but that it can be made: what the system says is its own affair.
        #expect(ReachabilityObserver().spread == .milliseconds(500))
        #expect(ReachabilityObserver(path: path, spread: .seconds(-1)).spread == .zero)
    }
}
