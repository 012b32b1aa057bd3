import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct RetryBudgetOperationTests: BudgetTests {
    let clock = ManualClock()
    let url = URL(string: "https://a.example/x")!  // A literal that is a URL.

    @Test func anOperationCountsOnceAndEachOfItsRetriesDraws() async throws {
        let budget = RetryBudget(ratio: 1, minimumPerSecond: 10, clock: clock)
        let request = request("counts-once")
        let url = try #require(request.url)
        let transport = ScriptedTransport([.status(503), .status(503), .body(Data())])
        _ = try await run(URLRequestOperation(request, configuration: configuration(transport, budget)))
        #expect(budget.balance(of: url) == 100 + 1 - 2)
    }

    @Test func aRequestThatIsProcessedAgainCountsOnce() async throws {
        let budget = RetryBudget(ratio: 1, minimumPerSecond: 0, clock: clock)
        let request = request("counts-afresh")
        let url = try #require(request.url)
        var configuration = configuration(ScriptedTransport([.body(Data())]), budget)
        configuration.limiter = RequestLimiter(total: 1)
        configuration.freshness = .zero - .seconds(1)
        _ = try await run(URLRequestOperation(request, configuration: configuration))
        #expect(budget.balance(of: url) == 1)
    }

    @Test func aRequestCountsWhenItIsSentNotWhileItWaitsForItsSlot() async throws {
        let budget = RetryBudget(ratio: 1, minimumPerSecond: 0, clock: clock)
        let request = request("counts-when-sent")
        let url = try #require(request.url)
        let limiter = RequestLimiter(total: 1)
        let slot = try await limiter.slot(for: Origin(url), at: limiter.newPlace())
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

    @Test func aRequestWhoseFirstAttemptCameToNothingCountsWithTheNext() async throws {
        let budget = RetryBudget(ratio: 1, minimumPerSecond: 10, clock: clock)
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

    @Test func theRequestThatIsSentSaysWhichHostItCountsFor() async throws {
        let budget = RetryBudget(ratio: 1, minimumPerSecond: 0, clock: clock)
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
        _ request: URLRequest, _ budget: RetryBudget, count: Int = 1
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
    func aRetryThatIsCancelledWhileItWaitsIsGivenBack(mode: RetryBudget.Mode) async throws {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 10, mode: mode, clock: clock)
        #expect(try await balances(of: budget, aroundACancelOf: request("given-back")) == (99, 100))
    }

    /// What is left for a request while its retry waits, and when that was cancelled.
    private func balances(
        of budget: RetryBudget, aroundACancelOf request: URLRequest
    ) async throws -> (waiting: Int, cancelled: Int) {
        let url = try #require(request.url)
        let operation = await waiting(request, budget)[0]
        let balance = budget.balance(of: url)
        operation.cancel()
        await end(of: operation)
        return (balance, budget.balance(of: url))
    }

    @Test func manyThatAreCancelledHoldUpNobody() async throws {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 1, clock: clock)
        let request = request("cancelled-crowd")
        let url = try #require(request.url)
        let operations = await waiting(request, budget, count: 200)
        #expect(outcome(policy(budget), failure(to: url)) == .retry(.milliseconds(200_500), observers: 0))
        for operation in operations { operation.cancel() }
        for operation in operations { await end(of: operation) }
        #expect(budget.balance(of: url) == 10)
        #expect(outcome(policy(budget), failure(to: url)) == .retry(.seconds(1), observers: 0))
    }

    @Test func aRetryThatADecisionOfOnesOwnForgoesIsGivenBack() async throws {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 10, clock: clock)
        let request = request("forgone")
        let url = try #require(request.url)
        let operation = Staged(configuration(ScriptedTransport([.status(503)]), budget), to: url)
        let policy = policy(budget)
        operation.decisions = { failure in
            _ = policy.decision(after: failure, using: .system)
            return .stop
        }
        _ = await RequestOperationsTests.failure(of: operation)
        #expect(budget.balance(of: url) == 100)
    }

    @Test func tokensForARetryThatIsNotMadeAreGivenBack() async throws {
        #expect(try await balances(of: .tokens(), aroundACancelOf: request("tokens-back")) == (495, 500))
    }

    @Test func aRetryThatWasMadeIsNotGivenBack() async throws {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 10, clock: clock)
        let request = request("made")
        let url = try #require(request.url)
        _ = await RequestOperationsTests.failure(
            of: URLRequestOperation(request, configuration: configuration(ScriptedTransport([.status(503)]), budget)))
        #expect(budget.balance(of: url) == 97)
    }

    @Test func anOperationWhoseBudgetIsEmptyFailsWithTheFailureAsItsCause() async {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 0, mode: .failing)
        let transport = ScriptedTransport([.status(503), .body(Data())])
        let error =
            await RequestOperationsTests.failure(
                of: URLRequestOperation(request("empty"), configuration: configuration(transport, budget)))
            as? RequestError
        #expect(error?.code == .retryBudgetExhausted && transport.requests.count == 1)
        #expect((error?.underlying as? RequestError)?.code == .unacceptableStatus)
    }

    @Test func aSignOfAnObserverOfOnesOwnReleasesNoMoreThanTheBudget() async throws {
        struct Awaited: EarlyRetryObserver {
            let sign: Door

            func wait(after failure: AttemptFailure) async throws { await sign.pass() }
        }
        let sign = Door()
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 1, clock: clock)
        let request = request("recovered")
        let sent = Collector<Void>()
        var patient = configuration(
            ScriptedTransport([
                .dynamic { _ in
                    sent.append(())
                    return .body(Data())
                }
            ]), budget)
        patient.clock = clock
        patient.retryPolicy.backoff = .constant(.seconds(250))
        patient.retryPolicy.earlyRetryObservers = [Awaited(sign: sign)]
        let fails = Locked(true)
        patient.adapters = [
            RequestAdapter { request in
                if fails.withLock({ $0 }) { throw RequestError(.connectionLost, stage: .process) }
                return request
            }
        ]
        let waits = Collector<Void>()
        patient.onEvent = { if case .waits = $0.step { waits.append(()) } }
        let queue = OperationQueue()
        // An outage of 50 s, with as many retries as the budget has room for.
        for batch in 1...5 {
            for _ in 0..<10 { queue.addOperation(URLRequestOperation(request, configuration: patient)) }
            await clock.sleepers(10 * batch)
            clock.advance(by: .seconds(10))
        }
        fails.withLock { $0 = false }
        sign.open()
        // Ten go, and the others wait on until the window moves.
        await waits.count(50 + 40)
        await clock.sleepers(40)
        await sent.count(10)
        clock.advance(by: .seconds(10))
        #expect(sent.count == 10)
        clock.advance(by: .seconds(1))
        await sent.count(11)
        queue.cancelAllOperations()
    }

    @Test(arguments: [RetryBudget.Mode.delaying, .failing])
    func theRetriesThatARecoveryReleasesGiveTheirDrawsBack(mode: RetryBudget.Mode) async throws {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 1, mode: mode, clock: clock)
        try await releaseAll(mode == .delaying ? 30 : 10, of: "released-\(mode)", budget)
        #expect(budget.balance(of: try #require(request("released-\(mode)").url)) == 10)
        // None is held for later either.
        #expect(
            outcome(policy(budget), failure(to: request("released-\(mode)").url)) == .retry(.seconds(1), observers: 0))
    }

    @Test func theTokensOfARetryThatARecoveryReleasesAreGivenBackOnce() async throws {
        let budget = RetryBudget.tokens()
        let url = try #require(request("released-tokens").url)
        // Of others, which are not brought back.
        for _ in 0..<5 { _ = outcome(policy(budget), failure(to: url, status: 503)) }
        try await releaseAll(10, of: "released-tokens", budget)
        // The success that released them is that of a first attempt.
        #expect(budget.balance(of: url) == 475 + 1)
    }

    /// Has some wait for their retries, and the success of another release them.
    private func releaseAll(_ count: Int, of host: String, _ budget: RetryBudget) async throws {
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

    @Test func aRetryThatIsDecidedUponTwiceDrawsOnce() async throws {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 1, mode: .failing, clock: clock)
        let request = request("decided-twice")
        let url = try #require(request.url)
        var configuration = configuration(ScriptedTransport([.status(503)]), budget)
        configuration.clock = clock
        configuration.retryPolicy.backoff = .constant(.seconds(1))
        configuration.retryDeciders = [
            RetryDecider { [policy = configuration.retryPolicy] failure, _ in
                policy.decision(after: failure, using: .system)
            }
        ]
        let operation = URLRequestOperation(request, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        #expect(budget.balance(of: url) == 9)
        operation.cancel()
        await end(of: operation)
        #expect(budget.balance(of: url) == 10)
    }

    @Test func aRetryThatIsCancelledWhileItWaitsForItsSlotIsGivenBack() async throws {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 1, mode: .failing, clock: clock)
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
        let slot = try await limiter.slot(for: Origin(url), at: limiter.newPlace())
        clock.advance(by: .seconds(1))
        await eventually { limiter.waitingCount == 1 }
        operation.cancel()
        await end(of: operation)
        #expect(budget.balance(of: url) == 10)
        slot.release()
    }

    @Test func aRetryThatIsSentElsewhereIsGivenBackWhereItWasDrawn() async throws {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 1, mode: .failing, clock: clock)
        let (here, there) = (request("drawn-here"), request("sent-there"))
        let (first, second) = (try #require(here.url), try #require(there.url))
        var configuration = configuration(ScriptedTransport([.status(503)]), budget)
        configuration.clock = clock
        configuration.retryPolicy.backoff = .constant(.seconds(1))
        let other = URLRequestOperation(there, configuration: configuration)
        OperationQueue().addOperation(other)
        await clock.sleepers(1)
        // Fails before there is a request that was made from the original, so the original counts.
        configuration.adapters = [RequestAdapter { _ in throw Problem() }]
        configuration.retryPolicy.isTransient = { $0 is Problem }
        configuration.retryDeciders = [
            RetryDecider { _, decision in
                guard case .retry(let delay, _, _, _) = decision else { return decision }
                return .retry(after: delay, with: there)
            }
        ]
        let operation = URLRequestOperation(here, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(2)
        operation.cancel()
        await end(of: operation)
        #expect(budget.balance(of: first) == 10 && budget.balance(of: second) == 9)
        other.cancel()
    }

    // MARK: Tokens

    @Test func aRetryThatDrewNothingBringsNothingBack() async throws {
        let budget = RetryBudget.tokens()
        let request = request("tokens-minted")
        let url = try #require(request.url)
        for _ in 0..<5 { _ = outcome(policy(budget), failure(to: url, status: 503)) }
        #expect(budget.balance(of: url) == 475)
        var configuration = configuration(ScriptedTransport([.status(401), .body(Data())]), budget)
        configuration.retryDeciders = [
            RetryDecider { failure, decision in failure.head?.status == 401 ? .retry(after: .zero) : decision }
        ]
        _ = try await run(URLRequestOperation(request, configuration: configuration))
        #expect(budget.balance(of: url) == 475)
    }

    @Test func aRequestThatSucceedsWithARetryBringsBackWhatThatCost() async throws {
        let budget = RetryBudget.tokens(cost: 14)
        let transport = ScriptedTransport([.status(503), .status(503), .body(Data())])
        _ = try await run(URLRequestOperation(request("tokens-retry"), configuration: configuration(transport, budget)))
        #expect(budget.balance(of: request("tokens-retry").url!) == 486)  // Made from a URL.
    }

    @Test func aRequestThatSucceedsAtOnceBringsBackOneToken() async throws {
        let budget = RetryBudget.tokens()
        let url = try #require(request("tokens-clean").url)
        _ = outcome(policy(budget), failure(to: url, status: 503))
        let transport = ScriptedTransport([.body(Data())])
        _ = try await run(URLRequestOperation(URLRequest(url: url), configuration: configuration(transport, budget)))
        #expect(budget.balance(of: url) == 496)
    }
}
