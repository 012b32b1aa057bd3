import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct TimelineTests {
    private let url = URL(string: "https://example.invalid/a?token=canary&page=2")!

    private func configuration(_ transport: any Transport, retries: Int = 3) -> RequestConfiguration {
        var configuration = RequestConfiguration()
        configuration.transport = transport
        configuration.hosts = HostRegistry()
        configuration.retryPolicy = RetryPolicy(maximumRetries: retries, backoff: .constant(.milliseconds(5)))
        return configuration
    }

    private func run(_ configuration: RequestConfiguration) async -> URLRequestOperation<Data> {
        let operation = URLRequestOperation(url, configuration: configuration)
        OperationQueue().addOperation(operation)
        _ = try? await operation.value
        return operation
    }

    @Test func `An operation that has not begun has no timeline`() {
        #expect(URLRequestOperation(url).timeline == nil)
    }

    @Test func `A success after a retry has both attempts, the wait and its reason`() async throws {
        let operation = await run(configuration(ScriptedTransport([.status(503), .body(Data("1".utf8))])))
        let timeline = try #require(operation.timeline)
        guard case .succeeded = timeline.outcome else {
            Issue.record("\(timeline)")
            return
        }
        #expect(timeline.attempts.map(\.status) == [503, 200])
        #expect(timeline.attemptCount == 2)
        #expect(timeline.attempts[1].waitReason == .backoff)
        #expect(timeline.attempts[1].phases.first?.kind == .backoff)
        #expect(try #require(timeline.duration) >= timeline.attempts[1].ended ?? .zero)
        #expect(timeline.id == operation.id && timeline.method == "GET")
    }

    @Test func `A failure says its code and why it was not retried`() async throws {
        let timeline = try #require(await run(configuration(ScriptedTransport([.status(503)]), retries: 1)).timeline)
        #expect(timeline.failureCode == "unacceptableStatus")
        #expect(timeline.notRetried == "2 of 2 attempts")
        #expect(timeline.status == 503)
    }

    @Test func `A cancelled request is neither a success nor a failure`() async throws {
        let transport = ScriptedTransport([.stall])
        let operation = URLRequestOperation(url, configuration: configuration(transport))
        OperationQueue().addOperation(operation)
        await transport.requests(atLeast: 1)
        operation.cancel()
        _ = try? await operation.value
        guard case .cancelled? = operation.timeline?.outcome else {
            Issue.record("\(String(describing: operation.timeline))")
            return
        }
    }

    @Test func `The phases of attempts follow one another until the end`() async throws {
        let server = try await LoopbackServer.start()
        defer { server.stop() }
        server.route("/", .status(503), .text("done"))
        var configuration = configuration(RequestConfiguration().transport)
        configuration.limiter = RequestLimiter(total: 1)
        let operation = URLRequestOperation(server.url, configuration: configuration)
        OperationQueue().addOperation(operation)
        _ = try await operation.value
        let timeline = try #require(operation.timeline)
        let phases = timeline.attempts.flatMap(\.phases)
        var end = Duration.zero
        for phase in phases {
            #expect(phase.start >= end && phase.duration > .zero, "\(phase)")
            end = phase.start + phase.duration
        }
        #expect(end == timeline.attempts.last?.ended)
        #if os(Linux)
            #expect(Set(phases.map(\.kind)).isSuperset(of: [.prepare, .backoff, .connect, .firstByte]))
        #endif
    }

    @Test func `A wait for a host that asked to be left alone is a phase of its own`() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(503, fields: [("Retry-After", "10")]), .body(Data())])
        var configuration = configuration(transport, retries: 0)
        configuration.clock = clock
        configuration.hosts = HostRegistry(clock: clock)
        let operations = (1...2).map { [configuration] _ in URLRequestOperation(url, configuration: configuration) }
        for operation in operations { _ = try? await clock.run(operation) }
        let attempt = try #require(operations[1].timeline?.attempts.first)
        let wait = try #require(attempt.phases.first { $0.kind == .host })
        #expect(wait.duration >= .seconds(9) && wait.duration == attempt.waitedForHost)
    }

    @Test func `A timeline shows no credentials`() async throws {
        let timeline = try #require(await run(configuration(ScriptedTransport([.status(404)]))).timeline)
        #expect(timeline.url == "https://example.invalid/a?token=redacted&page=2")
        #expect(timeline.origin == "https://example.invalid")
        var dumped = ""
        dump(timeline, to: &dumped)
        for text in [dumped, "\(timeline)", String(reflecting: timeline)] { #expect(!text.contains("canary")) }
    }
}
