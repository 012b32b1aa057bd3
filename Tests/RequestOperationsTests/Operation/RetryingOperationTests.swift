import RequestOperations
import RequestOperationsTesting
import Testing

/// Work that is no request.
@Suite(.timeLimit(.minutes(15))) struct RetryingOperationTests {
    private let clock = ManualClock()
    private let resource = URL(string: "tcp://host.invalid:7")!  // A literal that is a URL.

    /// A configuration without a backoff.
    private func configuration() -> RequestConfiguration {
        var configuration = RequestConfiguration()
        configuration.clock = clock
        configuration.hosts = clock.hosts
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.retryPolicy.budget = nil
        return configuration
    }

    private func failing(
        _ error: any Error = Problem(), times: Int, _ configuration: RequestConfiguration, isIdempotent: Bool = true
    ) -> RetryingOperation<Int> {
        RetryingOperation(resource: resource, isIdempotent: isIdempotent, configuration: configuration) { number in
            if number <= times { throw error }
            return number
        }
    }

    // MARK: Attempts

    @Test func `A subclass overrides the attempt`() async throws {
        final class Ping: RetryingOperation<Int>, @unchecked Sendable {
            override func attempt(_ number: Int) async throws -> Int { 10 * number }
        }
        #expect(try await run(Ping(resource: resource)) == 10)
    }

    @Test func `It attempts until it has a value`() async throws {
        let operation = failing(times: 2, configuration())
        #expect(try await run(operation) == 3)
        #expect(operation.attempts.map { $0.error != nil } == [true, true, false])
    }

    @Test func `It needs no resource`() async throws {
        #expect(try await run(RetryingOperation { number in number }) == 1)
    }

    @Test func `The maximum of retries holds`() async throws {
        let error = await failure(of: failing(times: 9, configuration())) as? RequestError
        #expect(error?.code == .stageFailed && error?.underlying is Problem && error?.attempts.count == 4)
        #expect(error?.notRetried == "4 of 4 attempts")
    }

    @Test func `An error that the policy calls permanent is not retried`() async throws {
        var configuration = configuration()
        configuration.retryPolicy.isTransient = { _ in false }
        let operation = failing(times: 1, configuration)
        #expect(await failure(of: operation) != nil && operation.attempts.count == 1)
    }

    @Test func `A URL error is an error like any other`() async throws {
        let error = await failure(of: failing(URLError(.badURL), times: 9, configuration())) as? RequestError
        #expect(error?.code == .stageFailed && error?.underlying is URLError && error?.attempts.count == 4)
    }

    @Test func `Work that is not idempotent is not retried`() async throws {
        let operation = failing(times: 1, configuration(), isIdempotent: false)
        let error = await failure(of: operation) as? RequestError
        #expect(error?.notRetried == "the work is not idempotent" && operation.attempts.count == 1)
    }

    @Test func `The methods of the policy do not matter`() async throws {
        var configuration = configuration()
        configuration.retryPolicy.idempotentMethods = []
        #expect(try await run(failing(times: 1, configuration)) == 2)
    }

    @Test func `A cancellation error cancels it`() async throws {
        let operation = failing(CancellationError(), times: 1, configuration())
        #expect(await failure(of: operation) is CancellationError && operation.isCancelled)
    }

    @Test func `A decision of a subclass holds`() async throws {
        final class Once: RetryingOperation<Int>, @unchecked Sendable {
            override func attempt(_ number: Int) async throws -> Int { throw Problem() }

            override func retryDecision(after failure: AttemptFailure) async -> RetryDecision { .stop }
        }
        let operation = Once(resource: resource, configuration: configuration())
        #expect(await failure(of: operation) != nil && operation.attempts.count == 1)
    }

    @Test func `It runs all its steps where it is called`() async throws {
        #expect(try await failing(times: 2, configuration()).run() == 3)
    }

    // MARK: Hosts and slots

    @Test func `Failures open the circuit of the resource`() async throws {
        var configuration = configuration()
        configuration.retryPolicy.maximumRetries = 0
        let breaker = KnownBreaker(minimumThroughput: 1, clock: clock)
        configuration.use(breaker)
        _ = await failure(of: failing(times: 1, configuration))
        #expect(breaker.state(of: resource) == .open)
    }

    @Test func `Permanent errors do not open the circuit`() async throws {
        var configuration = configuration()
        configuration.retryPolicy.isTransient = { _ in false }
        let breaker = KnownBreaker(minimumThroughput: 1, clock: clock)
        configuration.use(breaker)
        _ = await failure(of: failing(times: 1, configuration))
        #expect(breaker.state(of: resource) == .closed)
    }

    @Test func `Retries draw on the budget`() async throws {
        var configuration = configuration()
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 1, mode: .failing, clock: clock)
        configuration.use(budget)
        let before = budget.balance(of: resource)
        _ = try await run(failing(times: 2, configuration))
        #expect(budget.balance(of: resource) == before - 2)
    }

    @Test func `An attempt holds a slot and a backoff none`() async throws {
        let limiter = RequestLimiter(total: 1)
        var configuration = configuration()
        configuration.limiter = limiter
        configuration.retryPolicy.backoff = .constant(.seconds(5))
        let operation = RetryingOperation(resource: resource, configuration: configuration) { number in
            if number == 1 { throw Problem() }
            return limiter.inFlightCount
        }
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        #expect(limiter.inFlightCount == 0)
        clock.advance(by: .seconds(5))
        #expect(try await operation.value == 1)
    }

    @Test func `A queue of width one runs one attempt at a time`() async throws {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 1
        let running = Locked(0)
        let operations = (0..<20).map { _ in
            RetryingOperation(resource: resource, configuration: configuration()) { _ -> Int in
                let now = running.withLock { running in
                    running += 1
                    return running
                }
                await Task.yield()
                running.withLock { $0 -= 1 }
                return now
            }
        }
        for operation in operations { queue.addOperation(operation) }
        for operation in operations { #expect(try await operation.value == 1) }
    }

    // MARK: Time

    @Test func `An attempt that takes too long fails`() async throws {
        var configuration = configuration()
        configuration.attemptTimeLimit = .seconds(3)
        configuration.retryPolicy.maximumRetries = 0
        let operation = RetryingOperation(resource: resource, configuration: configuration) { _ -> Int in
            await blockedUntilCancelled()
            return 0
        }
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        clock.advance(by: .seconds(3))
        let error = await #expect(throws: RequestError.self) { try await operation.value }
        #expect(error?.code == .timedOut)
    }

    @Test func `An attempt that ignores the cancel is left behind`() async throws {
        let limiter = RequestLimiter(total: 1)
        var configuration = configuration()
        configuration.limiter = limiter
        let runs = Door()
        let operation = RetryingOperation(resource: resource, configuration: configuration) { _ -> Int in
            runs.open()
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            return 0
        }
        OperationQueue().addOperation(operation)
        await runs.pass()
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
        await eventually { limiter.inFlightCount == 0 }
    }

    @Test func `Retry now ends the wait`() async throws {
        var configuration = configuration()
        configuration.retryPolicy.backoff = .constant(.seconds(60))
        let operation = failing(times: 1, configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        operation.retryNow()
        #expect(try await operation.value == 2)
    }

    @Test func `A wait can be replaced`() async throws {
        var configuration = configuration()
        configuration.retryPolicy.backoff = .constant(.seconds(60))
        let operation = failing(times: 1, configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        operation.retry(after: .seconds(2))
        await eventually { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(2))
        #expect(try await operation.value == 2)
        #expect(operation.attempts[1].waited == .seconds(2))
    }

    @Test func `A wait can be replaced by one for an observer`() async throws {
        struct Sign: EarlyRetryObserver {
            let door: Door

            func wait(after failure: AttemptFailure) async throws { await door.pass() }
        }
        var configuration = configuration()
        configuration.retryPolicy.backoff = .constant(.seconds(60))
        let operation = failing(times: 1, configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        let door = Door()
        operation.retry(after: .seconds(600), or: [Sign(door: door)])
        door.open()
        #expect(try await operation.value == 2)
        #expect(operation.attempts[1].wokenBy == .observer("Sign"))
    }

    @Test func `Outside a wait a replacement is ignored`() async throws {
        let operation = failing(times: 0, configuration())
        operation.retry(after: .seconds(600))
        #expect(try await run(operation) == 1)
        operation.retry(after: .seconds(600))
    }

    // MARK: Other operations

    @Test func `It runs a fresh operation for each attempt`() async throws {
        let made = Collector<Void>()
        let operation = RetryingOperation(
            configuration: configuration(),
            operation: {
                made.append(())
                return ClosureOperation { [count = made.count] in
                    if count < 3 { throw Problem() }
                    return count
                }
            })
        #expect(try await run(operation) == 3)
    }

    @Test func `It runs an operation of any class`() async throws {
        let runs = Collector<Void>()
        let operation = RetryingOperation(
            configuration: configuration(), operation: { BlockOperation { runs.append(()) } },
            error: { _ in runs.count < 3 ? Problem() : nil })
        try await run(operation)
        #expect(runs.count == 3)
    }

    // MARK: Names

    @Test func `Errors call the work by its name and not a request`() async throws {
        var configuration = configuration()
        configuration.retryPolicy.maximumRetries = 0
        let named = RetryingOperation<Int>(named: "sync of contacts", configuration: configuration) { _ in
            throw Problem()
        }
        let error = try #require(await failure(of: named) as? RequestError)
        #expect("\(error)".hasPrefix("stageFailed, sync of contacts: Problem (request "))
        #expect(error.method == nil && error.location == nil)
        let other = try #require(await failure(of: failing(times: 1, configuration)) as? RequestError)
        #expect("\(other)".hasPrefix("stageFailed, work, tcp://host.invalid:7: Problem"))
    }
}
