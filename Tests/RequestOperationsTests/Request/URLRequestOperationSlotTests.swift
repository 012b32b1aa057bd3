import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct URLRequestOperationSlotTests {
    @Test func `A request in backoff holds no slot`() async throws {
        let clock = ManualClock()
        let limiter = RequestLimiter(total: 1)
        var waiting = RequestConfiguration.scripted([.status(503), .body(Data())])
        waiting.clock = clock
        waiting.limiter = limiter
        let first = URLRequestOperation(anyRequest, configuration: waiting)
        OperationQueue().addOperation(first)
        await clock.sleepers(1)
        #expect(limiter.inFlightCount == 0)
        var others = RequestConfiguration.scripted([.body(Data())])
        others.limiter = limiter
        for _ in 1...20 { _ = try await run(URLRequestOperation(anyRequest, configuration: others)) }
        clock.advance(by: .seconds(60))
        _ = try await first.value
    }

    @Test func `The decoder holds no slot`() async throws {
        let limiter = RequestLimiter(total: 1)
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.limiter = limiter
        let count = try await run(
            URLRequestOperation(
                anyRequest, decoder: ResponseDecoder { _ in limiter.inFlightCount }, configuration: configuration))
        #expect(count == 0)
    }

    @Test func `A redirect to another host never holds two slots`() async throws {
        let limiter = RequestLimiter(total: 1)
        var configuration = RequestConfiguration.scripted([
            .status(302, fields: [("Location", "http://other.invalid/")]), .body(Data("x".utf8)),
        ])
        configuration.limiter = limiter
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
        #expect(limiter.inFlightCount == 0)
    }
}
