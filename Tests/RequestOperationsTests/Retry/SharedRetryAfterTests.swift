import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct SharedRetryAfterTests {
    private let clock = ManualClock()
    private let url = URL(string: "http://busy.invalid/a")!  // A literal that is a URL.
    private let other = URL(string: "http://busy.invalid/b")!  // A literal that is a URL.

    /// A configuration on the clock, with a table.
    private func configuration(_ transport: ScriptedTransport, _ table: KnownSilences?) -> RequestConfiguration {
        var configuration = RequestConfiguration.over(transport)
        configuration.clock = clock
        configuration.randomSource = RandomSource(seed: 1)
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(1)))
        configuration.use(table)
        return configuration
    }

    private func started(_ url: URL, _ configuration: RequestConfiguration) -> URLRequestOperation<Data> {
        let operation = URLRequestOperation(url, configuration: configuration)
        OperationQueue().addOperation(operation)
        return operation
    }

    private func succeed(_ url: URL) async throws {
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.hosts = clock.hosts
        _ = try await run(URLRequestOperation(url, configuration: configuration))
    }

    @Test func `Copies of a configuration share what they are told on their clock`() async throws {
        var configuration = RequestConfiguration.scripted([
            .status(503, fields: [("Retry-After", "100")]), .body(Data()),
        ])
        configuration.clock = clock
        configuration.retryPolicy = RetryPolicy()
        #expect(configuration.hosts !== HostRegistry.shared)
        let told = started(url, configuration)
        await clock.sleepers(1)
        let untold = started(other, configuration)
        await clock.sleepers(2)
        #expect(untold.attempts.count == 1)
        clock.advance(by: .seconds(103))
        _ = try await told.value
        _ = try await untold.value
        #expect(untold.attempts.count == 1 && told.attempts.count == 2)
    }

    @Test func `What one request is told another one keeps to`() async throws {
        let table = KnownSilences(clock: clock)
        let busy = ScriptedTransport([.status(503, fields: [("Retry-After", "100")]), .body(Data())])
        let told = started(url, configuration(busy, table))
        await clock.sleepers(1)
        let transport = ScriptedTransport([.body(Data())])
        let untold = started(other, configuration(transport, table))
        await clock.sleepers(2)
        #expect(table.timeLeft(for: other) == .seconds(100))
        clock.advance(by: .seconds(100))
        _ = try await told.value
        #expect(transport.requests.isEmpty)
        clock.advance(by: .seconds(3))
        _ = try await untold.value
        #expect(transport.requests.count == 1 && untold.attempts.count == 1)
    }

    @Test func `A request to another host goes on at once`() async throws {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(100), for: url)
        let free = try #require(URL(string: "http://free.invalid/"))
        _ = try await run(
            URLRequestOperation(free, configuration: configuration(ScriptedTransport([.body(Data())]), table)))
    }

    @Test func `A request whose deadline comes first fails at once and says so`() async {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(100), for: url)
        let transport = ScriptedTransport([.body(Data())])
        var configuration = configuration(transport, table)
        configuration.deadline = .seconds(50)
        let error = await failure(of: URLRequestOperation(url, configuration: configuration)) as? RequestError
        #expect(error?.code == .retryAfterTooLong && transport.requests.isEmpty)
    }

    @Test func `Retry now ends the wait before a first attempt`() async throws {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(100), for: url)
        let operation = started(url, configuration(ScriptedTransport([.body(Data())]), table))
        await clock.sleepers(1)
        operation.retryNow()
        _ = try await operation.value
    }

    @Test func `A cancel ends the wait before a first attempt`() async {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(100), for: url)
        let operation = started(url, configuration(ScriptedTransport([.body(Data())]), table))
        await clock.sleepers(1)
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
    }

    @Test func `A request that waits before its first attempt holds no slot`() async throws {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(100), for: url)
        var configuration = configuration(ScriptedTransport([.body(Data())]), table)
        let limiter = RequestLimiter(total: 1)
        configuration.limiter = limiter
        let operation = started(url, configuration)
        await clock.sleepers(1)
        #expect(limiter.inFlightCount == 0 && limiter.waitingCount == 0)
        operation.cancel()
    }

    @Test func `A request that waited longer than its freshness is processed again`() async throws {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(100), for: url)
        let processed = Collector<Int>()
        var configuration = configuration(ScriptedTransport([.body(Data())]), table)
        configuration.adapters = [
            RequestAdapter { request in
                processed.append(1)
                return request
            }
        ]
        let operation = started(url, configuration)
        await clock.sleepers(1)
        clock.advance(by: .seconds(103))
        _ = try await operation.value
        #expect(processed.elements.count == 2)
    }

    @Test(arguments: [(404, "9"), (503, "soon"), (503, "-9"), (503, "0")])
    func `What asks for nothing is not noted`(status: Int, value: String) async {
        let table = KnownSilences(clock: clock)
        let transport = ScriptedTransport([.status(status, fields: [("Retry-After", value)])])
        var configuration = configuration(transport, table)
        configuration.retryPolicy.maximumRetries = 0
        _ = await failure(of: URLRequestOperation(url, configuration: configuration))
        #expect(table.hostCount == 0)
    }

    @Test func `A wait that is too long delays what was never sent until it is forgotten`() async throws {
        let table = KnownSilences(clock: clock)
        let transport = ScriptedTransport([.status(503, fields: [("Retry-After", "9999")]), .body(Data())])
        let configuration = configuration(transport, table)
        let error = await failure(of: URLRequestOperation(url, configuration: configuration)) as? RequestError
        #expect(error?.code == .retryAfterTooLong)
        let untold = started(other, configuration)
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(299_999))
        #expect(transport.requests.count == 1)
        clock.advance(by: .milliseconds(3_001))
        _ = try await untold.value
        #expect(untold.attempts.count == 1)
    }

    @Test func `A wait that is too long fails a retry at once and says so`() async {
        let table = KnownSilences(clock: clock)
        let transport = ScriptedTransport([.status(503), .body(Data())])
        let operation = started(url, configuration(transport, table))
        await clock.sleepers(1)
        table.note(.seconds(9999), for: url, keeping: .seconds(300))
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: RequestError.self) { try await operation.value }
        #expect(error?.code == .retryAfterTooLong && transport.requests.count == 1)
    }

    @Test func `A wait that is too long is forgotten after the longest one that is kept`() async throws {
        let table = KnownSilences(clock: clock)
        let transport = ScriptedTransport([.status(503, fields: [("Retry-After", "9999")]), .body(Data())])
        let configuration = configuration(transport, table)
        _ = await failure(of: URLRequestOperation(url, configuration: configuration))
        clock.advance(by: .milliseconds(299_999))
        #expect(table.timeLeft(for: url) == .milliseconds(9_699_001))
        clock.advance(by: .milliseconds(1))
        #expect(table.timeLeft(for: url) == .zero)
        _ = try await run(URLRequestOperation(url, configuration: configuration))
    }

    @Test func `A policy waits for another's sake as long as for its own`() async throws {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(100), for: url)
        var configuration = configuration(ScriptedTransport([.body(Data())]), table)
        configuration.retryPolicy.maximumRetryAfter = .seconds(100)
        let operation = started(url, configuration)
        await clock.sleepers(1)
        clock.advance(by: .seconds(103))
        _ = try await operation.value
        table.note(.seconds(100), for: url)
        let failure = AttemptFailure(RequestError(.timedOut, stage: .transfer), request: URLRequest(url: url))
        guard case .retry = configuration.retryPolicy.planned(after: failure, in: clock.hosts) else {
            Issue.record("it does not wait")
            return
        }
    }

    @Test func `A retry waits no longer for another's sake than for its own`() {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(100), for: url)
        var policy = configuration(ScriptedTransport([.stall]), table).retryPolicy
        policy.maximumRetryAfter = .seconds(99)
        let failure = AttemptFailure(RequestError(.timedOut, stage: .transfer), request: URLRequest(url: url))
        guard case .fail = policy.planned(after: failure, in: clock.hosts) else {
            Issue.record("it goes on")
            return
        }
    }

    @Test func `What was never sent is only delayed however little its policy waits`() async throws {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(100), for: url)
        let transport = ScriptedTransport([.body(Data())])
        var configuration = configuration(transport, table)
        configuration.retryPolicy.maximumRetryAfter = .seconds(1)
        configuration.retryPolicy.elapsedLimit = .seconds(1)
        let operation = started(url, configuration)
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(99_999))
        #expect(transport.requests.isEmpty)
        clock.advance(by: .milliseconds(3_001))
        _ = try await operation.value
    }

    @Test func `A retry that waits already keeps to what another request is told meanwhile`() async throws {
        let table = KnownSilences(clock: clock)
        let transport = ScriptedTransport([.status(503), .body(Data())])
        let operation = started(url, configuration(transport, table))
        await clock.sleepers(1)
        table.note(.seconds(100), for: url)
        clock.advance(by: .seconds(1))
        await eventually { operation.attempts.count == 2 }
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(98_999))
        #expect(transport.requests.count == 1)
        clock.advance(by: .seconds(4))
        _ = try await operation.value
    }

    @Test func `Retry now forces a retry although the host asks to be left alone`() async throws {
        let table = KnownSilences(clock: clock)
        let operation = started(
            url,
            configuration(ScriptedTransport([.status(503, fields: [("Retry-After", "100")]), .body(Data())]), table))
        await clock.sleepers(1)
        table.note(.seconds(200), for: url)
        operation.retryNow()
        _ = try await operation.value
    }

    @Test func `Retry now forces also what is processed again`() async throws {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(100), for: url)
        let operation = started(url, configuration(ScriptedTransport([.body(Data())]), table))
        await clock.sleepers(1)
        clock.advance(by: .seconds(31))
        operation.retryNow()
        _ = try await operation.value
    }

    @Test func `A decision of ones own counts more than what the request was told`() async throws {
        let table = KnownSilences(clock: clock)
        let transport = ScriptedTransport([.status(503, fields: [("Retry-After", "100")]), .body(Data())])
        let operation = Staged(configuration(transport, table), to: url)
        operation.decisions = { _ in .retry(after: .zero) }
        _ = try await run(operation)
        #expect(table.timeLeft(for: url) == .seconds(100))
    }

    @Test func `The host that asked is spared not the one that redirected to it`() async throws {
        let table = KnownSilences(clock: clock)
        let busy = try #require(URL(string: "http://behind.invalid/"))
        var configuration = configuration(
            ScriptedTransport([
                .status(302, fields: [("Location", busy.absoluteString)]),
                .status(503, fields: [("Retry-After", "9")]),
            ]), table)
        configuration.retryPolicy.maximumRetries = 0
        _ = await failure(of: URLRequestOperation(url, configuration: configuration))
        #expect(table.timeLeft(for: busy) == .seconds(9) && table.timeLeft(for: url) == .zero)
    }

    @Test func `No sign brings forward what the server asked for`() async throws {
        struct Immediate: EarlyRetryObserver {
            func wait(after failure: AttemptFailure) async throws {}
        }
        var configuration = configuration(
            ScriptedTransport([.status(429, fields: [("Retry-After", "100")]), .body(Data())]), nil)
        configuration.retryPolicy.earlyRetryObservers = [Immediate()]
        let operation = started(url, configuration)
        await clock.sleepers(1)
        clock.advance(by: .seconds(100))
        _ = try await operation.value
        #expect(operation.attempts.last?.wokenBy == .backoff && operation.attempts.last?.waited == .seconds(100))
    }

    @Test func `A success never shortens the wait that a retry after asked for`() async throws {
        let url = try #require(URL(string: "http://asks-for-time.invalid/"))
        // The budget would have it wait for longer.
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 0.1, clock: clock)
        #expect(budget.draw(to: url) != nil)
        clock.advance(by: .seconds(5))
        var configuration = configuration(
            ScriptedTransport([.status(503, fields: [("Retry-After", "2")]), .body(Data())]), nil)
        configuration.use(budget)
        configuration.retryPolicy.earlyRetryObservers = [HostRecoveryObserver()]
        let operation = started(url, configuration)
        await clock.sleepers(1)
        try await succeed(url)
        #expect(operation.attempts.count == 1)
        clock.advance(by: .seconds(2))
        await eventually { clock.hosts.waitingCount(for: url) == 1 }
        try await succeed(url)
        _ = try await operation.value
        #expect(operation.attempts.last?.waited == .seconds(2))
    }

    @Test func `A request that is not retried itself tells the others`() async {
        let table = KnownSilences(clock: clock)
        var configuration = configuration(
            ScriptedTransport([.status(503, fields: [("Retry-After", "9")])]), table)
        configuration.retryPolicy.maximumRetries = 0
        _ = await failure(of: URLRequestOperation(url, configuration: configuration))
        #expect(table.timeLeft(for: url) == .seconds(9))
    }

    @Test(arguments: [408, 413, 425, 429, 500, 502, 504])
    func `What is not about the host delays only the request that was told`(status: Int) async throws {
        let table = KnownSilences(clock: clock)
        var configuration = configuration(
            ScriptedTransport([.status(status, fields: [("Retry-After", "100")]), .body(Data())]), table)
        configuration.retryPolicy.statuses.insert(413)
        let told = started(url, configuration)
        await clock.sleepers(1)
        #expect(table.hostCount == 0)
        let others = self.configuration(ScriptedTransport([.body(Data())]), table)
        _ = try await run(URLRequestOperation(other, configuration: others))
        clock.advance(by: .milliseconds(99_999))
        #expect(told.attempts.count == 1)
        clock.advance(by: .milliseconds(1))
        _ = try await told.value
    }

    @Test func `A policy may share too many requests`() async throws {
        let table = KnownSilences(clock: clock)
        var configuration = configuration(
            ScriptedTransport([.status(429, fields: [("Retry-After", "100")]), .body(Data())]), table)
        configuration.retryPolicy.sharesTooManyRequests = true
        let told = started(url, configuration)
        await clock.sleepers(1)
        #expect(table.timeLeft(for: other) == .seconds(100))
        // Whoever has the table keeps to it, whether its own policy shares or not.
        let transport = ScriptedTransport([.body(Data())])
        let untold = started(other, self.configuration(transport, table))
        await clock.sleepers(2)
        clock.advance(by: .seconds(100))
        _ = try await told.value
        #expect(transport.requests.isEmpty)
        clock.advance(by: .seconds(3))
        _ = try await untold.value
    }

    @Test func `No too many requests are shared by default`() {
        #expect(!RetryPolicy().sharesTooManyRequests)
        for policy in [RetryPolicy.default, .none, .aggressive, .endless] {
            #expect(policy.sharesRetryAfter && !policy.sharesTooManyRequests)
        }
    }

    @Test(arguments: [429, 503]) func `A status that is not retried says nothing about the host`(status: Int) async {
        let table = KnownSilences(clock: clock)
        let transport = ScriptedTransport([.status(status, fields: [("Retry-After", "9")])])
        var configuration = configuration(transport, table)
        configuration.retryPolicy.sharesTooManyRequests = true
        configuration.retryPolicy.statuses = [500]
        _ = await failure(of: URLRequestOperation(url, configuration: configuration))
        #expect(table.hostCount == 0 && transport.requests.count == 1)
    }

    @Test func `A policy that disregards retry after neither notes nor waits`() async throws {
        let table = KnownSilences(clock: clock)
        let transport = ScriptedTransport([.status(503, fields: [("Retry-After", "9")])])
        var configuration = configuration(transport, table)
        configuration.retryPolicy.maximumRetries = 0
        configuration.retryPolicy.honoursRetryAfter = false
        _ = await failure(of: URLRequestOperation(url, configuration: configuration))
        #expect(table.hostCount == 0)
        table.note(.seconds(100), for: url)
        _ = await failure(of: URLRequestOperation(url, configuration: configuration))
        #expect(transport.requests.count == 2)
    }

    @Test func `Where nothing is shared only the request that was told waits`() async throws {
        let busy = ScriptedTransport([.status(503, fields: [("Retry-After", "100")]), .body(Data())])
        let told = started(url, configuration(busy, nil))
        await clock.sleepers(1)
        _ = try await run(
            URLRequestOperation(other, configuration: configuration(ScriptedTransport([.body(Data())]), nil)))
        clock.advance(by: .seconds(100))
        _ = try await told.value
    }
}
