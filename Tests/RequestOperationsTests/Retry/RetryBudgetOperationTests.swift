import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct RetryBudgetOperationTests: BudgetTests {
    let clock = ManualClock()
    let url = URL(string: "https://a.example/x")!  // A literal that is a URL.

    @Test func `An operation counts once and each of its retries draws`() async throws {
        let budget = KnownBudget(ratio: 1, minimumPerSecond: 10, clock: clock)
        let request = request("counts-once")
        let url = try #require(request.url)
        let transport = ScriptedTransport([.status(503), .status(503), .body(Data())])
        _ = try await run(URLRequestOperation(request, configuration: configuration(transport, budget)))
        #expect(budget.balance(of: url) == 100 - 2)
    }

    @Test func `A request that is processed again counts once`() async throws {
        let budget = KnownBudget(ratio: 1, minimumPerSecond: 0, clock: clock)
        let request = request("counts-afresh")
        let url = try #require(request.url)
        var configuration = configuration(ScriptedTransport([.body(Data())]), budget)
        configuration.limiter = RequestLimiter(total: 1)
        configuration.freshness = .zero - .seconds(1)
        _ = try await run(URLRequestOperation(request, configuration: configuration))
        #expect(budget.balance(of: url) == 1)
    }

    @Test func `A request counts when it is sent not while it waits for its slot`() async throws {
        let budget = KnownBudget(ratio: 1, minimumPerSecond: 0, clock: clock)
        let request = request("counts-when-sent")
        let url = try #require(request.url)
        let limiter = RequestLimiter(total: 1)
        let slot = try #require(limiter.hold(for: url))
        var configuration = configuration(ScriptedTransport([.body(Data())]), budget)
        configuration.limiter = limiter
        let operation = URLRequestOperation(request, configuration: configuration)
        OperationQueue().addOperation(operation)
        await eventually { limiter.waitingCount == 1 }
        #expect(budget.balance(of: url) == 0)
        slot.release()
        _ = try await operation.value
        #expect(budget.balance(of: url) == 1)
    }

    @Test func `A request whose first attempt came to nothing counts with the next`() async throws {
        let budget = KnownBudget(ratio: 1, minimumPerSecond: 10, clock: clock)
        let request = request("counts-later")
        let url = try #require(request.url)
        var configuration = configuration(ScriptedTransport([.body(Data())]), budget)
        configuration.retryPolicy.isTransient = { $0 is Problem }
        let processed = Locked(0)
        configuration.adapters = [
            RequestAdapter { request in
                if processed.withLock({ count in
                    count += 1
                    return count
                }) == 1 {
                    throw Problem()
                }
                return request
            }
        ]
        _ = try await run(URLRequestOperation(request, configuration: configuration))
        // A retry and a request.
        #expect(budget.balance(of: url) == 100 - 1 + 1)
    }

    @Test func `The request that is sent says which host it counts for`() async throws {
        let budget = KnownBudget(ratio: 1, minimumPerSecond: 0, clock: clock)
        let other = try #require(request("counts-there").url)
        var configuration = configuration(ScriptedTransport([.body(Data())]), budget)
        configuration.adapters = [
            RequestAdapter { request in
                var request = request
                request.url = other
                return request
            }
        ]
        let request = request("counts-here")
        let url = try #require(request.url)
        _ = try await run(URLRequestOperation(request, configuration: configuration))
        #expect(budget.balance(of: other) == 1 && budget.balance(of: url) == 0)
    }

    /// An operation that failed once and waits.
    private func waiting(
        _ request: URLRequest, _ budget: KnownBudget, count: Int = 1
    ) async -> [URLRequestOperation<Data>] {
        var configuration = configuration(ScriptedTransport([.status(503)]), budget)
        configuration.clock = clock
        configuration.retryPolicy.backoff = .constant(.seconds(1))
        let operations = (0..<count).map { _ in URLRequestOperation(request, configuration: configuration) }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = count
        for operation in operations { queue.addOperation(operation) }
        await clock.sleepers(count)
        return operations
    }

    @Test(arguments: [RetryBudget.Mode.delaying, .failing])
    func `A retry draws when its wait is over`(mode: RetryBudget.Mode) async throws {
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 10, mode: mode, clock: clock)
        let request = request("draws-late")
        let url = try #require(request.url)
        let operation = await waiting(request, budget)[0]
        #expect(budget.balance(of: url) == 100)
        operation.cancel()
        await end(of: operation)
        #expect(budget.balance(of: url) == 100)
    }

    @Test func `Many that wait for room and are cancelled hold up nobody`() async throws {
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 1, clock: clock)
        let request = request("cancelled-crowd")
        let url = try #require(request.url)
        let operations = await waiting(request, budget, count: 200)
        clock.advance(by: .seconds(1))
        // Ten of them go on, fail, and wait for their next retry.
        await clock.sleepers(200)
        await eventually { budget.balance(of: url) == 0 }
        for operation in operations { operation.cancel() }
        for operation in operations { await end(of: operation) }
        #expect(budget.waitOfRetry(to: url) ?? .seconds(99) <= .seconds(1))
    }

    @Test func `A retry that a decision of ones own forgoes draws nothing`() async throws {
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 10, clock: clock)
        let request = request("forgone")
        let url = try #require(request.url)
        let operation = Staged(configuration(ScriptedTransport([.status(503)]), budget), to: url)
        operation.decisions = { _ in .stop }
        _ = await RequestOperationsTests.failure(of: operation)
        #expect(budget.balance(of: url) == 100)
    }

    @Test func `A retry of ones own decision draws as any other`() async throws {
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 10, clock: clock)
        let request = request("own")
        let url = try #require(request.url)
        let operation = Staged(configuration(ScriptedTransport([.status(404), .body(Data())]), budget), to: url)
        operation.decisions = { _ in .retry(after: .zero) }
        _ = try await run(operation)
        #expect(budget.balance(of: url) == 99)
    }

    @Test func `A retry that was made is not given back`() async throws {
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 10, clock: clock)
        let request = request("made")
        let url = try #require(request.url)
        _ = await RequestOperationsTests.failure(
            of: URLRequestOperation(request, configuration: configuration(ScriptedTransport([.status(503)]), budget)))
        #expect(budget.balance(of: url) == 97)
    }

    @Test func `An operation whose budget is empty fails with the failure as its cause`() async {
        let budget = KnownBudget(RetryBudget(ratio: 0, minimumPerSecond: 0, mode: .failing))
        let transport = ScriptedTransport([.status(503), .body(Data())])
        let error =
            await RequestOperationsTests.failure(
                of: URLRequestOperation(request("empty"), configuration: configuration(transport, budget)))
            as? RequestError
        #expect(error?.code == .retryBudgetExhausted && transport.requests.count == 1)
        #expect((error?.underlying as? RequestError)?.code == .unacceptableStatus)
    }

    @Test func `A sign of an observer of ones own releases no more than the budget`() async throws {
        struct Awaited: EarlyRetryObserver {
            let sign: Door

            func wait(after failure: AttemptFailure) async throws { await sign.pass() }
        }
        let sign = Door()
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 1, clock: clock)
        let request = request("recovered")
        let sent = Collector<Void>()
        let fails = Locked(true)
        var patient = configuration(
            ScriptedTransport([
                .dynamic { _ in
                    if fails.withLock({ $0 }) { return .status(503) }
                    sent.append(())
                    return .body(Data())
                }
            ]), budget)
        patient.clock = clock
        patient.retryPolicy.backoff = .constant(.seconds(250))
        patient.retryPolicy.earlyRetryObservers = [Awaited(sign: sign)]
        let waits = Collector<WaitReason?>()
        let woke = Collector<WakeReason>()
        patient.onEvent = { event in
            switch event.step {
            case .waits: waits.append(event.waitReason)
            case .woke(let reason): woke.append(reason)
            default: break
            }
        }
        let queue = OperationQueue()
        for _ in 0..<50 { queue.addOperation(URLRequestOperation(request, configuration: patient)) }
        await clock.sleepers(50)
        fails.withLock { $0 = false }
        sign.open()
        // Ten go, and the others wait for room.
        await sent.count(10)
        await waits.count(50 + 40)
        await clock.sleepers(40)
        #expect(waits.elements.count { $0 == .budget } == 40)
        clock.advance(by: .milliseconds(999))
        #expect(sent.count == 10)
        clock.advance(by: .milliseconds(1))
        await sent.count(11)
        // The sign woke all of them. The wait for room ended by itself.
        await woke.count(51)
        #expect(woke.elements == Array(repeating: .observer("Awaited"), count: 50) + [.backoff])
        queue.cancelAllOperations()
    }

    @Test(arguments: [RetryBudget.Mode.delaying, .failing])
    func `The retries that a recovery releases draw nothing`(mode: RetryBudget.Mode) async throws {
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 1, mode: mode, clock: clock)
        try await releaseAll(30, of: "released-\(mode)", budget)
        #expect(budget.balance(of: try #require(request("released-\(mode)").url)) == 10)
    }

    @Test func `The retries that a recovery releases cost no tokens`() async throws {
        let budget = KnownBudget.tokens()
        let url = try #require(request("released-tokens").url)
        // Of others, which are not brought back.
        for _ in 0..<5 { _ = budget.draw(to: url, after: Problem()) }
        try await releaseAll(10, of: "released-tokens", budget)
        // The success that released them is that of a first attempt.
        #expect(budget.balance(of: url) == 475 + 1)
    }

    /// Has some wait for their retries, and the success of another release them.
    private func releaseAll(_ count: Int, of host: String, _ budget: KnownBudget) async throws {
        let request = request(host)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = count
        let operations = (0..<count).map { _ in
            var configuration = configuration(ScriptedTransport([.status(503), .body(Data())]), budget)
            configuration.clock = clock
            configuration.retryPolicy.backoff = .constant(.seconds(250))
            configuration.retryPolicy.earlyRetryObservers = [HostRecoveryObserver()]
            return URLRequestOperation(request, configuration: configuration)
        }
        for operation in operations { queue.addOperation(operation) }
        await clock.sleepers(count)
        _ = try await run(
            URLRequestOperation(request, configuration: configuration(ScriptedTransport([.body(Data())]), budget)))
        for operation in operations { _ = try await operation.value }
        #expect(operations.allSatisfy { $0.attempts.last?.wokenBy == .observer("HostRecoveryObserver") })
    }

    @Test func `A retry that is cancelled while it waits for its slot is given back`() async throws {
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 1, mode: .failing, clock: clock)
        let request = request("in-line")
        let url = try #require(request.url)
        let limiter = RequestLimiter(total: 1)
        var configuration = configuration(ScriptedTransport([.status(503)]), budget)
        configuration.clock = clock
        configuration.limiter = limiter
        configuration.retryPolicy.backoff = .constant(.seconds(1))
        let operation = URLRequestOperation(request, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        let slot = try #require(limiter.hold(for: url))
        clock.advance(by: .seconds(1))
        await eventually { limiter.waitingCount == 1 }
        #expect(budget.balance(of: url) == 9)
        operation.cancel()
        await end(of: operation)
        #expect(budget.balance(of: url) == 10)
        slot.release()
    }

    @Test func `Retry now does not wait for room`() async throws {
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 1, clock: clock)
        let request = request("forced")
        let url = try #require(request.url)
        var configuration = configuration(ScriptedTransport([.status(503), .body(Data())]), budget)
        configuration.clock = clock
        configuration.retryPolicy.backoff = .constant(.seconds(100))
        let operation = URLRequestOperation(request, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        for _ in 0..<20 { _ = budget.draw(to: url) }
        operation.retryNow()
        _ = try await operation.value
    }

    // MARK: Tokens

    @Test func `A request that succeeds with a retry brings back what that cost`() async throws {
        let budget = KnownBudget.tokens(cost: 14)
        let transport = ScriptedTransport([.status(503), .status(503), .body(Data())])
        _ = try await run(URLRequestOperation(request("tokens-retry"), configuration: configuration(transport, budget)))
        #expect(budget.balance(of: request("tokens-retry").url!) == 486)  // Made from a URL.
    }

    @Test func `A request that succeeds at once brings back one token`() async throws {
        let budget = KnownBudget.tokens()
        let url = try #require(request("tokens-clean").url)
        _ = budget.draw(to: url, after: Problem())
        let transport = ScriptedTransport([.body(Data())])
        _ = try await run(URLRequestOperation(URLRequest(url: url), configuration: configuration(transport, budget)))
        #expect(budget.balance(of: url) == 496)
    }
}
