import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct FreshnessTests {
    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `A request is processed again at most once whatever the freshness`(freshness: Duration) async throws {
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

    @Test func `A request that waited too long for its slot is processed again`() async throws {
        let clock = ManualClock()
        let limiter = RequestLimiter(total: 1)
        let answer = Door()
        let occupied = ScriptedTransport([
            .dynamic { _ in
                await answer.pass()
                return .body(Data())
            }
        ])
        var slow = RequestConfiguration.over(occupied)
        slow.limiter = limiter
        let first = URLRequestOperation(anyRequest, configuration: slow)
        OperationQueue().addOperation(first)
        await occupied.requests(atLeast: 1)

        let transport = ScriptedTransport([.body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.limiter = limiter
        configuration.clock = clock
        let waitsForSlot = Door()
        configuration.onEvent = { if case .waitsForSlot = $0.step { waitsForSlot.open() } }
        let tokens = Locked(0)
        configuration.adapters = [
            .bearerToken {
                tokens.withLock { token in
                    token += 1
                    return "\(token)"
                }
            }
        ]
        let second = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(second)
        await waitsForSlot.pass()
        clock.advance(by: .seconds(31))
        answer.open()
        _ = try await second.value
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "Authorization") } == ["Bearer 2"])
    }
}
