import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct HostSilenceTests {
    private let clock = ManualClock()
    private let url = URL(string: "http://busy.invalid/a")!  // A literal that is a URL.
    private let other = URL(string: "http://busy.invalid/b")!  // A literal that is a URL.

    @Test func `A host is left alone until the wait is over`() {
        let table = KnownSilences(clock: clock)
        #expect(table.timeLeft(for: url) == .zero)
        table.note(.seconds(7), for: url)
        #expect(table.timeLeft(for: url) == .seconds(7) && table.timeLeft(for: other) == .seconds(7))
        clock.advance(by: .seconds(6))
        #expect(table.timeLeft(for: url) == .seconds(1))
        clock.advance(by: .seconds(1))
        #expect(table.timeLeft(for: url) == .zero)
        clock.advance(by: .seconds(1))
        #expect(table.timeLeft(for: url) == .zero)
    }

    @Test func `The longer of two waits counts`() {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(7), for: url)
        table.note(.seconds(3), for: url)
        #expect(table.timeLeft(for: url) == .seconds(7))
        table.note(.seconds(9), for: url)
        #expect(table.timeLeft(for: url) == .seconds(9))
    }

    @Test(arguments: ["https://busy.invalid/", "http://busy.invalid:8080/", "http://other.invalid/"])
    func `Another origin is not concerned`(text: String) throws {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(7), for: url)
        #expect(table.timeLeft(for: try #require(URL(string: text))) == .zero)
    }

    @Test(arguments: [0, -5])
    func `No wait is none to note`(seconds: Int) {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(seconds), for: url)
        #expect(table.hostCount == 0)
    }

    @Test func `An endless wait is one too`() {
        let table = KnownSilences(clock: clock)
        clock.advance(by: .seconds(5))
        table.note(.seconds(Int64.max), for: url)
        #expect(table.timeLeft(for: url) > .seconds(9_000_000_000))
    }

    @Test(arguments: [(7.0, 0.7), (20, 2), (30, 3), (300, 3)])
    func `Those who were not told are spread over a tenth more`(seconds: Double, spread: Double) {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(seconds), for: url)
        let random = RandomSource(seed: 4)
        let waits = (0..<200).map { _ in
            PlannedWait.spread(table.timeLeft(for: url), within: .seconds(Int64.max), using: random).inSeconds
        }
        #expect(waits.allSatisfy { $0 >= seconds && $0 <= seconds + spread })
        #expect(waits.contains { $0 < seconds + spread * 0.1 } && waits.contains { $0 > seconds + spread * 0.9 })
    }

    @Test func `No deadline is missed by the spread`() {
        let random = RandomSource(seed: 4)
        let waits = (0..<200).map { _ in
            PlannedWait.spread(.seconds(100), within: .milliseconds(100_200), using: random)
        }
        #expect(waits.allSatisfy { $0 >= .seconds(100) && $0 < .milliseconds(100_200) })
        #expect(PlannedWait.spread(.seconds(100), within: .seconds(50), using: random) == .seconds(100))
    }

    @Test func `Where nobody asked nobody waits`() {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(7), for: url)
        clock.advance(by: .seconds(7))
        #expect(table.timeLeft(for: url) == .zero)
    }

    @Test func `Hosts whose wait is over are forgotten`() {
        let table = KnownSilences(clock: clock)
        for number in 0..<1000 {
            clock.advance(by: .seconds(1))
            table.note(.seconds(2), for: URL(string: "http://h\(number).invalid/")!)  // Names of hosts make a URL.
        }
        #expect(table.hostCount <= 64)
    }

    // MARK: A policy that heeds it

    @Test func `A retry keeps to what another request was told`() {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(10), for: url)
        let policy = RetryPolicy(backoff: .constant(.seconds(1)))
        let failure = AttemptFailure(RequestError(.timedOut, stage: .transfer), request: URLRequest(url: other))
        guard
            case .retry(let delay, _, _, _, _) = policy.planned(
                after: failure, in: clock.hosts, using: RandomSource(seed: 1))
        else {
            Issue.record("no retry")
            return
        }
        #expect(delay >= .seconds(10) && delay <= .seconds(11))
    }

    @Test func `A longer backoff stays`() {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(10), for: url)
        let policy = RetryPolicy(backoff: .constant(.seconds(60)))
        let failure = AttemptFailure(RequestError(.timedOut, stage: .transfer), request: URLRequest(url: other))
        guard case .retry(let delay, _, _, _, _) = policy.planned(after: failure, in: clock.hosts) else {
            Issue.record("no retry")
            return
        }
        #expect(delay == .seconds(60))
    }

    @Test func `A retry whose elapsed limit comes first fails at once and says so`() {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(100), for: url)
        let policy = RetryPolicy(backoff: .constant(.seconds(1)))
        let failure = AttemptFailure(
            RequestError(.timedOut, stage: .transfer), request: URLRequest(url: url), elapsed: .seconds(250))
        guard case .fail(let error as RequestError) = policy.planned(after: failure, in: clock.hosts) else {
            Issue.record("it goes on")
            return
        }
        #expect(error.code == .retryAfterTooLong && (error.underlying as? RequestError)?.code == .timedOut)
    }

    /// The failure of an attempt that was not sent.
    private func neverSent(timeLeft: Duration? = nil) -> AttemptFailure {
        AttemptFailure(
            RequestError(.timedOut, stage: .process), attempt: 1, request: URLRequest(url: url), stage: .process,
            head: nil, requestMayHaveBeenProcessed: false, bodyIsReplayable: true, backoffStep: 1, elapsed: .zero,
            timeLeft: timeLeft, date: Date(), uncounted: 0, redirect: nil, wasRefused: false, wasSent: false)
    }

    @Test func `What was never sent is only delayed until the table forgets`() {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(9999), for: url, keeping: .seconds(200))
        var policy = RetryPolicy(backoff: .constant(.seconds(1)))
        policy.budget = nil
        policy.maximumRetryAfter = .seconds(5)
        policy.elapsedLimit = .seconds(5)
        guard case .retry(let delay, _, _, _, _) = policy.planned(after: neverSent(), in: clock.hosts) else {
            Issue.record("no retry")
            return
        }
        #expect(delay >= .seconds(200) && delay <= .seconds(203))
        guard
            case .fail(let error as RequestError) = policy.planned(
                after: neverSent(timeLeft: .seconds(199)), in: clock.hosts)
        else {
            Issue.record("it goes on")
            return
        }
        #expect(error.code == .retryAfterTooLong)
    }

    @Test func `A wait that is too long to be kept gives way to the last word of the host`() {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(86400), for: url, keeping: .seconds(300))
        clock.advance(by: .seconds(290))
        table.note(.seconds(120), for: url, keeping: .seconds(300))
        #expect(table.timeLeft(for: url) == .seconds(120))
        clock.advance(by: .seconds(120))
        #expect(table.timeLeft(for: url) == .zero)
    }

    @Test func `A shorter answer keeps no wait for longer`() {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(200), for: url, keeping: .seconds(300))
        table.note(.seconds(100), for: url, keeping: .seconds(300))
        clock.advance(by: .seconds(200))
        #expect(table.timeLeft(for: url) == .zero)
    }

    @Test func `What was forgotten makes no later wait longer`() {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(9999), for: url, keeping: .seconds(300))
        clock.advance(by: .seconds(300))
        table.note(.seconds(5), for: url, keeping: .seconds(300))
        #expect(table.timeLeft(for: url) == .seconds(5))
    }

    @Test func `A sign counts when the host need not be left alone any longer`() async throws {
        let table = KnownSilences(clock: clock)
        table.note(.seconds(10), for: url)
        let path = NetworkPath(.unreachable)
        var policy = RetryPolicy(backoff: .constant(.seconds(60)))
        policy.budget = nil
        policy.earlyRetryObservers = [ReachabilityObserver(path: path, spread: .zero)]
        let failure = AttemptFailure(RequestError(.timedOut, stage: .transfer), request: URLRequest(url: url))
        guard case .retry(let delay, let observers, _, _, _) = policy.planned(after: failure, in: clock.hosts) else {
            Issue.record("no retry")
            return
        }
        let waiting = Task { [clock] in
            try await RetryWait(on: RequestClock(clock)).run(delay, or: observers, after: failure, in: clock.hosts)
        }
        await clock.sleepers(1)
        path.update(.reachable(.wired))
        await clock.sleepers(2)
        clock.advance(by: .milliseconds(9_999))
        #expect(clock.sleeperCount == 2)
        // Up to a tenth more, as for all who were not told themselves.
        clock.advance(by: .milliseconds(1_001))
        #expect(try await waiting.value == .observer("ReachabilityObserver"))
    }
}
