import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(2))) struct ClientStatisticsTests {
    /// The totals of all requests so far. A request may have its value a moment before it is counted.
    private func totals(_ client: RequestClient) async throws -> TimelineSummary {
        await client.queue.finished()
        return try #require(client.statistics.totals)
    }

    @Test func `A client that records counts how its requests ended and why they were retried`() async throws {
        let transport = ScriptedTransport([.status(503), .body(Data("four".utf8)), .status(404), .body(Data())])
        let client = RequestClient(over: transport)
        client.recordsStatistics = true
        let _: String = try await client.get("a")
        await #expect(throws: RequestError.self) { let _: String = try await client.get("b") }
        let _: Data = try await client.get("c")
        let totals = try await totals(client)
        #expect(totals.succeeded == 2 && totals.failed == 1 && totals.cancelled == 0)
        #expect(totals.attempts == 4 && totals.retriesByReason == [.backoff: 1])
        #expect(totals.failures == ["unacceptableStatus": 1] && totals.statuses == [200: 2, 404: 1])
        #expect(totals.receivedBytes == 4)
    }

    @Test func `A client that does not record has no totals and still shows what it does`() async throws {
        let transport = ScriptedTransport([.stall])
        let client = RequestClient(over: transport)
        let operation: URLRequestOperation<Data> = client.operation(.get, "a")
        client.submit(operation)
        await transport.requests(atLeast: 1)
        let statistics = client.statistics
        #expect(statistics.totals == nil && statistics.running == 1 && statistics.waiting.isEmpty)
        #expect(statistics.hosts.map(\.origin) == ["http://example.invalid"])
        #expect(statistics.hosts.first?.running == 1)
        operation.cancel()
        _ = await client.shutdown()
        #expect(client.statistics.running == 0)
    }

    @Test func `A new recording begins at zero`() async throws {
        let client = RequestClient(over: ScriptedTransport([.body(Data())]))
        client.recordsStatistics = true
        let _: Data = try await client.get("a")
        _ = try await totals(client)
        client.recordsStatistics = true
        #expect(client.statistics.totals?.requests == 0)
        client.recordsStatistics = false
        #expect(client.statistics.totals == nil)
    }

    @Test func `Requests without a place wait in the queue, whose oldest has an age`() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.stall])
        let client = RequestClient(over: transport) { $0.clock = clock }
        client.queue.maxConcurrentOperationCount = 1
        let operations = (1...3).map { _ -> URLRequestOperation<Data> in client.operation(.get, "a") }
        for operation in operations { client.submit(operation) }
        await transport.requests(atLeast: 1)
        clock.advance(by: .seconds(7))
        let statistics = client.statistics
        #expect(statistics.running == 1 && statistics.waiting == [.queue: 2])
        #expect(statistics.queueDepth == 2 && statistics.oldestWait == .seconds(7))
        #expect(statistics.hosts.first?.waiting == 2)
        client.cancelAll()
    }

    @Test func `An operation that nobody has submitted does not count`() {
        let client = RequestClient(over: ScriptedTransport([.stall]))
        let operation: URLRequestOperation<Data> = client.operation(.get, "a")
        #expect(client.statistics.waiting.isEmpty && client.statistics.hosts.isEmpty)
        withExtendedLifetime(operation) {}
    }

    @Test func `A request in backoff waits for it, and one that a host put off for that host`() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(503), .status(503, fields: [("Retry-After", "60")]), .stall])
        let client = RequestClient(over: transport) {
            $0.clock = clock
            $0.retryPolicy.backoff = .constant(.seconds(5), jitter: .none)
            $0.retryPolicy.sharesRetryAfter = true
            $0.hosts = HostRegistry(clock: clock)
        }
        let first: URLRequestOperation<Data> = client.operation(.get, "a")
        client.submit(first)
        await transport.requests(atLeast: 1)
        await clock.sleepers(1)
        #expect(client.statistics.waiting == [.backoff: 1])
        clock.advance(by: .seconds(5))
        await transport.requests(atLeast: 2)
        await clock.sleepers(1)
        #expect(client.statistics.waiting == [.retryAfter: 1])
        let second: URLRequestOperation<Data> = client.operation(.get, "b")
        client.submit(second)
        await clock.sleepers(2)
        #expect(client.statistics.waiting == [.retryAfter: 1, .host: 1])
        let host = try #require(client.statistics.hosts.first)
        #expect(host.waiting == 2 && host.running == 0 && host.timeLeftAlone == .seconds(60))
        client.cancelAll()
    }

    @Test func `A host shows its circuit, its budget and its pace`() async throws {
        let breaker = CircuitBreaker(failureRatio: 0.5, minimumThroughput: 2)
        let client = RequestClient(over: ScriptedTransport([.status(503)])) {
            $0.retryPolicy.circuitBreaker = breaker
            $0.retryPolicy.budget = RetryBudget()
            $0.retryPolicy.maximumRetries = 1
            $0.limiter = RequestLimiter(rate: .perSecond(1000, burst: 10))
        }
        await #expect(throws: RequestError.self) { let _: Data = try await client.get("a") }
        let host = try #require(client.statistics.hosts.first)
        #expect(host.circuit == .open && host.pace == 1000)
        let budget = try #require(client.configuration.retryPolicy.budget)
        #expect(host.retriesLeft == client.configuration.hosts.retriesLeft(to: client.baseURL!, under: budget))
    }

    // MARK: Prometheus

    @Test func `The text has a type and a help for each metric, and totals end in their unit`() async throws {
        let transport = ScriptedTransport([.status(503), .body(Data("four".utf8)), .status(404)])
        let client = RequestClient(over: transport) { $0.retryPolicy.circuitBreaker = CircuitBreaker() }
        client.recordsStatistics = true
        let _: String = try await client.get("a")
        await #expect(throws: RequestError.self) { let _: String = try await client.get("b") }
        _ = try await totals(client)
        let text = client.statistics.prometheusText
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.last == "")
        for line in [
            "# TYPE requestoperations_requests_total counter",
            #"requestoperations_requests_total{outcome="succeeded"} 1"#,
            #"requestoperations_requests_total{outcome="failed"} 1"#,
            #"requestoperations_request_failures_total{code="unacceptableStatus"} 1"#,
            #"requestoperations_responses_total{status="404"} 1"#, "requestoperations_attempts_total 3",
            #"requestoperations_retries_total{reason="backoff"} 1"#, "requestoperations_received_bytes_total 4",
            "requestoperations_request_duration_seconds_count 2", "requestoperations_requests_running 0",
            #"requestoperations_requests_waiting{reason="retry_after"} 0"#,
            #"requestoperations_host_requests_running{host="http://example.invalid"} 0"#,
            #"requestoperations_host_circuit_state{host="http://example.invalid",state="closed"} 1"#,
        ] {
            #expect(lines.contains(Substring(line)), "\(line)\n\(text)")
        }
        let sample = /[a-z_:][a-z0-9_:]*(\{[a-z_]+="(\\.|[^"\\])*"(,[a-z_]+="(\\.|[^"\\])*")*\})? [-+0-9.e]+/
        var (helps, types): (Set<Substring>, Set<Substring>) = ([], [])
        for line in lines.dropLast() {
            if line.hasPrefix("# HELP ") {
                #expect(helps.insert(line.split(separator: " ")[2]).inserted)
            } else if line.hasPrefix("# TYPE ") {
                #expect(types.insert(line.split(separator: " ")[2]).inserted)
            } else {
                #expect(line.wholeMatch(of: sample) != nil, "\(line)")
                let name = line.prefix { $0 != "{" && $0 != " " }
                #expect(types.contains { name == $0 || name == $0 + "_sum" || name == $0 + "_count" }, "\(line)")
            }
        }
        #expect(helps == types && !helps.isEmpty)
    }

    @Test func `A label is escaped`() async throws {
        let client = RequestClient(over: ScriptedTransport([.error(RequestError.Code("a\"b\\c\nd"))]))
        client.recordsStatistics = true
        await #expect(throws: RequestError.self) { let _: Data = try await client.get("a") }
        _ = try await totals(client)
        #expect(client.statistics.prometheusText.contains(#"{code="a\"b\\c\nd"} 1"#))
    }
}
