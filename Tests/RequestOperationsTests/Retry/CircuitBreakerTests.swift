import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct CircuitBreakerTests {
    private let clock = ManualClock()
    private let url = URL(string: "http://broken.invalid/")!  // A literal that is a URL.

    /// Opens after two failures in ten seconds, for five.
    private func breaker(probes: Int = 1) -> KnownBreaker {
        KnownBreaker(failureRatio: 0.5, minimumThroughput: 2, probes: probes, clock: clock)
    }

    private func configuration(_ transport: ScriptedTransport, _ breaker: KnownBreaker?) -> RequestConfiguration {
        var configuration = RequestConfiguration.over(transport)
        configuration.clock = clock
        configuration.hosts = clock.hosts
        configuration.retryPolicy = RetryPolicy(maximumRetries: 0, backoff: .constant(.seconds(1)))
        configuration.use(breaker)
        return configuration
    }

    /// The same with a long backoff, which the recovery of the host ends.
    private func patientConfiguration(
        _ transport: ScriptedTransport, _ breaker: KnownBreaker?
    ) -> RequestConfiguration {
        var configuration = configuration(transport, breaker)
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(200)))
        configuration.use(breaker)
        configuration.retryPolicy.earlyRetryObservers = [HostRecoveryObserver()]
        return configuration
    }

    /// Has a request fail so often.
    private func fail(_ breaker: KnownBreaker, times: Int, _ answer: ScriptedTransport.Answer = .status(503)) async {
        for _ in 0..<times {
            _ = await failure(
                of: URLRequestOperation(url, configuration: configuration(ScriptedTransport([answer]), breaker)))
        }
    }

    @Test func `No policy has a breaker by default`() {
        let policies: [RetryPolicy] = [.default, .none, .aggressive, .endless]
        #expect(policies.allSatisfy { $0.circuitBreaker == nil })
    }

    @Test func `An attempt to an open circuit is not sent and says so`() async {
        let breaker = breaker()
        await fail(breaker, times: 2)
        #expect(breaker.state(of: url) == .open)
        let transport = ScriptedTransport([.body(Data())])
        let error = await failure(of: URLRequestOperation(url, configuration: configuration(transport, breaker)))
        #expect((error as? RequestError)?.code == .circuitOpen && transport.requests.isEmpty)
    }

    @Test func `A refused attempt gives its slot back`() async {
        let breaker = breaker()
        await fail(breaker, times: 2)
        var configuration = configuration(ScriptedTransport([.body(Data())]), breaker)
        let limiter = RequestLimiter(total: 1)
        configuration.limiter = limiter
        _ = await failure(of: URLRequestOperation(url, configuration: configuration))
        #expect(limiter.inFlightCount == 0)
    }

    @Test func `A refused attempt takes no turn`() async {
        let breaker = breaker()
        await fail(breaker, times: 2)
        var configuration = configuration(ScriptedTransport([.body(Data())]), breaker)
        let limiter = RequestLimiter(rate: .perSecond(0.001), clock: clock)
        configuration.limiter = limiter
        _ = await failure(of: URLRequestOperation(url, configuration: configuration))
        #expect(limiter.hold(for: url) != nil)
    }

    @Test func `A refused attempt surely was not sent`() async {
        let breaker = breaker()
        await fail(breaker, times: 2)
        let failures = Collector<AttemptFailure>()
        let operation = Staged(configuration(ScriptedTransport([.body(Data())]), breaker), to: url)
        operation.decisions = { failure in
            failures.append(failure)
            return .stop
        }
        _ = await failure(of: operation)
        #expect(failures.elements.map(\.requestMayHaveBeenProcessed) == [false])
    }

    @Test func `Another host is not concerned`() async throws {
        let breaker = breaker()
        await fail(breaker, times: 2)
        let other = try #require(URL(string: "http://sound.invalid/"))
        #expect(breaker.state(of: other) == .closed)
        _ = try await run(
            URLRequestOperation(other, configuration: configuration(ScriptedTransport([.body(Data())]), breaker)))
    }

    @Test func `A request waits until the circuit is half open and closes it`() async throws {
        let breaker = breaker()
        await fail(breaker, times: 2)
        var configuration = configuration(ScriptedTransport([.body(Data())]), breaker)
        configuration.retryPolicy.maximumRetries = 1
        let operation = URLRequestOperation(url, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        // From then on the backoff, of a second.
        clock.advance(by: .milliseconds(5999))
        #expect(operation.attempts.count == 1)
        clock.advance(by: .milliseconds(1))
        _ = try await operation.value
        #expect(breaker.state(of: url) == .closed && operation.attempts.last?.waited == .seconds(6))
    }

    @Test func `Refused attempts count neither for the retries nor for the budget`() async throws {
        let breaker = breaker()
        await fail(breaker, times: 2)
        clock.advance(by: .seconds(5))
        let succeed = try breaker.begin(url)
        let budget = KnownBudget(clock: clock)
        var configuration = configuration(ScriptedTransport([.status(503), .body(Data())]), breaker)
        configuration.retryPolicy.maximumRetries = 1
        configuration.use(budget)
        let operation = URLRequestOperation(url, configuration: configuration)
        OperationQueue().addOperation(operation)
        // Refused since the probe is under way, five times.
        for number in 1...5 {
            await clock.sleepers(1)
            #expect(operation.attempts.count == number && budget.balance(of: url) == 100)
            clock.advance(by: .seconds(1))
        }
        await clock.sleepers(1)
        succeed()
        // The first that is sent fails, and so has its retry.
        clock.advance(by: .seconds(1))
        await eventually { operation.attempts.count == 7 }
        await clock.sleepers(1)
        #expect(budget.balance(of: url) == 100)
        clock.advance(by: .seconds(1))
        _ = try await operation.value
        #expect(operation.attempts.count == 8 && budget.balance(of: url) == 99)
    }

    @Test func `Who has no backoff waits for the probes under way`() async throws {
        let breaker = breaker()
        await fail(breaker, times: 2)
        clock.advance(by: .seconds(5))
        let succeed = try breaker.begin(url)
        var configuration = configuration(ScriptedTransport([.body(Data())]), breaker)
        configuration.retryPolicy.maximumRetries = 1
        configuration.retryPolicy.backoff = .constant(.zero)
        let operation = URLRequestOperation(url, configuration: configuration)
        OperationQueue().addOperation(operation)
        for number in 1...5 {
            await clock.sleepers(1)
            clock.advance(by: .milliseconds(99))
            #expect(operation.attempts.count == number)
            clock.advance(by: .milliseconds(101))
        }
        await clock.sleepers(1)
        succeed()
        clock.advance(by: .milliseconds(200))
        _ = try await operation.value
    }

    @Test func `What another breaker refused counts as a retry`() async {
        var configuration = configuration(ScriptedTransport([.body(Data())]), breaker())
        configuration.retryPolicy.maximumRetries = 2
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.adapters = [
            RequestAdapter { _ in throw RequestError(.circuitOpen, stage: .transfer, reason: "that of a token's host") }
        ]
        let error = await failure(of: URLRequestOperation(url, configuration: configuration)) as? RequestError
        #expect(error?.code == .circuitOpen && error?.attempts.count == 3)
    }

    @Test func `A request that is not safe waits for the circuit after a wait for its host`() async throws {
        let breaker = breaker()
        await fail(breaker, times: 2)
        let table = KnownSilences(clock: clock)
        table.note(.seconds(1), for: url)
        var configuration = configuration(ScriptedTransport([.body(Data())]), breaker)
        configuration.retryPolicy.maximumRetries = 1
        configuration.use(table)
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        let operation = URLRequestOperation(request, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        await eventually { operation.attempts.last?.error != nil }
        await clock.sleepers(1)
        clock.advance(by: .seconds(9))
        _ = try await operation.value
    }

    @Test func `A policy without retries does not wait for a circuit`() async {
        let breaker = breaker()
        await fail(breaker, times: 2)
        var configuration = configuration(ScriptedTransport([.body(Data())]), breaker)
        configuration.retryPolicy = .none
        configuration.use(breaker)
        let error = await failure(of: URLRequestOperation(url, configuration: configuration)) as? RequestError
        #expect(error?.code == .circuitOpen && error?.attempts.count == 1)
    }

    @Test func `A request whose deadline comes first fails at once and says so`() async {
        let breaker = breaker()
        await fail(breaker, times: 2)
        var configuration = configuration(ScriptedTransport([.body(Data())]), breaker)
        configuration.retryPolicy.maximumRetries = 1
        configuration.deadline = .seconds(4)
        let error = await failure(of: URLRequestOperation(url, configuration: configuration))
        #expect((error as? RequestError)?.code == .circuitOpen)
    }

    @Test func `No backoff takes a request that was never sent past its deadline`() async throws {
        let breaker = breaker()
        await fail(breaker, times: 2)
        var configuration = configuration(ScriptedTransport([.body(Data())]), breaker)
        configuration.retryPolicy.maximumRetries = 1
        configuration.retryPolicy.backoff = .constant(.seconds(8))
        configuration.deadline = .seconds(10)
        let operation = URLRequestOperation(url, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(2)
        // Half of the time between the end of the circuit and the deadline.
        clock.advance(by: .milliseconds(7500))
        _ = try await operation.value
        #expect(breaker.state(of: url) == .closed)
    }

    @Test(
        arguments: [
            (.status(503), .open), (.status(429), .open), (.error(.connectionLost), .open), (.error(.timedOut), .open),
            (.status(404), .closed), (.error(.untrustedCertificate), .closed), (.body(Data()), .closed),
        ] as [(ScriptedTransport.Answer, CircuitBreaker.State)])
    func `What the policy holds to be passing is a failure`(
        answer: ScriptedTransport.Answer, state: CircuitBreaker.State
    ) async {
        let breaker = breaker()
        await fail(breaker, times: 2, answer)
        #expect(breaker.state(of: url) == state)
    }

    @Test func `A response that cannot be decoded shows a host that works`() async {
        let breaker = breaker()
        for _ in 0..<2 {
            _ = await failure(
                of: URLRequestOperation(
                    URLRequest(url: url), decoder: .json([Int].self),
                    configuration: configuration(ScriptedTransport([.body(Data("x".utf8))]), breaker)))
        }
        #expect(breaker.state(of: url) == .closed)
    }

    @Test func `A cancelled probe makes room for another`() async throws {
        let breaker = breaker()
        await fail(breaker, times: 2)
        clock.advance(by: .seconds(5))
        let transport = ScriptedTransport([
            .dynamic { _ in
                try await ManualClock().sleep(for: .seconds(1))
                return .body(Data())
            }
        ])
        let probe = URLRequestOperation(url, configuration: configuration(transport, breaker))
        OperationQueue().addOperation(probe)
        await transport.requests(atLeast: 1)
        #expect(breaker.state(of: url) == .halfOpen)
        probe.cancel()
        await #expect(throws: CancellationError.self) { try await probe.value }
        _ = try await run(
            URLRequestOperation(url, configuration: configuration(ScriptedTransport([.body(Data())]), breaker)))
        #expect(breaker.state(of: url) == .closed)
    }

    @Test func `The states can be watched`() async throws {
        let breaker = breaker()
        var states = breaker.states(of: url).makeAsyncIterator()
        #expect(await states.next() == .closed)
        await fail(breaker, times: 2)
        #expect(await states.next() == .open)
        clock.advance(by: .seconds(5))
        let mayAnswer = Door()
        let transport = ScriptedTransport([
            .dynamic { _ in
                await mayAnswer.pass()
                return .body(Data())
            }
        ])
        let probe = URLRequestOperation(url, configuration: configuration(transport, breaker))
        OperationQueue().addOperation(probe)
        #expect(await states.next() == .halfOpen)
        mayAnswer.open()
        #expect(await states.next() == .closed)
        _ = try await probe.value
    }

    @Test func `A successful probe wakes those who wait for the host`() async throws {
        let breaker = breaker()
        let host = try #require(URL(string: "http://probed.invalid/"))
        let waiting = URLRequestOperation(
            host, configuration: patientConfiguration(ScriptedTransport([.status(503), .body(Data())]), breaker))
        OperationQueue().addOperation(waiting)
        await clock.sleepers(1)
        _ = await failure(
            of: URLRequestOperation(host, configuration: configuration(ScriptedTransport([.status(503)]), breaker)))
        #expect(breaker.state(of: host) == .open)
        clock.advance(by: .seconds(5))
        _ = try await run(
            URLRequestOperation(host, configuration: configuration(ScriptedTransport([.body(Data())]), breaker)))
        _ = try await waiting.value
        #expect(waiting.attempts.last?.wokenBy == .observer("HostRecoveryObserver"))
    }

    @Test func `A successful probe wakes who began to wait after it was sent`() async throws {
        let breaker = breaker()
        let host = try #require(URL(string: "http://probed-late.invalid/"))
        for _ in 1...2 { try breaker.fail(host) }
        clock.advance(by: .seconds(5))
        let (arrived, mayAnswer) = (Door(), Door())
        let transport = ScriptedTransport([
            .dynamic { _ in
                arrived.open()
                await mayAnswer.pass()
                return .body(Data())
            }
        ])
        let probe = URLRequestOperation(host, configuration: configuration(transport, breaker))
        OperationQueue().addOperation(probe)
        await arrived.pass()
        let refused = URLRequestOperation(
            host, configuration: patientConfiguration(ScriptedTransport([.body(Data())]), breaker))
        OperationQueue().addOperation(refused)
        await clock.sleepers(1)
        mayAnswer.open()
        _ = try await probe.value
        _ = try await refused.value
        #expect(refused.attempts.last?.wokenBy == .observer("HostRecoveryObserver"))
    }

    @Test func `A success never shortens the wait for an open circuit`() async throws {
        let breaker = breaker()
        let host = try #require(URL(string: "http://left-open.invalid/"))
        for _ in 1...2 { try breaker.fail(host) }
        let transport = ScriptedTransport([.body(Data())])
        var patient = configuration(transport, breaker)
        patient.retryPolicy.maximumRetries = 1
        patient.retryPolicy.backoff = .constant(.seconds(200))
        patient.retryPolicy.earlyRetryObservers = [HostRecoveryObserver()]
        let waiting = URLRequestOperation(host, configuration: patient)
        OperationQueue().addOperation(waiting)
        await clock.sleepers(1)
        // A request that does without the breaker.
        let other = configuration(ScriptedTransport([.body(Data())]), nil)
        _ = try await run(URLRequestOperation(host, configuration: other))
        #expect(transport.requests.isEmpty && waiting.attempts.count == 1)
        clock.advance(by: .seconds(5))
        _ = try await run(URLRequestOperation(host, configuration: other))
        _ = try await waiting.value
        #expect(waiting.attempts.last?.waited == .seconds(5) && transport.requests.count == 1)
    }

    @Test func `Circuits that are not used any more are forgotten`() throws {
        let breaker = breaker()
        for number in 0..<1000 {
            clock.advance(by: .seconds(1))
            try breaker.succeed(URL(string: "http://h\(number).invalid/"))
        }
        #expect(KnownSilences(clock: clock).hostCount <= 128)
    }

    @Test func `Who watches an open circuit that is forgotten hears that it is closed`() async throws {
        let breaker = breaker()
        let (host, other) = (
            try #require(URL(string: "http://f.invalid/")), try #require(URL(string: "http://o.invalid/"))
        )
        var states = breaker.states(of: host).makeAsyncIterator()
        #expect(await states.next() == .closed)
        while breaker.state(of: host) == .closed { try breaker.fail(host) }
        #expect(await states.next() == .open)
        clock.advance(by: .seconds(86_400))
        try breaker.succeed(other)
        #expect(breaker.state(of: host) == .closed)
        try breaker.succeed(host)
        #expect(await states.next() == .closed)
    }
}
