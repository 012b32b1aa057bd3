import RequestOperations
import RequestOperationsTesting
import Testing

/// Which hosts a hedge asks that is redirected to another one, and what it gives back.
@Suite(.timeLimit(.minutes(15))) struct HedgeRedirectTests {
    // Literals that are URLs.
    private let here = URL(string: "http://here.invalid/")!
    private let there = URL(string: "http://there.invalid/")!
    private let body = Data("x".utf8)

    /// A request whose first attempt is answered when the door opens, and whose hedge is sent there, where it gets an answer.
    private func redirected(
        behind door: Door, to answer: ScriptedTransport.Answer
    ) -> (HedgedRequest, ScriptedTransport) {
        HedgedRequest.answered(by: [
            .behind(door, .body(body)), .status(302, fields: [("Location", there.absoluteString)]), answer,
        ])
    }

    private func operation(_ hedged: HedgedRequest) -> URLRequestOperation<Data> {
        hedged.operation(URLRequest(url: here))
    }

    /// How many slots for a URL's host are free.
    private func free(_ limiter: RequestLimiter, for url: URL) -> Int {
        var slots: [HeldSlot] = []
        while let slot = limiter.hold(for: url) { slots.append(slot) }
        for slot in slots { slot.release() }
        return slots.count
    }

    // MARK: Slots

    @Test func `It keeps its slot of its first host`() async throws {
        let door = Door()
        var (hedged, transport) = redirected(behind: Door(), to: .behind(door, .body(body)))
        let limiter = RequestLimiter(perHost: 2)
        hedged.configuration.limiter = limiter
        let operation = operation(hedged)
        await hedged.start(operation)
        await transport.requests(atLeast: 3)
        // The first attempt holds the other one.
        #expect(free(limiter, for: here) == 0 && free(limiter, for: there) == 2)
        door.open()
        _ = try await operation.value
        await eventually { limiter.inFlightCount == 0 }
    }

    @Test func `If it loses at the other host it gives its slot back`() async throws {
        let door = Door()
        var (hedged, transport) = redirected(behind: door, to: .stall)
        let limiter = RequestLimiter(perHost: 2)
        hedged.configuration.limiter = limiter
        let operation = operation(hedged)
        await hedged.start(operation)
        await transport.requests(atLeast: 3)
        door.open()
        _ = try await operation.value
        await eventually { limiter.inFlightCount == 0 }
    }

    // MARK: Budget

    @Test func `The budget of its first host pays for it`() async throws {
        var (hedged, _) = redirected(behind: Door(), to: .body(body))
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 10, clock: hedged.clock)
        hedged.configuration.use(budget)
        let operation = operation(hedged)
        await hedged.start(operation)
        _ = try await operation.value
        #expect(budget.balance(of: here) == 99 && budget.balance(of: there) == 100)
    }

    @Test func `The budget of the other host is not asked`() async throws {
        var (hedged, transport) = redirected(behind: Door(), to: .body(body))
        let budget = KnownBudget.tokens(capacity: 10, cost: 10)
        hedged.configuration.use(budget)
        // Nothing is left there.
        #expect(budget.draw(to: there, after: Problem()) != nil)
        let operation = operation(hedged)
        await hedged.start(operation)
        _ = try await operation.value
        #expect(transport.requests.count == 3)
    }

    @Test func `Its success brings the tokens of its first host back`() async throws {
        let door = Door()
        var (hedged, transport) = redirected(behind: Door(), to: .behind(door, .body(body)))
        let budget = KnownBudget.tokens(capacity: 20, cost: 7)
        hedged.configuration.use(budget)
        let operation = operation(hedged)
        await hedged.start(operation)
        await transport.requests(atLeast: 3)
        #expect(budget.balance(of: here) == 13)
        door.open()
        _ = try await operation.value
        #expect(budget.balance(of: here) == 20 && budget.balance(of: there) == 20)
    }

    // MARK: Circuit

    /// A breaker with a circuit that was opened, and lets probes through if time has passed.
    private func breaker(
        open url: URL, isProbed: Bool, probes: Int = 1, _ clock: ManualClock
    ) throws -> KnownBreaker {
        let breaker = KnownBreaker(failureRatio: 0.5, minimumThroughput: 2, probes: probes, clock: clock)
        for _ in 0..<2 { try breaker.fail(url) }
        if isProbed { clock.advance(by: .seconds(5)) }
        return breaker
    }

    @Test func `It is not sent into an open circuit of the other host`() async throws {
        let door = Door()
        var (hedged, transport) = redirected(behind: door, to: .body(body))
        hedged.configuration.use(try breaker(open: there, isProbed: false, hedged.clock))
        let operation = operation(hedged)
        await hedged.start(operation)
        let failure = await hedged.attemptFailed()
        #expect(failure.attempt == 2 && failure.code == .circuitOpen)
        door.open()
        _ = try await operation.value
        #expect(transport.requests.count == 2)
    }

    @Test func `It is a probe of the other host`() async throws {
        let door = Door()
        var (hedged, transport) = redirected(behind: Door(), to: .behind(door, .body(body)))
        let breaker = try breaker(open: there, isProbed: true, hedged.clock)
        hedged.configuration.use(breaker)
        let operation = operation(hedged)
        await hedged.start(operation)
        await transport.requests(atLeast: 3)
        #expect(throws: (any Error).self) { try breaker.admit(there) }
        door.open()
        _ = try await operation.value
        #expect(breaker.state(of: there) == .closed)
    }

    @Test func `If it loses it makes room for another probe of the other host`() async throws {
        let door = Door()
        var (hedged, transport) = redirected(behind: door, to: .stall)
        let breaker = try breaker(open: there, isProbed: true, hedged.clock)
        hedged.configuration.use(breaker)
        let operation = operation(hedged)
        await hedged.start(operation)
        await transport.requests(atLeast: 3)
        door.open()
        _ = try await operation.value
        await eventually { breaker.hasRoom(for: there) }
        #expect(breaker.state(of: there) == .halfOpen)
    }

    @Test func `Its redirect is a success of its first host`() async throws {
        let door = Door()
        var (hedged, transport) = redirected(behind: door, to: .stall)
        let breaker = try breaker(open: here, isProbed: true, probes: 2, hedged.clock)
        hedged.configuration.use(breaker)
        let operation = operation(hedged)
        await hedged.start(operation)
        await transport.requests(atLeast: 3)
        #expect(breaker.state(of: here) == .halfOpen)
        door.open()
        _ = try await operation.value
        // The success of the first attempt was the other one.
        await eventually { breaker.state(of: here) == .closed }
    }
}
