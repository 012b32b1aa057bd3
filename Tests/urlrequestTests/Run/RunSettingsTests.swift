import RequestOperations
import Testing

@testable import urlrequest

@Suite struct RunSettingsTests {
    @Test func `Connecting may take the whole time of an attempt`() {
        var settings = RunSettings()
        settings.timeout = .seconds(120)
        #expect(settings.configuration.connectTimeLimit == .seconds(120))
    }

    @Test func `A server is waited for as long as five minutes`() {
        #expect(delay(asked: 300) == .seconds(300))
        #expect(delay(asked: 301) == nil)
    }

    @Test func `A server is waited for no longer than the deadline`() {
        #expect(delay(asked: 60, timeLeft: .seconds(61)) == .seconds(60))
        #expect(delay(asked: 60, timeLeft: .seconds(60)) == nil)
    }

    @Test func `A server is waited for however long the request has taken already`() {
        #expect(delay(asked: 60, elapsed: .seconds(86_400)) == .seconds(60))
    }

    @Test func `As many retries are made as were asked for, whatever other requests do`() {
        let policy = RunSettings().configuration.retryPolicy
        #expect(policy.budget == nil && policy.retryAfterTable == nil && policy.circuitBreaker == nil)
    }

    /// The delay before the next attempt if a server asks for one; `nil` if there is none.
    private func delay(asked seconds: Int, timeLeft: Duration? = nil, elapsed: Duration = .zero) -> Duration? {
        let busy = ResponseHead(
            status: 503, url: URL(fileURLWithPath: "/"), fields: [("Retry-After", String(seconds))])
        let failure = AttemptFailure(
            RequestError(.unacceptableStatus, stage: .validate), request: URLRequest(url: busy.url), head: busy,
            elapsed: elapsed, timeLeft: timeLeft)
        let decision = RunSettings().configuration.retryPolicy.decision(after: failure, using: .system)
        guard case .retry(let delay, _, _, _) = decision else { return nil }
        return delay
    }
}
