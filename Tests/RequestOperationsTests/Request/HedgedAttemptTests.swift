import RequestOperations
import RequestOperationsTesting
import Testing

/// Which of the attempts that run beside each other the request goes on with.
@Suite(.timeLimit(.minutes(15))) struct HedgedAttemptTests {
    private static let first = Data("first".utf8)
    private static let second = Data("second".utf8)

    // MARK: Who wins

    @Test func `A hedge that is answered first wins`() async throws {
        let (hedged, transport) = HedgedRequest.answered(by: [.stall, .body(Self.second)])
        let operation = hedged.operation()
        await hedged.start(operation)
        #expect(try await operation.value == Self.second)
        #expect(transport.requests.count == 2)
    }

    @Test func `A first attempt that is answered first wins`() async throws {
        let door = Door()
        let (hedged, transport) = HedgedRequest.answered(by: [.behind(door, .body(Self.first)), .stall])
        let operation = hedged.operation()
        await hedged.start(operation)
        await transport.requests(atLeast: 2)
        door.open()
        #expect(try await operation.value == Self.first)
    }

    @Test func `An attempt that is answered in time is not hedged`() async throws {
        let (hedged, transport) = HedgedRequest.answered(by: [.body(Self.first)])
        #expect(try await run(hedged.operation()) == Self.first)
        #expect(transport.requests.count == 1)
        let steps = await hedged.steps
        #expect(!steps.contains("notHedged") && !steps.contains("hedgeDecided"))
    }

    @Test func `There is no hedge before its time`() async throws {
        let (hedged, transport) = HedgedRequest.answered(by: [.stall, .body(Self.second)])
        let operation = hedged.operation()
        OperationQueue().addOperation(operation)
        await hedged.clock.sleepers(1)
        hedged.clock.advance(by: HedgedRequest.delay - .nanoseconds(1))
        #expect(hedged.clock.sleeperCount == 1)
        hedged.clock.advance(by: .nanoseconds(1))
        _ = try await operation.value
        #expect(transport.requests.count == 2)
    }

    @Test func `An attempt has one hedge`() async throws {
        var (hedged, transport) = HedgedRequest.answered(by: [.stall, .stall, .stall])
        hedged.configuration.hedging = Hedging(delay: .zero)
        let operation = hedged.operation()
        OperationQueue().addOperation(operation)
        await transport.requests(atLeast: 2)
        await eventually { hedged.clock.sleeperCount == 0 }
        operation.cancel()
        _ = try? await operation.value
        #expect(transport.requests.count == 2 && operation.attempts.map(\.isHedge) == [false, true])
    }

    @Test func `An attempt whose body arrives is not hedged`() async throws {
        let (hedged, transport) = HedgedRequest.answered(by: [.stallBody()])
        let operation = hedged.operation()
        OperationQueue().addOperation(operation)
        await hedged.step { if case .head = $0 { true } else { nil } }
        await eventually { hedged.clock.sleeperCount == 0 }
        operation.cancel()
        _ = try? await operation.value
        #expect(transport.requests.count == 1)
    }

    @Test func `A body that fails after its head won fails the attempt`() async throws {
        var (hedged, transport) = HedgedRequest.answered(by: [
            .stall, .failure(TransferFailure(RequestError(.connectionLost, stage: .transfer), phase: .body)),
            .body(Self.second),
        ])
        hedged.configuration.transport = Accompanied(transport) { task, onHead, answer in
            do { return try await answer() } catch let failure as TransferFailure {
                // The request has a URL.
                try onHead(ResponseHead(status: 200, url: task.request.url!))
                throw failure
            }
        }
        let operation = hedged.operation()
        await hedged.start(operation)
        _ = try await operation.value
        #expect(await hedged.attemptFailed().attempt == 2)
        #expect(operation.attempts.count == 3)
    }

    @Test func `A delay of nothing sends both at once`() async throws {
        var (hedged, transport) = HedgedRequest.answered(by: [.stall, .body(Self.second)])
        hedged.configuration.hedging = Hedging(delay: .seconds(-1))
        #expect(try await run(hedged.operation()) == Self.second)
        #expect(transport.requests.count == 2)
    }

    @Test func `A task that is not hedged is sent once`() async throws {
        var (hedged, transport) = HedgedRequest.answered(by: [.body(Self.first)])
        hedged.configuration.hedging = Hedging(delay: .zero)
        var request = anyRequest
        request.httpMethod = "POST"
        let operation = hedged.operation(request)
        #expect(try await run(operation) == Self.first)
        #expect(transport.requests.count == 1 && operation.attempts.count == 1)
    }

    // MARK: Failures

    @Test func `A failure that passes wins nothing while the hedge runs`() async throws {
        let (first, second) = (Door(), Door())
        let (hedged, transport) = HedgedRequest.answered(by: [
            .behind(first, .status(503)), .behind(second, .body(Self.second)),
        ])
        let operation = hedged.operation()
        await hedged.start(operation)
        await transport.requests(atLeast: 2)
        first.open()
        #expect(await hedged.attemptFailed().attempt == 1)
        second.open()
        #expect(try await operation.value == Self.second)
        #expect(await !hedged.steps.contains("decided"))
        #expect(operation.attempts.map(\.status) == [503, 200])
    }

    @Test func `A failure of the hedge that passes wins nothing either`() async throws {
        let door = Door()
        let (hedged, _) = HedgedRequest.answered(by: [
            .behind(door, .body(Self.first)), .error(.connectionLost),
        ])
        let operation = hedged.operation()
        await hedged.start(operation)
        #expect(await hedged.attemptFailed().attempt == 2)
        door.open()
        #expect(try await operation.value == Self.first)
        #expect(await !hedged.steps.contains("decided"))
    }

    @Test func `A failure for good is an answer`() async throws {
        let (hedged, transport) = HedgedRequest.answered(by: [.stall, .status(404)])
        let operation = hedged.operation()
        await hedged.start(operation)
        let error = try #require(await failure(ofStarted: operation) as? RequestError)
        #expect(error.head?.status == 404)
        #expect(error.attempts.count == 2 && error.attempts[0].error is CancellationError)
        #expect(transport.requests.count == 2)
    }

    @Test(arguments: [true, false])
    func `Of two failures that with a response is decided upon`(responseComesFirst: Bool) async throws {
        let (first, second) = (Door(), Door())
        let (hedged, transport) = HedgedRequest.answered(by: [
            .behind(first, .error(.connectionLost)), .behind(second, .status(503)),
        ])
        var configuration = hedged.configuration
        configuration.retryPolicy.maximumRetries = 0
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        await hedged.start(operation)
        await transport.requests(atLeast: 2)
        (responseComesFirst ? second : first).open()
        _ = await hedged.attemptFailed()
        (responseComesFirst ? first : second).open()
        let error = try #require(await failure(ofStarted: operation) as? RequestError)
        #expect(error.head?.status == 503 && error.code == .unacceptableStatus)
        #expect(error.attempts.map { ($0.error as? RequestError)?.code } == [.connectionLost, .unacceptableStatus])
    }

    @Test func `Each of two failures is told once`() async throws {
        let door = Door()
        var (hedged, transport) = HedgedRequest.answered(by: [.behind(door, .status(500)), .status(503)])
        hedged.configuration.retryPolicy.maximumRetries = 0
        let operation = hedged.operation()
        await hedged.start(operation)
        #expect(await hedged.attemptFailed().attempt == 2)
        door.open()
        _ = await failure(ofStarted: operation)
        await hedged.configuration.deliverEvents()
        let failures = hedged.events.elements.compactMap { step -> Int? in
            if case .attemptFailed(let failure) = step { failure.attempt } else { nil }
        }
        #expect(failures == [2, 1])
        #expect(transport.requests.count == 2)
    }

    @Test func `Two failures count as one for the backoff and the maximum of retries`() async throws {
        let doors = [Door(), Door()]
        var (hedged, transport) = HedgedRequest.answered(by: [
            .behind(doors[0], .status(503)), .status(503), .behind(doors[1], .status(503)), .status(503),
        ])
        hedged.configuration.retryPolicy.maximumRetries = 1
        let steps = Collector<Int>()
        hedged.configuration.retryDeciders = [
            RetryDecider { failure, decision in
                steps.append(failure.backoffStep)
                return decision
            }
        ]
        let operation = hedged.operation()
        await hedged.start(operation)
        await transport.requests(atLeast: 2)
        doors[0].open()
        await transport.requests(atLeast: 3)
        await hedged.passDelay()
        await transport.requests(atLeast: 4)
        doors[1].open()
        _ = await failure(ofStarted: operation)
        #expect(steps.elements == [1, 2])
        #expect(operation.attempts.map(\.isHedge) == [false, true, false, true])
    }

    @Test func `The error of a body is made once of the failure that is decided upon`() async throws {
        let door = Door()
        var (hedged, _) = HedgedRequest.answered(by: [
            .behind(door, .status(503, body: Data("a".utf8))), .status(503, body: Data("b".utf8)),
        ])
        let bodies = Collector<String>()
        hedged.configuration.errorBodyDecoder = ErrorBodyDecoder { _, body in
            bodies.append(String(decoding: body, as: UTF8.self))
            return Problem()
        }
        hedged.configuration.retryPolicy.maximumRetries = 0
        let operation = hedged.operation()
        await hedged.start(operation)
        _ = await hedged.attemptFailed()
        door.open()
        let error = try #require(await failure(ofStarted: operation) as? RequestError)
        #expect(bodies.elements == ["a"])
        #expect(error.underlying is Problem)
        #expect((error.attempts[0].error as? RequestError)?.underlying is Problem)
    }

    // MARK: What is told

    @Test func `The attempts tell who won and who lost`() async throws {
        let (hedged, _) = HedgedRequest.answered(by: [.stall, .body(Self.second)])
        let operation = hedged.operation()
        await hedged.start(operation)
        _ = try await operation.value
        let attempts = operation.attempts
        #expect(attempts.map(\.number) == [1, 2] && attempts.map(\.isHedge) == [false, true])
        #expect(attempts[0].error is CancellationError && attempts[1].error == nil)
        #expect(attempts.map(\.began) == [.zero, HedgedRequest.delay])
        #expect(attempts.map(\.ended) == [HedgedRequest.delay, HedgedRequest.delay])
        #expect(attempts.map(\.status) == [nil, 200] && attempts.map(\.bodySize) == [0, 6])
    }

    @Test func `A lost hedge is the last attempt and not the one that has the value`() async throws {
        let door = Door()
        let (hedged, transport) = HedgedRequest.answered(by: [.behind(door, .body(Self.first)), .stall])
        let operation = hedged.operation()
        await hedged.start(operation)
        await transport.requests(atLeast: 2)
        door.open()
        _ = try await operation.value
        let attempts = operation.attempts
        #expect(attempts[0].error == nil && attempts[0].bodySize == 5 && attempts[0].ended != nil)
        #expect(attempts[1].isHedge && attempts[1].error is CancellationError)
    }

    @Test func `The events tell of the hedge and of its end`() async throws {
        let (hedged, _) = HedgedRequest.answered(by: [.stall, .body(Self.second)])
        let operation = hedged.operation()
        await hedged.start(operation)
        _ = try await operation.value
        await eventually { hedged.events.elements.last?.name == "ended" }
        // Where the loser takes long to let go, that is told as well.
        #expect(
            await hedged.steps.filter { $0 != "abandoned" }
                == ["began", "attemptBegan", "hedgeBegan", "head", "hedgeDecided", "ended"])
    }

    @Test func `The end is an event of the attempt that has answered, not of the hedge that lost`() async throws {
        let door = Door()
        var (hedged, _) = HedgedRequest.answered(by: [.behind(door, .body(Self.second)), .stall])
        let attempts = Collector<Int?>()
        hedged.configuration.onEvent = { if case .ended = $0.step { attempts.append($0.attempt) } }
        let operation = hedged.operation()
        await hedged.start(operation)
        await eventually { operation.attempts.count == 2 }
        door.open()
        _ = try await operation.value
        await attempts.count(1)
        #expect(attempts.elements == [1] && operation.attempts[1].isHedge)
    }

    @Test func `What a loser still hears changes nothing`() async throws {
        let late = LateTransport()
        let hedged = HedgedRequest(over: late)
        let operation = hedged.operation()
        await hedged.start(operation)
        #expect(try await operation.value == Data("in time".utf8))
        let before = operation.attempts
        late.door.open()
        #expect(await late.outcome.isOpen(within: .seconds(60)))
        #expect(operation.attempts.map(\.status) == before.map(\.status))
        #expect(operation.attempts.map(\.ended) == before.map(\.ended))
        #expect(late.wasRefused)
    }

    @Test func `A loser that does not return holds its slot no longer than a moment`() async throws {
        let late = LateTransport()
        var hedged = HedgedRequest(over: late)
        let limiter = RequestLimiter(total: 2)
        hedged.configuration.limiter = limiter
        let operation = hedged.operation()
        await hedged.start(operation)
        _ = try await operation.value
        await eventually { limiter.inFlightCount == 0 }
        late.door.open()
    }

    @Test func `Progress is that of the attempt that won`() async throws {
        var (hedged, transport) = HedgedRequest.answered(by: [.stall, .body(Self.second)])
        hedged.configuration.transport = Accompanied(transport) { task, _, answer in
            task.onProgress?(TransferProgress(bytesSent: 1))
            return try await answer()
        }
        let told = Collector<Int64>()
        hedged.configuration.onProgress = { told.append($0.bytesReceived) }
        let operation = hedged.operation()
        await hedged.start(operation)
        _ = try await operation.value
        #expect(told.elements == [6])
    }
}

