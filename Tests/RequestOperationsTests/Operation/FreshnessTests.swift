import RequestOperations
import RequestOperationsTesting
import Testing

@Suite struct FreshnessTests {
    @Test(arguments: [Duration.zero, .seconds(-1)])
    func aRequestIsProcessedAgainAtMostOnceWhateverTheFreshness(freshness: Duration) async throws {
        let processed = Collector<Void>()
        var configuration = RequestConfiguration.scripted([.status(200)])
        configuration.limiter = RequestLimiter(total: 1)
        configuration.freshness = freshness
        configuration.adapters = [
            RequestAdapter { request in
                processed.append(())
                guard processed.elements.count < 9 else { throw RequestError(.unknown, stage: .process) }
                return request
            }
        ]
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
        #expect((1...2).contains(processed.elements.count))
    }
}
