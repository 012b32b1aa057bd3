import RequestOperations
import RequestOperationsTesting
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct RunSettingsTests {
    @Test func `Connecting may take the whole time of an attempt`() {
        var settings = RunSettings()
        settings.timeout = .seconds(120)
        #expect(settings.configuration.connectTimeLimit == .seconds(120))
    }

    @Test func `What the input says may be sent again by the transport`() async throws {
        let line = "http://a.example/"
        let input = try RequestTemplate().request(fromURL: line, id: 1)
        let operation = InputOperation(input, configuration: RunSettings().configuration, savingAt: nil)
        #expect(try await operation.makeTask(for: input.request).mayBeSentAgain == true)
    }

    @Test func `A server is waited for as long as five minutes`() {
        #expect(delay(asked: 300) == .seconds(300))
        #expect(delay(asked: 301) == nil)
    }

    @Test func `A server is waited for no longer than the deadline`() {
        #expect(delay(asked: 60, timeLeft: .seconds(61)) == .seconds(60))
        #expect(delay(asked: 60, timeLeft: .seconds(60)) == nil)
    }

    @Test func `A retry that stood in a long line is made all the same`() {
        #expect(delay(asked: 60, elapsed: .seconds(100_000)) == .seconds(60))
    }

    @Test func `A host that only ever answers 429 does not keep a request for ever`() async {
        let clock = ManualClock()
        var configuration = RunSettings().configuration
        configuration.transport = ScriptedTransport([.status(429, fields: [("Retry-After", "1")])])
        configuration.clock = clock
        configuration.attemptTimeLimit = nil
        // A literal that is a URL.
        let operation = URLRequestOperation(URL(string: "http://limited.invalid/")!, configuration: configuration)
        OperationQueue().addOperation(operation)
        while !operation.isFinished {
            if clock.sleeperCount > 0 { clock.advance(by: .seconds(1)) }
            await Task.yield()
        }
        // A hundred that are free, and then the first attempt and three retries.
        #expect(operation.attempts.last?.number == 104)
    }

    @Test func `Requests share what a host asks for, and the budget of retries`() {
        let policy = RunSettings().configuration.retryPolicy
        #expect(policy.budget != nil && policy.sharesRetryAfter && policy.sharesTooManyRequests)
    }

    @Test func `Retries are early unless that is turned off`() {
        var settings = RunSettings()
        #expect(settings.configuration.retryPolicy.earlyRetryObservers.count == 2)
        settings.retriesEarly = false
        #expect(settings.configuration.retryPolicy.earlyRetryObservers.isEmpty)
    }

    @Test func `The rate is that of each host`() {
        var settings = RunSettings()
        settings.rate = 2.5
        #expect(settings.limiter.rate == .perSecond(2.5) && settings.limiter.scope == .host)
    }

    @Test func `The limiter of the queue bounds the attempts in all and to each host, and minds the status 429`() {
        var settings = RunSettings()
        (settings.concurrency, settings.perHost) = (7, 3)
        let limiter = settings.limiter
        #expect(limiter.total == 7 && limiter.perHost == 3 && limiter.adaptsToTooManyRequests)
    }

    @Test func `The requests have no limiter besides that of the queue`() {
        #expect(RunSettings().configuration.limiter == nil)
    }

    /// The delay before the next attempt if a server asks for one; `nil` if there is none.
    private func delay(asked seconds: Int, timeLeft: Duration? = nil, elapsed: Duration = .zero) -> Duration? {
        let busy = ResponseHead(
            status: 503, url: URL(fileURLWithPath: "/"), fields: [("Retry-After", String(seconds))])
        let failure = AttemptFailure(
            RequestError(.unacceptableStatus, stage: .validate), request: URLRequest(url: busy.url), head: busy,
            elapsed: elapsed, timeLeft: timeLeft)
        let decision = RunSettings().configuration.retryPolicy.decision(after: failure, using: .system)
        guard case .retry(let delay, _, _, _, _) = decision else { return nil }
        return delay
    }
}
