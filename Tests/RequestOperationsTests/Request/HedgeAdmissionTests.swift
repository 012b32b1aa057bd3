import RequestOperations
import RequestOperationsTesting
import Testing

/// What a hedge needs before it is sent, and what ends it.
@Suite(.timeLimit(.minutes(15))) struct HedgeAdmissionTests {
    // The request has a URL.
    private let url = anyRequest.url!
    private let body = Data("x".utf8)

    /// A request whose first attempt is answered when the door opens, and its hedge at once.
    private func firstBehind(_ door: Door) -> (HedgedRequest, ScriptedTransport) {
        HedgedRequest.answered(by: [.behind(door, .body(body)), .body(body)])
    }

    private func queue(ofWidth width: Int) -> RequestQueue {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = width
        return queue
    }

    /// Runs an operation whose hedge is refused, and gives the reason.
    private func refusal(
        _ hedged: HedgedRequest, _ transport: ScriptedTransport, in queue: OperationQueue = OperationQueue(),
        opening door: Door, whileItRuns change: () -> Void = {}, whenItIsRefused look: () -> Void = {}
    ) async throws -> String {
        let operation = hedged.operation()
        queue.addOperation(operation)
        await transport.requests(atLeast: 1)
        change()
        await hedged.passDelay()
        let refusal = await hedged.refusal()
        look()
        door.open()
        _ = try await operation.value
        #expect(transport.requests.count == 1 && operation.attempts.count == 1)
        return refusal
    }

    // MARK: Slots

    @Test func `Without a free slot there is no hedge and none is waited for`() async throws {
        let door = Door()
        var (hedged, transport) = firstBehind(door)
        let limiter = RequestLimiter(perHost: 1)
        hedged.configuration.limiter = limiter
        #expect(try await refusal(hedged, transport, opening: door) == "no slot is free")
        #expect(limiter.waitingCount == 0 && limiter.inFlightCount == 0)
    }

    @Test func `A queue of width one has no slot for a hedge`() async throws {
        let door = Door()
        let (hedged, transport) = firstBehind(door)
        #expect(try await refusal(hedged, transport, in: queue(ofWidth: 1), opening: door) == "no slot is free")
    }

    @Test func `A hedge takes a slot of each limiter`() async throws {
        let door = Door()
        var (hedged, transport) = HedgedRequest.answered(by: [.stall, .behind(door, .body(body))])
        let limiter = RequestLimiter(perHost: 2)
        hedged.configuration.limiter = limiter
        let queue = queue(ofWidth: 2)
        let operation = hedged.operation()
        await hedged.start(operation, in: queue)
        await transport.requests(atLeast: 2)
        #expect(limiter.inFlightCount == 2 && queue.limiter.inFlightCount == 2)
        door.open()
        _ = try await operation.value
        await eventually { limiter.inFlightCount == 0 && queue.limiter.inFlightCount == 0 }
    }

    @Test func `If one of two limiters has no slot none of the other is kept`() async throws {
        let door = Door()
        var (hedged, transport) = firstBehind(door)
        let limiter = RequestLimiter(perHost: 2)
        hedged.configuration.limiter = limiter
        let queue = queue(ofWidth: 1)
        let refusal = try await refusal(
            hedged, transport, in: queue, opening: door,
            whenItIsRefused: {
                #expect(limiter.inFlightCount == 1 && queue.limiter.inFlightCount == 1)
            })
        #expect(refusal == "no slot is free")
    }

    @Test func `The limiter of the queue hears the status of a hedge`() async throws {
        let (hedged, _) = HedgedRequest.answered(by: [.stall, .status(429)])
        let limiter = RequestLimiter(total: 4, adaptsToTooManyRequests: true)
        let operation = hedged.operation()
        let queue = RequestQueue(limiter: limiter)
        await hedged.start(operation, in: queue)
        #expect(await hedged.attemptFailed().attempt == 2)
        #expect(limiter.hold(for: url) == nil)
        operation.cancel()
        _ = try? await operation.value
    }

    @Test func `The slot of a loser is given back while the winner reads its body`() async throws {
        var (hedged, _) = HedgedRequest.answered(by: [.stall, .stallBody()])
        let limiter = RequestLimiter(total: 2)
        hedged.configuration.limiter = limiter
        let operation = hedged.operation()
        await hedged.start(operation)
        await hedged.step { if case .hedgeDecided = $0 { true } else { nil } }
        await eventually { limiter.inFlightCount == 1 }
        operation.cancel()
        _ = await failure(ofStarted: operation)
    }

    // MARK: Budget, circuit and the host's wish

    @Test(arguments: [RetryBudget.Mode.failing, .delaying])
    func `A budget without room allows no hedge`(mode: RetryBudget.Mode) async throws {
        let door = Door()
        var (hedged, transport) = firstBehind(door)
        hedged.configuration.retryPolicy.budget = RetryBudget(ratio: 0, minimumPerSecond: 0, mode: mode)
        #expect(try await refusal(hedged, transport, opening: door) == "the retry budget has no room")
    }

    @Test func `A hedge draws on the budget once`() async throws {
        var (hedged, _) = HedgedRequest.answered(by: [.stall, .body(body)])
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 10, clock: hedged.clock)
        hedged.configuration.use(budget)
        let operation = hedged.operation()
        await hedged.start(operation)
        _ = try await operation.value
        #expect(budget.balance(of: url) == 99)
    }

    @Test func `The success of a hedge brings its tokens back`() async throws {
        let door = Door()
        var (hedged, transport) = HedgedRequest.answered(by: [.stall, .behind(door, .body(body))])
        let budget = KnownBudget.tokens(capacity: 20, cost: 7)
        hedged.configuration.use(budget)
        let operation = hedged.operation()
        await hedged.start(operation)
        await transport.requests(atLeast: 2)
        #expect(budget.balance(of: url) == 13)
        door.open()
        _ = try await operation.value
        #expect(budget.balance(of: url) == 20)
    }

    @Test func `An open circuit allows no hedge`() async throws {
        let door = Door()
        var (hedged, transport) = firstBehind(door)
        let breaker = KnownBreaker(minimumThroughput: 1, clock: hedged.clock)
        hedged.configuration.use(breaker)
        let limiter = RequestLimiter(total: 2)
        hedged.configuration.limiter = limiter
        let refusal = try await refusal(hedged, transport, opening: door) {
            try? breaker.fail(url)
        }
        #expect(refusal == "the circuit is open")
        #expect(limiter.inFlightCount == 0)
    }

    /// Takes turns for two attempts, and no more.
    private func limiterForTwo(on clock: ManualClock) -> RequestLimiter {
        RequestLimiter(rate: .perSecond(0.001, burst: 2), clock: clock)
    }

    @Test func `A hedge that the circuit refuses takes no turn`() async throws {
        let door = Door()
        var (hedged, transport) = firstBehind(door)
        let breaker = KnownBreaker(minimumThroughput: 1, clock: hedged.clock)
        hedged.configuration.use(breaker)
        let limiter = limiterForTwo(on: hedged.clock)
        hedged.configuration.limiter = limiter
        _ = try await refusal(hedged, transport, opening: door) {
            try? breaker.fail(url)
        }
        #expect(limiter.hold(for: url) != nil)
    }

    @Test func `A hedge that the budget refuses takes no turn`() async throws {
        let door = Door()
        var (hedged, transport) = firstBehind(door)
        hedged.configuration.retryPolicy.budget = RetryBudget(ratio: 0, minimumPerSecond: 0)
        let limiter = limiterForTwo(on: hedged.clock)
        hedged.configuration.limiter = limiter
        _ = try await refusal(hedged, transport, opening: door)
        #expect(limiter.hold(for: url) != nil)
    }

    @Test func `An attempt that lost says nothing to the circuit breaker`() async throws {
        var (hedged, _) = HedgedRequest.answered(by: [.stall, .body(body)])
        let breaker = KnownBreaker(failureRatio: 0.5, minimumThroughput: 1, clock: hedged.clock)
        hedged.configuration.use(breaker)
        let operation = hedged.operation()
        await hedged.start(operation)
        _ = try await operation.value
        #expect(breaker.state(of: url) == .closed)
    }

    @Test func `A host that asks to be left alone is not hedged`() async throws {
        let door = Door()
        var (hedged, transport) = firstBehind(door)
        let table = KnownSilences(clock: hedged.clock)
        hedged.configuration.use(table)
        let refusal = try await refusal(hedged, transport, opening: door) {
            table.note(.seconds(10), for: url)
        }
        #expect(refusal == "the host asked to be left alone")
    }

    @Test func `There is no hedge beyond the elapsed limit`() async throws {
        let door = Door()
        var (hedged, transport) = firstBehind(door)
        hedged.configuration.retryPolicy.elapsedLimit = HedgedRequest.delay
        #expect(try await refusal(hedged, transport, opening: door) == "the elapsed limit has passed")
    }

    @Test func `A refused hedge leaves nothing drawn`() async throws {
        let door = Door()
        var (hedged, transport) = firstBehind(door)
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 10, clock: hedged.clock)
        hedged.configuration.use(budget)
        hedged.configuration.limiter = RequestLimiter(total: 1)
        _ = try await refusal(hedged, transport, opening: door)
        #expect(budget.balance(of: url) == 100)
    }

    // MARK: Stages

    @Test func `Process make task and validate are called for a hedge and decode once`() async throws {
        let (hedged, _) = HedgedRequest.answered(by: [.stall, .body(body)])
        let operation = Place.$name.withValue("here") { Staged(hedged.configuration) }
        await hedged.start(operation)
        _ = try await operation.value
        #expect(
            operation.calls.elements == [
                "process", "makeTask", "process", "makeTask", "validate 200", "validate 1 bytes", "decode 1",
            ])
        #expect(Set(operation.places.elements) == ["here"])
    }

    @Test func `An error of a stage concerns the hedge only`() async throws {
        let door = Door()
        var (hedged, transport) = firstBehind(door)
        hedged.configuration.adapters = [Self.fromTheSecondOn { _ in throw Problem() }]
        #expect(try await refusal(hedged, transport, opening: door).contains("Problem"))
    }

    @Test func `A hedge that became another request is not sent`() async throws {
        let door = Door()
        var (hedged, transport) = firstBehind(door)
        hedged.configuration.adapters = [Self.fromTheSecondOn { $0.httpMethod = "POST" }]
        #expect(try await refusal(hedged, transport, opening: door) == "the request is not one that is hedged")
    }

    @Test func `An answer is not held back by a hedge that is being processed`() async throws {
        let (door, reached) = (Door(), Door())
        var (hedged, transport) = firstBehind(door)
        hedged.configuration.adapters = [Self.hangingForTheSecond(reached)]
        let operation = hedged.operation()
        await hedged.start(operation)
        await reached.pass()
        door.open()
        _ = try await operation.value
        #expect(transport.requests.count == 1 && operation.attempts.count == 1)
    }

    /// Never answers the second call.
    private static func hangingForTheSecond(_ reached: Door) -> RequestAdapter {
        fromTheSecondOn { _ in
            reached.open()
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
    }

    /// Leaves the first request as it is, and does something with those of the hedges.
    private static func fromTheSecondOn(
        _ edit: @escaping @Sendable (inout URLRequest) async throws -> Void
    ) -> RequestAdapter {
        let calls = Collector<Void>()
        return RequestAdapter { request in
            var request = request
            if calls.count(appending: ()) > 1 { try await edit(&request) }
            return request
        }
    }

    // MARK: Cancellation and time

    @Test func `Cancelling ends both attempts and gives their slots back`() async throws {
        var (hedged, transport) = HedgedRequest.answered(by: [.stall])
        let limiter = RequestLimiter(total: 2)
        hedged.configuration.limiter = limiter
        let operation = hedged.operation()
        await hedged.start(operation)
        await transport.requests(atLeast: 2)
        operation.cancel()
        #expect(await failure(ofStarted: operation) is CancellationError)
        #expect(limiter.inFlightCount == 0)
        #expect(operation.attempts.allSatisfy { $0.error is CancellationError && $0.ended != nil })
    }

    @Test func `Cancelling before the hedge sends none`() async throws {
        let (hedged, transport) = HedgedRequest.answered(by: [.stall])
        let operation = hedged.operation()
        OperationQueue().addOperation(operation)
        await transport.requests(atLeast: 1)
        await hedged.clock.sleepers(1)
        operation.cancel()
        #expect(await failure(ofStarted: operation) is CancellationError)
        await eventually { hedged.clock.sleeperCount == 0 }
        #expect(transport.requests.count == 1)
    }

    @Test func `Cancelling while the hedge is processed sends none`() async throws {
        let reached = Door()
        var (hedged, transport) = HedgedRequest.answered(by: [.stall])
        hedged.configuration.adapters = [Self.hangingForTheSecond(reached)]
        let operation = hedged.operation()
        await hedged.start(operation)
        await reached.pass()
        operation.cancel()
        #expect(await failure(ofStarted: operation) is CancellationError)
        #expect(transport.requests.count == 1)
    }

    @Test func `Cancelling while the winner reads its body cancels`() async throws {
        let (hedged, _) = HedgedRequest.answered(by: [.stall, .stallBody()])
        let operation = hedged.operation()
        await hedged.start(operation)
        await hedged.step { if case .hedgeDecided = $0 { true } else { nil } }
        operation.cancel()
        #expect(await failure(ofStarted: operation) is CancellationError)
    }

    @Test func `A cancellation error of the transport ends the operation as cancelled`() async throws {
        let (hedged, _) = HedgedRequest.answered(by: [.stall, .failure(CancellationError())])
        let operation = hedged.operation()
        await hedged.start(operation)
        #expect(await failure(ofStarted: operation) is CancellationError)
        #expect(operation.isCancelled)
    }

    @Test func `The deadline ends both attempts`() async throws {
        var (hedged, transport) = HedgedRequest.answered(by: [.stall])
        hedged.configuration.deadline = .milliseconds(150)
        let operation = hedged.operation()
        OperationQueue().addOperation(operation)
        await hedged.passDelay(sleepers: 2)
        await transport.requests(atLeast: 2)
        hedged.clock.advance(by: .milliseconds(50))
        let error = try #require(await failure(ofStarted: operation) as? RequestError)
        #expect(error.code == .timedOut)
        #expect(error.attempts.count == 2 && error.attempts.allSatisfy { $0.ended == .milliseconds(150) })
    }

    @Test func `The time limit of an attempt holds for each by itself`() async throws {
        let door = Door()
        var (hedged, transport) = HedgedRequest.answered(by: [.stall, .behind(door, .body(body))])
        hedged.configuration.attemptTimeLimit = .milliseconds(150)
        let operation = hedged.operation()
        OperationQueue().addOperation(operation)
        await hedged.passDelay(sleepers: 2)
        await transport.requests(atLeast: 2)
        // The limits of both.
        await hedged.clock.sleepers(2)
        hedged.clock.advance(by: .milliseconds(50))
        let first = await hedged.attemptFailed()
        #expect(first.attempt == 1 && first.code == .timedOut)
        door.open()
        #expect(try await operation.value == body)
    }
}
