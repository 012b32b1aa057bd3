import RequestOperations
import RequestOperationsTesting
import Testing

/// The elapsed limit of a policy runs from when the first attempt is handed to the transport.
@Suite(.timeLimit(.minutes(15))) struct ElapsedLimitTests {
    private let clock = ManualClock()
    private let limiter = RequestLimiter(total: 1)
    private let table: KnownSilences

    init() {
        table = KnownSilences(clock: clock)
    }

    private func configuration(_ transport: ScriptedTransport) -> RequestConfiguration {
        var configuration = RequestConfiguration.over(transport)
        configuration.clock = clock
        configuration.limiter = limiter
        configuration.randomSource = RandomSource(seed: 1)
        configuration.retryPolicy.backoff = .constant(.seconds(1))
        configuration.use(table)
        return configuration
    }

    /// Starts operations, has them stand in the line for longer than the elapsed limit, and then lets them go.
    private func afterABacklog(_ operations: [URLRequestOperation<Data>]) async throws {
        let occupied = try #require(limiter.hold(for: anyRequest.url))
        for operation in operations {
            OperationQueue().addOperation(operation)
            let waiting = operations.firstIndex { $0 === operation }.map { $0 + 1 } ?? 0
            await eventually { limiter.waitingCount == waiting }
        }
        clock.advance(by: .seconds(400))
        occupied.release()
    }

    @Test func `One retry after fails nothing in a backlog longer than the limit`() async throws {
        let transport = ScriptedTransport(
            [.status(503, fields: [("Retry-After", "7")])] + (0..<20).map { _ in .body(Data()) })
        let operations = (0..<20).map { _ in URLRequestOperation(anyRequest, configuration: configuration(transport)) }
        try await afterABacklog(operations)
        await clock.sleepers(20)
        #expect(transport.requests.count == 1)
        clock.advance(by: .seconds(8))
        for operation in operations { _ = try await operation.value }
        #expect(transport.requests.count == 21)
    }

    @Test func `The limit counts from the first sending`() async throws {
        let transport = ScriptedTransport((0..<9).map { _ in .status(503) })
        var configuration = configuration(transport)
        configuration.retryPolicy.maximumRetries = 8
        configuration.retryPolicy.elapsedLimit = .milliseconds(2_500)
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        try await afterABacklog([operation])
        for _ in 1...2 {
            await clock.sleepers(1)
            clock.advance(by: .seconds(1))
        }
        let error = await #expect(throws: RequestError.self) { try await operation.value }
        #expect(error?.code == .unacceptableStatus && transport.requests.count == 3)
    }

    @Test func `A request is hedged although it stood in the line for longer`() async throws {
        var (hedged, transport) = HedgedRequest.answered(by: [.stall, .body(Data("x".utf8))])
        hedged.configuration.limiter = RequestLimiter(total: 2)
        let occupied = (0..<2).map { _ in hedged.configuration.limiter?.hold(for: anyRequest.url) }
        let operation = hedged.operation()
        OperationQueue().addOperation(operation)
        await eventually { hedged.configuration.limiter?.waitingCount == 1 }
        hedged.clock.advance(by: .seconds(400))
        for slot in occupied { slot?.release() }
        await hedged.passDelay()
        #expect(try await operation.value == Data("x".utf8) && transport.requests.count == 2)
    }

    @Test func `The deadline runs from the beginning`() async throws {
        var configuration = configuration(ScriptedTransport([.body(Data())]))
        configuration.deadline = .seconds(300)
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        let occupied = try #require(limiter.hold(for: anyRequest.url))
        OperationQueue().addOperation(operation)
        await eventually { limiter.waitingCount == 1 }
        await clock.sleepers(1)
        clock.advance(by: .seconds(300))
        let error = await #expect(throws: RequestError.self) { try await operation.value }
        #expect(error?.code == .timedOut)
        occupied.release()
    }

    @Test func `What an open circuit keeps back has no limit yet`() async throws {
        let breaker = KnownBreaker(failureRatio: 0.5, minimumThroughput: 1, openTime: .seconds(400), clock: clock)
        try breaker.fail(anyRequest.url)
        let transport = ScriptedTransport([.body(Data())])
        var configuration = configuration(transport)
        configuration.use(breaker)
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        clock.advance(by: .seconds(401))
        _ = try await operation.value
        #expect(operation.attempts.count == 2)
    }
}
