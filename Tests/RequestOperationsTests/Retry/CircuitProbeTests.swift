import RequestOperationsTesting
import Testing

@testable import RequestOperations

/// What a probe tells of its host, and when.
@Suite(.timeLimit(.minutes(15))) struct CircuitProbeTests {
    private let clock = ManualClock()
    private let url = URL(string: "http://probe.invalid/")!  // A literal that is a URL.

    /// A breaker whose circuit to the URL waits for its probes.
    private func tripped(probes: Int = 1) throws -> KnownBreaker {
        let breaker = KnownBreaker(failureRatio: 0.5, minimumThroughput: 2, probes: probes, clock: clock)
        try open(breaker, url)
        clock.advance(by: .seconds(5))
        return breaker
    }

    private func open(_ breaker: KnownBreaker, _ url: URL) throws {
        for _ in 0..<2 { try breaker.admit(url).finish(.failed) }
    }

    private func operation(
        _ transport: any Transport, _ breaker: KnownBreaker, to url: URL? = nil, retries: Int = 0,
        limiter: RequestLimiter? = nil
    ) -> URLRequestOperation<Data> {
        var configuration = RequestConfiguration.over(transport)
        configuration.clock = clock
        configuration.limiter = limiter
        configuration.retryPolicy = RetryPolicy(maximumRetries: retries, backoff: .constant(.zero))
        configuration.use(breaker)
        return URLRequestOperation(url ?? self.url, configuration: configuration)
    }

    private func succeed(_ breaker: KnownBreaker) async throws {
        _ = try await run(operation(ScriptedTransport([.body(Data())]), breaker))
    }

    // MARK: The head of its response

    @Test func `A probe whose body has no end keeps nobody away`() async throws {
        let breaker = try tripped()
        var states = breaker.states(of: url).makeAsyncIterator()
        _ = await states.next()
        let probe = operation(ScriptedTransport([.stallBody(status: 200)]), breaker)
        OperationQueue().addOperation(probe)
        // Half open, and then closed with the head.
        while await states.next() != .closed {}
        try await succeed(breaker)
        probe.cancel()
        _ = try? await probe.value
    }

    @Test func `A probe that fails after its head counts as a failure after the recovery`() throws {
        let breaker = try tripped()
        let probe = try breaker.admit(url)
        probe.answered()
        #expect(breaker.state(of: url) == .closed)
        probe.finish(.failed)
        #expect(breaker.state(of: url) == .closed)
        // It was the first of two.
        try breaker.admit(url).finish(.failed)
        #expect(breaker.state(of: url) == .open)
    }

    @Test func `A probe that fails after its head opens a circuit that needs more of them`() throws {
        let breaker = try tripped(probes: 2)
        let probe = try breaker.admit(url)
        probe.answered()
        #expect(breaker.state(of: url) == .halfOpen)
        probe.finish(.failed)
        #expect(breaker.state(of: url) == .open)
    }

    @Test func `A probe that fails while its answer is being told is a failure after the recovery`() throws {
        let probe = Locked<CircuitPermit?>(nil)
        let clock = AskingClock { probe.withLock { $0 }?.finish(.failed) }
        let breaker = KnownBreaker(minimumThroughput: 1, openTime: .zero, clock: clock)
        try breaker.admit(url).finish(.failed)
        let permit = try breaker.admit(url)
        #expect(breaker.state(of: url) == .halfOpen)
        probe.withLock { $0 = permit }
        // The breaker asks for the time before it notes the success.
        permit.answered()
        probe.withLock { $0 = nil }
        #expect(breaker.state(of: url) == .open)
    }

    @Test func `What becomes of a probe of a former time says nothing of the next`() throws {
        let breaker = try tripped(probes: 2)
        let (slow, failing) = (try breaker.admit(url), try breaker.admit(url))
        failing.finish(.failed)
        clock.advance(by: .seconds(5))
        let next = try breaker.admit(url)
        slow.answered()
        slow.finish(.failed)
        #expect(breaker.state(of: url) == .halfOpen)
        next.finish(.succeeded)
        try breaker.admit(url).finish(.succeeded)
        #expect(breaker.state(of: url) == .closed)
    }

    @Test func `A probe that ends well after its head counts once`() throws {
        let breaker = try tripped(probes: 2)
        let probe = try breaker.admit(url)
        probe.answered()
        probe.finish(.succeeded)
        #expect(breaker.state(of: url) == .halfOpen)
    }

    @Test func `A probe whose answer is told twice at once counts once`() throws {
        let probe = Locked<CircuitPermit?>(nil)
        // The second report comes while the first one is under way.
        let clock = AskingClock { probe.withLock { $0.take() }?.answered() }
        let breaker = KnownBreaker(minimumThroughput: 1, openTime: .zero, probes: 2, clock: clock)
        try breaker.admit(url).finish(.failed)
        let permit = try breaker.admit(url)
        probe.withLock { $0 = permit }
        permit.answered()
        #expect(breaker.state(of: url) == .halfOpen)
    }

    @Test func `An attempt through a closed circuit counts at its end`() throws {
        let breaker = KnownBreaker(failureRatio: 1, minimumThroughput: 1, clock: clock)
        let permit = try breaker.admit(url)
        permit.answered()
        permit.finish(.failed)
        #expect(breaker.state(of: url) == .open)
    }

    // MARK: No outcome

    @Test func `A probe that is left behind makes room for another`() async throws {
        let breaker = try tripped()
        let deaf = DeafTransport()
        let probe = operation(deaf, breaker)
        OperationQueue().addOperation(probe)
        await deaf.reached.pass()
        probe.cancel()
        await #expect(throws: CancellationError.self) { try await probe.value }
        try await succeed(breaker)
        #expect(breaker.state(of: url) == .closed)
        deaf.end.open()
    }

    @Test(arguments: [
        RequestError.Code.unencodableBody, .untrustedCertificate, .unsupported, .secureConnectionFailed,
    ])
    func `A probe that fails on this side leaves the circuit half open`(code: RequestError.Code) async throws {
        let breaker = try tripped()
        _ = await failure(of: operation(ScriptedTransport([.error(code, phase: .connect)]), breaker))
        #expect(breaker.state(of: url) == .halfOpen)
    }

    // MARK: Redirects

    private var target: URL { URL(string: "http://target.invalid/")! }  // A literal that is a URL.

    /// Redirects to a host whose every answer is the same.
    private func redirecting(answer: ScriptedTransport.Answer = .status(503)) -> ScriptedTransport {
        ScriptedTransport([
            .dynamic { request in
                request.url?.host == "target.invalid"
                    ? answer : .status(302, fields: [("Location", "http://target.invalid/")])
            }
        ])
    }

    @Test func `A failure behind a redirect counts for the host that failed`() async throws {
        let breaker = KnownBreaker(failureRatio: 0.5, minimumThroughput: 2, clock: clock)
        for _ in 0..<2 { _ = await failure(of: operation(redirecting(), breaker)) }
        #expect(breaker.state(of: target) == .open && breaker.state(of: url) == .closed)
    }

    @Test func `A redirect into an open circuit is not followed`() async throws {
        let breaker = KnownBreaker(failureRatio: 0.5, minimumThroughput: 2, clock: clock)
        try open(breaker, target)
        let transport = redirecting()
        let error = await failure(of: operation(transport, breaker)) as? RequestError
        #expect(error?.code == .circuitOpen && transport.requests.count == 1)
    }

    @Test func `A redirect into an open circuit takes no turn of that host`() async throws {
        let breaker = KnownBreaker(failureRatio: 0.5, minimumThroughput: 2, clock: clock)
        try open(breaker, target)
        let limiter = RequestLimiter(rate: .perSecond(0.001), clock: clock)
        _ = await failure(of: operation(redirecting(), breaker, limiter: limiter))
        #expect(limiter.slotAtOnce(for: Origin(target)) != nil && limiter.slotAtOnce(for: Origin(url)) == nil)
    }

    @Test func `An attempt that is refused after a redirect counts as one`() async throws {
        let breaker = KnownBreaker(failureRatio: 0.5, minimumThroughput: 2, clock: clock)
        try open(breaker, target)
        let transport = redirecting(answer: .status(503))
        let operation = operation(transport, breaker, retries: 1)
        OperationQueue().addOperation(operation)
        // It waits for the circuit behind the redirect.
        await clock.sleepers(1)
        #expect(operation.attempts.count == 1)
        clock.advance(by: .seconds(5))
        await #expect(throws: RequestError.self) { try await operation.value }
        #expect(operation.attempts.count == 2)
    }

    @Test func `A probe that is redirected shows a host that works`() async throws {
        let breaker = try tripped()
        _ = try await run(operation(redirecting(answer: .body(Data())), breaker))
        #expect(breaker.state(of: url) == .closed)
    }

    // MARK: Watching

    @Test func `Who watches hears of a circuit that was dropped meanwhile`() async throws {
        let breaker = try tripped()
        var states = breaker.states(of: url).makeAsyncIterator()
        #expect(await states.next() == .open)
        try breaker.admit(url).finish(.succeeded)
        #expect(await states.next() == .closed)
        clock.advance(by: .seconds(100))
        for number in 0..<100 {
            try breaker.admit(URL(string: "http://h\(number).probe.invalid/")).finish(.succeeded)
        }
        try open(breaker, url)
        #expect(await states.next() == .open)
    }

    @Test func `What nobody watches any more is forgotten`() async throws {
        let breaker = try tripped()
        let urls = try (0..<10).map { try #require(URL(string: "http://h\($0).probe.invalid/")) }
        for url in urls {
            var states = breaker.states(of: url).makeAsyncIterator()
            _ = await states.next()
        }
        await eventually { !urls.contains { breaker.isWatched($0) } }
    }
}

/// Takes no notice of being cancelled.
private struct DeafTransport: Transport {
    let reached = Door()
    let end = Door()

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        reached.open()
        await end.pass()
        throw CancellationError()
    }
}
