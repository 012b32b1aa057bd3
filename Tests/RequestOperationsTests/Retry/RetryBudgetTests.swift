import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct RetryBudgetTests: BudgetTests {
    let clock = ManualClock()
    let url = URL(string: "https://a.example/x")!  // A literal that is a URL.

    private struct Unending: EarlyRetryObserver {
        func wait(after failure: AttemptFailure) async throws { try await ManualClock().sleep(for: .seconds(1)) }
    }

    // MARK: A window

    @Test func theDefaultsAreTwentyPercentAndTenASecond() {
        let budget = RetryBudget(clock: clock)
        #expect(budget.balance(of: url) == 100 && budget.mode == .delaying)
        for _ in 0..<50 { budget.countRequest(to: url, on: .none) }
        #expect(budget.balance(of: url) == 110)
    }

    @Test func whatIsLeftIsVisible() {
        let budget = RetryBudget(clock: clock)
        let policy = policy(budget)
        for _ in 0..<30 { _ = outcome(policy, failure()) }
        #expect(budget.balance(of: url) == 70)
        clock.advance(by: .seconds(10))
        #expect(budget.balance(of: url) == 80)
        clock.advance(by: .seconds(2))
        #expect(budget.balance(of: url) == 100)
    }

    @Test func aRequestThatIsMadeWithoutAnOperationCountsAsAnyOther() {
        let budget = RetryBudget(ratio: 1, minimumPerSecond: 0, clock: clock)
        for _ in 0..<3 { budget.countRequest(to: url) }
        #expect(budget.balance(of: url) == 3)
    }

    @Test func eachOriginHasABudgetOfItsOwn() {
        let budget = RetryBudget(clock: clock)
        _ = outcome(policy(budget), failure())
        for other in ["http://a.example/x", "https://a.example:8443/x", "https://b.example/x"] {
            #expect(budget.balance(of: URL(string: other)!) == 100)  // Literals that are URLs.
        }
        for same in ["https://a.example", "https://A.example/y?z", "https://a.example:443/x", "https://u:p@a.example/"]
        {
            #expect(budget.balance(of: URL(string: same)!) == 99)  // Literals that are URLs.
        }
    }

    @Test func policiesWithTheSameBudgetShareIt() {
        let budget = RetryBudget(clock: clock)
        _ = outcome(policy(budget), failure())
        _ = outcome(policy(budget), failure())
        #expect(budget.balance(of: url) == 98)
    }

    @Test func aFailingBudgetThatIsEmptyFailsTheRequestAndSaysWhy() {
        let policy = policy(RetryBudget(ratio: 0, minimumPerSecond: 0.1, mode: .failing, clock: clock))
        #expect(outcome(policy, failure()) == .retry(.seconds(1), observers: 0))
        let decision = policy.decision(after: failure(status: 503), using: RandomSource(seed: 1))
        guard case .fail(let error as RequestError) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(error.code == .retryBudgetExhausted && error.head?.status == 503)
        #expect((error.underlying as? RequestError)?.code == .unacceptableStatus)
    }

    @Test func aDelayingBudgetThatIsEmptyPostponesTheRetry() {
        let policy = policy(RetryBudget(ratio: 0, minimumPerSecond: 1, clock: clock))
        for _ in 0..<10 { #expect(outcome(policy, failure()) == .retry(.seconds(1), observers: 0)) }
        #expect(outcome(policy, failure()) == .retry(.milliseconds(10_500), observers: 0))
        #expect(outcome(policy, failure()) == .retry(.milliseconds(11_500), observers: 0))
    }

    @Test func aRetryThatHasRoomBeforeItsBackoffIsOverWaitsForTheBackoff() {
        var policy = policy(RetryBudget(ratio: 0, minimumPerSecond: 1, clock: clock))
        policy.backoff = .constant(.seconds(20))
        for _ in 0..<11 { #expect(outcome(policy, failure()) == .retry(.seconds(20), observers: 0)) }
    }

    @Test(arguments: [(289, Duration.milliseconds(10_500)), (290, nil), (298, nil)])
    func aRetryIsPostponedWithinTheElapsedLimitOnly(elapsed: Int, delay: Duration?) {
        let policy = policy(RetryBudget(ratio: 0, minimumPerSecond: 1, clock: clock))
        for _ in 0..<10 { _ = outcome(policy, failure()) }
        let outcome = outcome(policy, failure(elapsed: .seconds(elapsed)))
        #expect(outcome == (delay.map { .retry($0, observers: 0) } ?? .fail(.retryBudgetExhausted)))
    }

    @Test func aRetryThatAnotherGuardRefusesCostsNothing() {
        let budget = RetryBudget(clock: clock)
        let policy = policy(budget)
        let late = Duration.milliseconds(299_500)
        for failure in [
            failure(attempt: 4), failure(elapsed: .seconds(301)), failure(elapsed: late),
            failure(RequestError(.badURL, stage: .transfer)), failure(isReplayable: false), failure(status: 404),
        ] {
            #expect(outcome(policy, failure) != .retry(.seconds(1), observers: 0))
        }
        #expect(budget.balance(of: url) == 100)
    }

    @Test func manyWhomTheServerAskedForTheSameWaitDoNotComeAllAtOnce() {
        let policy = policy(RetryBudget(clock: clock))
        let head = ResponseHead(status: 503, url: url, fields: [("Retry-After", "60")])
        let failure = failure(RequestError(.unacceptableStatus, stage: .validate, head: head))
        let delays = (0..<1000).compactMap { _ in
            if case .retry(let delay, _, _, _) = policy.decision(after: failure, using: .system) { delay } else { nil }
        }
        #expect(delays.first == .seconds(60) && delays.min() == .seconds(60) && delays.count == 1000)
        for second in 60..<180 {
            let ten = Duration.seconds(second)..<Duration.seconds(second + 10)
            #expect(delays.count { ten.contains($0) } <= 100)
        }
    }

    @Test func withoutABudgetRetriesAreNotBounded() {
        let policy = policy(nil)
        for _ in 0..<1000 { #expect(outcome(policy, failure()) == .retry(.seconds(1), observers: 0)) }
    }

    @Test(arguments: [-1, 0, Double.nan, -Double.infinity])
    func numbersThatAllowNothingAllowNothing(number: Double) {
        let budget = RetryBudget(ratio: number, minimumPerSecond: number, clock: clock)
        budget.countRequest(to: url, on: .none)
        #expect(budget.balance(of: url) == 0)
        #expect(outcome(policy(budget), failure()) == .fail(.retryBudgetExhausted))
    }

    @Test func numbersBeyondAllBoundsAllowEverything() {
        let budget = RetryBudget(
            ratio: .infinity, minimumPerSecond: .greatestFiniteMagnitude, window: .seconds(Int64.max), clock: clock)
        #expect(budget.balance(of: url) > 1_000_000)
        #expect(outcome(policy(budget), failure()) == .retry(.seconds(1), observers: 0))
    }

    // MARK: Early retry

    @Test func whereThereIsRoomTheObserversMayEndTheWait() {
        var policy = policy(RetryBudget(clock: clock))
        policy.earlyRetryObservers = [Unending(), Unending()]
        #expect(outcome(policy, failure()) == .retry(.seconds(1), observers: 2))
    }

    @Test func noObserverBringsARetryForwardForWhichThereIsNoRoom() {
        var policy = policy(RetryBudget(ratio: 0, minimumPerSecond: 0.1, clock: clock))
        policy.earlyRetryObservers = [Unending()]
        _ = outcome(policy, failure())
        #expect(outcome(policy, failure()) == .retry(.milliseconds(10_500), observers: 0))
    }

    @Test func theRecoveryOfItsHostMayBringForwardARetryForWhichThereIsNoRoom() {
        var policy = policy(RetryBudget(ratio: 0, minimumPerSecond: 0.1, clock: clock))
        policy.earlyRetryObservers = [HostRecoveryObserver(), Unending(), ReachabilityObserver(path: NetworkPath())]
        _ = outcome(policy, failure())
        #expect(outcome(policy, failure()) == .retry(.milliseconds(10_500), observers: 2))
    }

    @Test func aSignThatComesBeforeThereIsRoomCountsWhenThereIs() async throws {
        struct Immediate: EarlyRetryObserver {
            func wait(after failure: AttemptFailure) async throws {}
        }
        var policy = policy(RetryBudget(ratio: 0, minimumPerSecond: 0.1, clock: clock))
        policy.backoff = .constant(.seconds(60))
        policy.earlyRetryObservers = [Immediate()]
        _ = outcome(policy, failure())
        guard case .retry(let delay, let observers, _, _) = policy.decision(after: failure(), using: .system) else {
            Issue.record("no retry")
            return
        }
        #expect(delay == .seconds(60))
        let waiting = Task { [clock, failure = failure()] in
            try await RetryWait().run(.seconds(60), or: observers, after: failure, clock: clock)
        }
        // The backoff, and the observer that has its sign.
        await clock.sleepers(2)
        clock.advance(by: .milliseconds(10_500))
        #expect(try await waiting.value == .observer("Immediate"))
    }

    @Test func aSignOfThisPackagesOwnThatComesWhileAWaitIsHeldBackCostsNoTask() async throws {
        let path = NetworkPath(.unreachable)
        let observer = HeldBackObserver(observer: ReachabilityObserver(path: path, spread: .zero), delay: .seconds(10))
        let waiting = Task { [clock, failure = failure()] in
            try await RetryWait().run(.seconds(60), or: [observer], after: failure, clock: clock)
        }
        await clock.sleepers(1)
        #expect(path.waitingCount == 1)
        path.update(.reachable(.wired))
        await clock.sleepers(2)
        clock.advance(by: .seconds(10))
        #expect(try await waiting.value == .observer("ReachabilityObserver"))
    }

    // MARK: Tokens

    @Test func aRetryCostsItsTokens() {
        let budget = RetryBudget.tokens()
        let policy = policy(budget)
        #expect(budget.balance(of: url) == 500 && budget.mode == .failing)
        _ = outcome(policy, failure(status: 503))
        #expect(budget.balance(of: url) == 495)
        _ = outcome(policy, failure(RequestError(.timedOut, stage: .transfer)))
        #expect(budget.balance(of: url) == 485)
        _ = outcome(policy, failure(status: 429))
        #expect(budget.balance(of: url) == 480)
    }

    /// The vectors of botocore's retry mode of 2026.
    @Test func aSeriesOfFailuresDrawsUponTheQuotaAsInOtherClients() {
        let budget = RetryBudget.tokens(cost: 14, timeoutCost: 14, throttlingCost: 5)
        let policy = policy(budget)
        _ = outcome(policy, failure(status: 500))
        #expect(budget.balance(of: url) == 486)
        _ = outcome(policy, failure(attempt: 2, status: 500))
        #expect(budget.balance(of: url) == 472)
        _ = outcome(policy, failure(status: 429))
        #expect(budget.balance(of: url) == 467)
    }

    @Test func withoutTokensTheRequestFails() {
        let policy = policy(.tokens(capacity: 5))
        #expect(outcome(policy, failure(status: 503)) == .retry(.seconds(1), observers: 0))
        #expect(outcome(policy, failure(status: 503)) == .fail(.retryBudgetExhausted))
    }

    // MARK: The shared budget

    @Test func thePoliciesDefaultIsTheSharedBudget() {
        #expect(RetryPolicy().budget != nil && RetryPolicy.aggressive.budget != nil)
        #expect(RetryPolicy.ancestor.budget == nil)
    }

    @Test func theSharedBudgetCountsRealTimeOnly() async throws {
        let url = try #require(request("virtual-time").url)
        let policy = RetryPolicy(backoff: .constant(.seconds(1)))
        for _ in 0..<200 { #expect(outcome(policy, failure(to: url)) == .retry(.seconds(1), observers: 0)) }
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.retryPolicy.budget = .shared
        configuration.clock = clock
        for _ in 0..<5 { _ = try await run(URLRequestOperation(url, configuration: configuration)) }
        #expect(RetryBudget.shared.balance(of: url) == 100)
    }

    @Test func aBudgetForRealTimeCountsWhatHappensInIt() async throws {
        let terms = RetryLedger.Terms.window(
            RetryWindow.Terms(ratio: 0.2, reserve: 100, window: 10_000_000_000), .delaying)
        // Its window stands still.
        let budget = RetryBudget(RetryLedger(terms, clock: clock, isForRealTimeOnly: true))
        _ = outcome(policy(budget), failure(on: .real))
        _ = outcome(policy(budget), failure())
        #expect(budget.balance(of: url) == 99)
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.retryPolicy.budget = budget
        for _ in 0..<5 { _ = try await run(URLRequestOperation(url, configuration: configuration)) }
        configuration.clock = clock
        for _ in 0..<5 { _ = try await run(URLRequestOperation(url, configuration: configuration)) }
        #expect(budget.balance(of: url) == 100)
    }

    // MARK: What is kept

    @Test func hostsThatAreNotUsedAnyMoreAreForgotten() {
        let ledger = RetryLedger(
            .window(RetryWindow.Terms(ratio: 0.2, reserve: 100, window: 10_000_000_000), .delaying), clock: clock)
        for number in 0..<10_000 {
            if number.isMultiple(of: 100) { clock.advance(by: .seconds(10)) }
            ledger.countRequest(to: request("host\(number)").url)
        }
        #expect(ledger.count < 300)
    }

    @Test func manyThreadsDrawNoMoreThanThereIs() async {
        let budget = RetryBudget(mode: .failing, clock: clock)
        let policy = policy(budget)
        let failure = failure()
        let granted = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<100).count { _ in
                        if case .retry = policy.decision(after: failure, using: .system) { true } else { false }
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(granted == 100)
    }
}
