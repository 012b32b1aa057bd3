import RequestOperations
import RequestOperationsTesting
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(15))) struct InputOperationTests {
    private let queue = RequestQueue(limiter: RequestLimiter(total: 1))

    @Test func `A request that is held back has no duration, and so no outcome`() async throws {
        let transport = ScriptedTransport([.stall])
        let operations = try (1...2).map { try operation($0, over: transport) }
        for operation in operations { queue.addOperation(operation) }
        await transport.requests(atLeast: 1)
        queue.cancelAllOperations()
        for operation in operations { await #expect(throws: CancellationError.self) { try await operation.value } }
        let failure = Result<Int64, any Error>.failure(CancellationError())
        #expect(Outcome(of: operations[1], failure) == nil)
    }

    @Test func `A request that is cancelled while it waits for a network has a duration of zero, and no attempt`()
        async throws
    {
        let operation = try operation(
            1, over: ScriptedTransport([.stall]),
            changing: { configuration in
                configuration.waitsForConnectivity = true
                configuration.networkPath = NetworkPath(.unreachable)
            })
        queue.addOperation(operation)
        while operation.attempts.isEmpty { await Task.yield() }
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
        let outcome = try #require(Outcome(of: operation, .failure(CancellationError())))
        #expect(outcome.seconds == .zero && outcome.attempts == 0)
    }

    @Test func `A request that ends while it waits for its next attempt has the status of the last response`()
        async throws
    {
        let queue = RequestQueue(limiter: RequestLimiter(adaptsToTooManyRequests: true, clock: ManualClock()))
        let transport = ScriptedTransport([.status(429, fields: [("Retry-After", "0")]), .stall])
        let operation = try operation(1, over: transport)
        queue.addOperation(operation)
        while operation.attempts.count < 2 { await Task.yield() }
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
        #expect(Outcome(of: operation, .failure(CancellationError()))?.status == 429)
    }

    @Test func `A redirect to another host is no attempt of its own`() async throws {
        let transport = ScriptedTransport([
            .status(302, fields: [("Location", "http://b.example/")]), .body(Data("there".utf8)),
        ])
        let operation = try operation(1, over: transport)
        queue.addOperation(operation)
        #expect(try await operation.value == 5)
        #expect(operation.begunAttempts == 1)
    }

    @Test func `Each retry is told of`() async throws {
        let retries = Collector<Int>()
        let transport = ScriptedTransport([
            .status(503, fields: [("Retry-After", "0")]), .status(503, fields: [("Retry-After", "0")]), .body(Data()),
        ])
        let operation = try operation(1, over: transport, onRetry: { retries.append(1) })
        queue.addOperation(operation)
        _ = try await operation.value
        #expect(retries.elements.count == 2 && operation.begunAttempts == 3)
    }

    @Test func `The time that results wait for their reader is no part of the duration`() async throws {
        let operation = try operation(1, over: ScriptedTransport([.body(Data())]))
        let began = ContinuousClock.now
        queue.addOperation(operation)
        _ = try await operation.value
        let atMost = began.duration(to: .now)
        #expect(try #require(operation.duration) <= atMost)
        #expect(operation.duration == operation.duration)
    }

    private func operation(
        _ id: Int, over transport: ScriptedTransport, onRetry: @escaping @Sendable () -> Void = {},
        changing change: (inout RequestConfiguration) -> Void = { _ in }
    ) throws -> InputOperation {
        var configuration = RequestConfiguration()
        configuration.transport = transport
        configuration.retryPolicy.budget = nil
        configuration.retryPolicy.sharesRetryAfter = false
        change(&configuration)
        return InputOperation(
            try RequestTemplate().request(fromURL: "http://a.example/", id: id), configuration: configuration,
            savingAt: nil, InputOperation.Listener(onRetry: onRetry))
    }
}