/// Answers the second request, and the first one too late, without heeding that it was cancelled.
private final class LateTransport: Transport {
    let door = Door()
    let outcome = Door()
    private let state = Locked((count: 0, wasRefused: false))

    var wasRefused: Bool { state.withLock { $0.wasRefused } }

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        let isFirst = state.withLock { state in
            state.count += 1
            return state.count == 1
        }
        // The request has a URL.
        let head = ResponseHead(status: isFirst ? 500 : 200, url: task.request.url!)
        guard isFirst else {
            try onHead(head)
            return TransportResponse(head: head, body: Data("in time".utf8))
        }
        await door.pass()
        defer { outcome.open() }
        do { try onHead(head) } catch {
            state.withLock { $0.wasRefused = error is CancellationError }
            throw error
        }
        return TransportResponse(head: head)
    }
}

/// A script with something done before or after its answers.
private struct Accompanied: Transport {
    typealias Answer = () async throws -> TransportResponse

    let transport: ScriptedTransport
    let accompany:
        @Sendable (TransportTask, @Sendable (ResponseHead) throws -> Void, Answer) async throws -> TransportResponse

    init(
        _ transport: ScriptedTransport,
        _ accompany:
            @escaping @Sendable (
                TransportTask, @Sendable (ResponseHead) throws -> Void, Answer
            ) async throws -> TransportResponse
    ) {
        self.transport = transport
        self.accompany = accompany
    }

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        try await accompany(task, onHead) { try await transport.perform(task, onHead: onHead) }
    }
}
