#if Observability
    import MetricsTestKit
    import RequestOperationsObservability
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(2))) struct MetricsTests {
        private let metrics = TestMetrics()

        private func dimensions(_ server: LoopbackServer, _ more: (String, String)...) -> [(String, String)] {
            [
                ("http.request.method", "GET"), ("server.address", "127.0.0.1"), ("server.port", "\(server.port)"),
            ] + more
        }

        @Test func `Each attempt is measured, and each retry is counted by its reason`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .status(503), .status(503), .text("ok"))
            let client = makeClient(of: server)
            client.measure(with: metrics)
            let _: String = try await client.get("x")
            await client.queue.finished()
            let failed = try metrics.expectTimer(
                "http.client.request.duration",
                dimensions(
                    server, ("http.response.status_code", "503"), ("error.type", "503"),
                    ("network.protocol.version", "1.1")))
            #expect(failed.values.count == 2 && failed.values.allSatisfy { $0 > 0 })
            let succeeded = try metrics.expectTimer(
                "http.client.request.duration",
                dimensions(server, ("http.response.status_code", "200"), ("network.protocol.version", "1.1")))
            #expect(succeeded.values.count == 1)
            let retries = dimensions(server, ("reason", "backoff"))
            #expect(metrics.counterTotal(label: "requestoperations.retries", dimensions: retries) == 2)
            let whole = try metrics.expectTimer(
                "requestoperations.request.duration", dimensions(server, ("outcome", "succeeded")))
            #expect(whole.values.count == 1 && whole.values[0] >= failed.values.reduce(0, +))
        }

        @Test func `The active requests rise when a request begins and fall when it ends`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .text("ok"))
            let client = makeClient(of: server)
            client.measure(with: metrics)
            let _: String = try await client.get("x")
            await client.queue.finished()
            let active = try metrics.expectMeter("http.client.active_requests", dimensions(server))
            #expect(active.values == [1, 0])
        }

        @Test func `The gauges are set at once and after each interval`() async throws {
            let clock = ManualClock()
            let transport = ScriptedTransport([.stall])
            var configuration = RequestConfiguration()
            configuration.transport = transport
            configuration.clock = clock
            configuration.retryPolicy.circuitBreaker = CircuitBreaker()
            let client = RequestClient(baseURL: URL(string: "https://a.invalid"), configuration: configuration)
            client.queue.maxConcurrentOperationCount = 1
            client.measure(with: metrics, every: .seconds(10), as: "api")
            await clock.sleepers(1)
            let name = [("client", "api")]
            let running = try metrics.expectMeter("requestoperations.running", name)
            let depth = try metrics.expectMeter("requestoperations.queue.depth", name)
            #expect(running.values == [0] && depth.values == [0])

            let operations = (1...3).map { _ -> URLRequestOperation<Data> in client.operation(.get, "x") }
            for operation in operations { client.submit(operation) }
            await transport.requests(atLeast: 1)
            clock.advance(by: .seconds(10))
            // The gauges are set before the next sleep begins.
            await clock.sleepers(1)
            #expect(running.values == [0, 1] && depth.values == [0, 2])
            let host = name + [("server.address", "a.invalid"), ("server.port", "443")]
            #expect(try metrics.expectMeter("requestoperations.circuit.state", host).values == [0])
            #expect(try metrics.expectMeter("requestoperations.budget.retries_left", host).values.first ?? 0 > 0)
            let oldest = try metrics.expectMeter("requestoperations.queue.oldest_wait", name)
            #expect(oldest.values == [0, 10])
            client.cancelAll()
        }

        @Test func `The gauges do not keep their client`() async throws {
            weak var kept: RequestClient?
            let clock = ManualClock()
            do {
                let client = RequestClient(configuration: RequestConfiguration.default.with { $0.clock = clock })
                client.measure(with: metrics)
                kept = client
                await clock.sleepers(1)
            }
            #expect(kept == nil)
        }
    }
#endif
