import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct RetryBudgetTests: BudgetTests {
    let clock = ManualClock()
    let url = URL(string: "https://a.example/x")!  // A literal that is a URL.

    // MARK: A bucket

    @Test func `The defaults are twenty percent and ten a second`() {
        let budget = KnownBudget(clock: clock)
        #expect(budget.balance(of: url) == 100 && budget.budget.mode == .delaying)
        for _ in 0..<20 { _ = budget.draw(to: url) }
        for _ in 0..<50 { budget.countRequest(to: url) }
        #expect(budget.balance(of: url) == 90)
    }

    @Test func `What is left is visible`() {
        let budget = KnownBudget(clock: clock)
        for _ in 0..<30 { #expect(budget.draw(to: url)?.wait == .zero) }
        #expect(budget.balance(of: url) == 70)
        clock.advance(by: .seconds(1))
        #expect(budget.balance(of: url) == 80)
        clock.advance(by: .seconds(2))
        #expect(budget.balance(of: url) == 100)
    }

    @Test func `Each origin has a budget of its own`() {
        let budget = KnownBudget(clock: clock)
        _ = budget.draw(to: url)
        for other in ["http://a.example/x", "https://a.example:8443/x", "https://b.example/x"] {
            #expect(budget.balance(of: URL(string: other)!) == 100)  // Literals that are URLs.
        }
        for same in ["https://a.example", "https://A.example/y?z", "https://a.example:443/x", "https://u:p@a.example/"]
        {
            #expect(budget.balance(of: URL(string: same)!) == 99)  // Literals that are URLs.
        }
    }

    @Test func `Equal budgets of one registry are one`() {
        _ = KnownBudget(clock: clock).draw(to: url)
        _ = KnownBudget(clock: clock).draw(to: url)
        #expect(KnownBudget(clock: clock).balance(of: url) == 98)
        #expect(KnownBudget(ratio: 0.1, clock: clock).balance(of: url) == 100)
        #expect(HostRegistry(clock: clock).retriesLeft(to: url) == 100)
    }

    @Test func `A failing budget that is empty fails the request and says why`() {
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 0.1, mode: .failing, clock: clock)
        let policy = policy(budget)
        #expect(outcome(policy, failure()) == .retry(.seconds(1), observers: 2))
        _ = budget.draw(to: url)
        #expect(budget.draw(to: url) == nil)
        guard case .fail(let error as RequestError) = policy.planned(after: failure(status: 503), in: clock.hosts)
        else {
            Issue.record("it goes on")
            return
        }
        #expect(error.code == .retryBudgetExhausted && error.head?.status == 503)
        #expect((error.underlying as? RequestError)?.code == .unacceptableStatus)
    }

    @Test func `A delaying budget that is empty postpones the retry`() {
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 1, clock: clock)
        for _ in 0..<10 { #expect(budget.draw(to: url)?.wait == .zero) }
        #expect(budget.draw(to: url)?.wait == .seconds(1))
        #expect(budget.draw(to: url)?.wait == .seconds(2))
    }

    @Test(arguments: [(289, true), (299, false)])
    func `A retry is postponed within the elapsed limit only`(elapsed: Int, isRetried: Bool) {
        let budget = KnownBudget(ratio: 0, minimumPerSecond: 1, clock: clock)
        for _ in 0..<10 { _ = budget.draw(to: url) }
        let outcome = outcome(policy(budget), failure(elapsed: .seconds(elapsed) - .milliseconds(1)))
        #expect(outcome == (isRetried ? .retry(.seconds(1), observers: 2) : .fail(.retryBudgetExhausted)))
    }

    @Test func `No decision costs anything`() {
        let budget = KnownBudget(clock: clock)
        for failure in [failure(), failure(attempt: 4), failure(isReplayable: false), failure(status: 404)] {
            _ = outcome(policy(budget), failure)
        }
        #expect(budget.balance(of: url) == 100)
    }

    @Test func `Without a budget retries are not bounded`() {
        for _ in 0..<1000 { #expect(outcome(policy(nil), failure()) == .retry(.seconds(1), observers: 2)) }
    }

    @Test(arguments: [-1, 0, Double.nan, -Double.infinity])
    func `Numbers that allow nothing allow nothing`(number: Double) {
        let budget = KnownBudget(ratio: number, minimumPerSecond: number, clock: clock)
        budget.countRequest(to: url)
        #expect(budget.balance(of: url) == 0)
        #expect(outcome(policy(budget), failure()) == .fail(.retryBudgetExhausted))
    }

    @Test func `Numbers beyond all bounds allow everything`() {
        let budget = KnownBudget(
            ratio: .infinity, minimumPerSecond: .greatestFiniteMagnitude, window: .seconds(Int64.max), clock: clock)
        #expect(budget.balance(of: url) > 1_000_000)
        #expect(outcome(policy(budget), failure()) == .retry(.seconds(1), observers: 2))
    }

    @Test func `A sign of this packages own that comes while a wait is held back costs no task`() async throws {
        let path = NetworkPath(.unreachable)
        let observer = DelayedObserver(observer: ReachabilityObserver(path: path, spread: .zero), delay: .seconds(10))
        let waiting = Task { [clock, failure = failure()] in
            try await RetryWait(on: RequestClock(clock)).run(
                .seconds(60), or: [observer], after: failure, in: clock.hosts)
        }
        await clock.sleepers(1)
        #expect(path.waitingCount == 1)
        path.update(.reachable(.wired))
        await clock.sleepers(2)
        clock.advance(by: .seconds(10))
        #expect(try await waiting.value == .observer("ReachabilityObserver"))
    }

    // MARK: Tokens

    @Test func `A retry costs its tokens`() {
        let budget = KnownBudget.tokens()
        #expect(budget.balance(of: url) == 500 && budget.budget.mode == .failing)
        _ = budget.draw(to: url, after: RequestError(.unacceptableStatus, stage: .validate), status: 503)
        #expect(budget.balance(of: url) == 495)
        _ = budget.draw(to: url)
        #expect(budget.balance(of: url) == 485)
        _ = budget.draw(to: url, after: RequestError(.unacceptableStatus, stage: .validate), status: 429)
        #expect(budget.balance(of: url) == 480)
    }

    /// The vectors of botocore's retry mode of 2026.
    @Test func `A series of failures draws upon the quota as in other clients`() {
        let budget = KnownBudget.tokens(cost: 14, timeoutCost: 14, throttlingCost: 5)
        let error = RequestError(.unacceptableStatus, stage: .validate)
        for (status, left) in [(500, 486), (500, 472), (429, 467)] {
            _ = budget.draw(to: url, after: error, status: status)
            #expect(budget.balance(of: url) == left)
        }
    }

    @Test func `Without tokens a retry is refused`() {
        let budget = KnownBudget.tokens(capacity: 10)
        #expect(budget.draw(to: url) != nil && budget.draw(to: url) == nil)
    }

    // MARK: Requests that are no operations

    @Test func `What is made without an operation draws on the same budget`() {
        let hosts = HostRegistry(clock: clock)
        let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
        for _ in 0..<3 { hosts.countRequest(to: url, under: budget) }
        #expect(hosts.retriesLeft(to: url, under: budget) == 3)
        for _ in 0..<3 { #expect(hosts.drawRetry(to: url, under: budget) == .zero) }
        #expect(hosts.drawRetry(to: url, under: budget) == nil)
    }

    // MARK: What is kept

    @Test func `The policies default is a budget`() {
        #expect(RetryPolicy().budget != nil && RetryPolicy.aggressive.budget != nil)
        #expect(RetryPolicy.endless.budget == nil)
    }

    @Test func `Hosts that are not used any more are forgotten`() {
        let budget = KnownBudget(clock: clock)
        for number in 0..<10_000 {
            if number.isMultiple(of: 100) { clock.advance(by: .seconds(10)) }
            budget.countRequest(to: request("host\(number)").url ?? url)
        }
        #expect(clock.hosts.hostCount < 300)
    }

    @Test func `Many threads draw no more than there is`() async {
        let budget = KnownBudget(mode: .failing, clock: clock)
        let granted = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { [url] in (0..<100).count { _ in budget.draw(to: url) != nil } }
            }
            return await group.reduce(0, +)
        }
        #expect(granted == 100)
    }
}
