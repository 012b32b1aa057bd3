import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct ConnectivityTests {
    private let clock = ManualClock()
    private let path = NetworkPath(.unreachable)
    private let transport = ScriptedTransport([.body(Data())])

    private var configuration: RequestConfiguration {
        var configuration = RequestConfiguration.over(transport)
        configuration.clock = clock
        configuration.waitsForConnectivity = true
        configuration.networkPath = path
        return configuration
    }

    /// An operation that was started and, if there is no network, waits.
    private func started(_ configuration: RequestConfiguration) async -> URLRequestOperation<Data> {
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        return operation
    }

    @Test func `A request waits for no network by default`() async throws {
        #expect(!RequestConfiguration().waitsForConnectivity)
        var configuration = configuration
        configuration.waitsForConnectivity = RequestConfiguration().waitsForConnectivity
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
    }

    @Test func `A request that has not been sent has no elapsed limit yet`() async throws {
        var configuration = configuration
        configuration.retryPolicy.elapsedLimit = .zero
        let operation = await started(configuration)
        path.update(.reachable(.wired))
        await clock.sleepers(2)
        clock.advance(by: .milliseconds(500))
        _ = try await operation.value
    }

    @Test func `The path of the system is the default`() {
        #expect(RequestConfiguration().networkPath === NetworkPath.shared)
    }

    @Test func `A request with a network goes out at once`() async throws {
        path.update(.reachable(.wifi))
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
    }

    @Test func `A request without a network goes out when there is one and never before`() async throws {
        let operation = await started(configuration)
        clock.advance(by: .seconds(299))
        #expect(transport.requests.isEmpty && operation.attempts.count == 1)
        path.update(.reachable(.wired))
        await clock.sleepers(2)
        clock.advance(by: .milliseconds(500))
        _ = try await operation.value
        #expect(transport.requests.count == 1 && operation.attempts.count == 1)
    }

    @Test func `The network of the machines own containers is not the one that was lost`() async throws {
        path.take(NetworkPath.Reading(level: .routed, interface: .wired))
        path.take(NetworkPath.Reading(level: .local, interface: .other))
        let operation = await started(configuration)
        #expect(transport.requests.isEmpty)
        path.take(NetworkPath.Reading(level: .routed, interface: .wired))
        await clock.sleepers(2)
        clock.advance(by: .milliseconds(500))
        _ = try await operation.value
    }

    @Test func `A network that is gone again is waited for once more`() async throws {
        let operation = await started(configuration)
        path.update(.reachable(.wired))
        await clock.sleepers(2)
        path.update(.unreachable)
        clock.advance(by: .milliseconds(500))
        await eventually { path.waitingCount == 1 }
        #expect(transport.requests.isEmpty)
        path.update(.reachable(.wired))
        await clock.sleepers(2)
        clock.advance(by: .milliseconds(500))
        _ = try await operation.value
    }

    @Test func `A network that comes before anybody watches counts`() async throws {
        path.update(.reachable(.wired))
        let observer = ReachabilityObserver(path: path, spread: .zero, countsWhatIs: true)
        let reason = try await RetryWait(on: RequestClock(clock)).run(.seconds(60), or: [observer], after: nil)
        #expect(reason == .observer("ReachabilityObserver") && path.waitingCount == 0)
    }

    @Test func `Before a first attempt no observer of others is asked`() async throws {
        struct Immediate: EarlyRetryObserver {
            func wait(after failure: AttemptFailure) async throws {}
        }
        let waiting = Task { [clock] in
            try await RetryWait(on: RequestClock(clock)).run(.seconds(60), or: [Immediate()], after: nil)
        }
        await clock.sleepers(1)
        clock.advance(by: .seconds(60))
        #expect(try await waiting.value == .backoff)
    }

    @Test func `It waits before the request is processed and holds no slot`() async {
        var configuration = configuration
        let limiter = RequestLimiter(total: 1)
        configuration.limiter = limiter
        let operation = Staged(configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        #expect(operation.calls.elements.isEmpty && limiter.inFlightCount == 0 && limiter.waitingCount == 0)
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
        await eventually { path.waitingCount == 0 }
    }

    @Test func `The elapsed limit does not end the wait for a network`() async throws {
        let operation = await started(configuration)
        clock.advance(by: .seconds(100_000))
        #expect(transport.requests.isEmpty && path.waitingCount == 1)
        path.update(.reachable(.wired))
        await clock.sleepers(2)
        clock.advance(by: .milliseconds(500))
        _ = try await operation.value
    }

    @Test func `Without a network before the deadline it times out`() async {
        var configuration = configuration
        configuration.deadline = .seconds(20)
        let operation = await started(configuration)
        await clock.sleepers(2)
        clock.advance(by: .seconds(20))
        let error = await #expect(throws: RequestError.self) { try await operation.value }
        #expect(error?.code == .timedOut && transport.requests.isEmpty)
    }

    @Test func `Retry now sends it without a network`() async throws {
        let operation = await started(configuration)
        operation.retryNow()
        _ = try await operation.value
    }

    @Test func `Only the first attempt waits`() async throws {
        path.update(.reachable(.wired))
        let path = path
        var configuration = configuration
        configuration.transport = ScriptedTransport([
            .dynamic { _ in
                path.update(.unreachable)
                return .status(503)
            },
            .body(Data()),
        ])
        configuration.retryPolicy.backoff = .constant(.zero)
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        _ = try await run(operation)
        #expect(operation.attempts.count == 2)
    }

    @Test func `An event says that it waits`() async throws {
        let steps = Collector<String>()
        var configuration = configuration
        configuration.onEvent = { event in
            switch event.step {
            case .attemptBegan: steps.append("attempt")
            case .waitsForConnectivity: steps.append("waits")
            case .woke(let reason): steps.append("\(reason)")
            case .head: steps.append("head")
            default: break
            }
        }
        let operation = await started(configuration)
        path.update(.reachable(.wired))
        await clock.sleepers(2)
        clock.advance(by: .milliseconds(500))
        _ = try await operation.value
        await configuration.deliverEvents()
        #expect(steps.elements == ["attempt", "waits", "ReachabilityObserver", "head"])
    }

    @Test func `Those who wait are spread when the network comes`() async throws {
        var configuration = configuration
        configuration.randomSource = RandomSource(seed: 2)
        let operations = (0..<10).map { _ in URLRequestOperation(anyRequest, configuration: configuration) }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = operations.count
        for operation in operations { queue.addOperation(operation) }
        await clock.sleepers(10)
        path.update(.reachable(.wired))
        await clock.sleepers(20)
        // Each has a tenth of the half second.
        for count in 1...10 {
            clock.advance(by: .milliseconds(50))
            await transport.requests(atLeast: count)
            #expect(transport.requests.count == count)
        }
        for operation in operations { _ = try await operation.value }
    }
}
