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
            var configuration = configuration(over: transport)
            configuration.clock = clock
            configuration.retryPolicy.circuitBreaker = CircuitBreaker()
            let client = RequestClient(baseURL: URL(string: "https://a.invalid"), configuration: configuration)
            client.queue.maxConcurrentOperationCount = 1
            client.measure(with: metrics, every: .seconds(10), as: "api")
            await clock.sleepers(1)
            let name = [("client", "api")]
            let running = try metrics.expectMeter("requestoperations.requests.running", name)
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
            for (state, value) in [("closed", 1.0), ("half_open", 0), ("open", 0)] {
                let circuit = try metrics.expectMeter("requestoperations.host.circuit.state", host + [("state", state)])
                #expect(circuit.values == [value])
            }
            #expect(try metrics.expectMeter("requestoperations.host.retries_left", host).values.first ?? 0 > 0)
            let oldest = try metrics.expectMeter("requestoperations.queue.oldest_wait.seconds", name)
            #expect(oldest.values == [0, 10])
            client.cancelAll()
        }

        @Test func `The gauges do not keep their client, and end with it`() async throws {
            weak var kept: RequestClient?
            let clock = ManualClock()
            do {
                let client = RequestClient(configuration: RequestConfiguration.default.with { $0.clock = clock })
                client.measure(with: metrics, every: .seconds(10))
                kept = client
                await clock.sleepers(1)
            }
            #expect(kept == nil && !metrics.meters.isEmpty)
            clock.advance(by: .seconds(10))
            while !metrics.meters.isEmpty { await Task.yield() }
        }

        @Test func `The gauges of a host that is no longer known are destroyed`() async throws {
            let clock = ManualClock()
            let transport = ScriptedTransport([.stall])
            var configuration = configuration(over: transport)
            configuration.clock = clock
            configuration.retryPolicy.budget = nil
            let client = RequestClient(baseURL: URL(string: "http://[2001:db8::1]:8080"), configuration: configuration)
            let operation: URLRequestOperation<Data> = client.operation(.get, "x")
            client.submit(operation)
            await transport.requests(atLeast: 1)
            client.measure(with: metrics, every: .seconds(10))
            await clock.sleepers(1)
            let host = [("server.address", "2001:db8::1"), ("server.port", "8080")]
            #expect(try metrics.expectMeter("requestoperations.host.requests.running", host).values == [1])
            operation.cancel()
            await client.queue.finished()
            clock.advance(by: .seconds(10))
            await clock.sleepers(1)
            #expect(!metrics.meters.contains { $0.label.hasPrefix("requestoperations.host") })
            #expect(try metrics.expectMeter("requestoperations.requests.running").values == [1, 0])
        }

        @Test func `A request is not active if a stage of it goes on after its end`() async {
            var configuration = configuration(over: ScriptedTransport([.body(Data())]))
            configuration.measure(with: metrics)
            await cancelInStage(configuration)
            #expect(metrics.meters.flatMap(\.values).isEmpty)
            #expect(metrics.timers.map(\.label) == ["requestoperations.request.duration"])
        }

        @Test func `The time of a transfer is what its transport measured`() async throws {
            var configuration = configuration(over: MeasuringTransport(total: .milliseconds(1234)))
            configuration.validation = .none
            configuration.measure(with: metrics)
            await end(URLRequestOperation(anyURL, configuration: configuration))
            let timer = try #require(metrics.timers.first { $0.label == "http.client.request.duration" })
            #expect(timer.values == [1_234_000_000])
            // An accepted status of 400 or more is an error of the attempt.
            #expect(timer.dimensions.first { $0.0 == "error.type" }?.1 == "404")
        }
    }

    /// A transport that says how long its transfers took.
    private struct MeasuringTransport: Transport {
        let total: Duration

        func perform(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse {
            var timings = TransferTimings()
            timings.total = total
            let head = ResponseHead(status: 404, url: anyURL)
            try onHead(head)
            return TransportResponse(head: head, timings: timings)
        }
    }
#endif
