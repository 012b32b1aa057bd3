#if Observability
    import InMemoryTracing
    import RequestOperationsObservability
    import RequestOperationsTesting
    import Testing
    import Tracing

    @Suite(.timeLimit(.minutes(2))) struct TracingTests {
        private let tracer = InMemoryTracer()

        private func traced(over transport: any Transport) -> RequestConfiguration {
            var configuration = configuration(over: transport)
            configuration.trace(with: tracer)
            return configuration
        }

        private let url = anyURL

        @Test func `Three attempts are three client spans under the span of their request`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .status(503), .status(503), .text("ok"))
            let client = makeClient(of: server)
            client.trace(with: tracer)
            let text: String = try await client.get("x?user=1")
            #expect(text == "ok")
            await client.queue.finished()
            let spans = tracer.finishedSpans
            #expect(spans.count == 4 && tracer.activeSpans.isEmpty)
            let request = try #require(spans.first { $0.kind == .internal })
            #expect(request.operationName == "request GET" && request.parentSpanID == nil && request.status == nil)
            #expect(request.number("requestoperations.attempt_count") == 3)
            let attempts = spans.filter { $0.kind == .client }.sorted {
                $0.startInstant.nanosecondsSinceEpoch < $1.startInstant.nanosecondsSinceEpoch
            }
            try #require(attempts.count == 3)
            for (index, attempt) in attempts.enumerated() {
                let status = index < 2 ? 503 : 200
                #expect(attempt.operationName == "GET")
                #expect(attempt.parentSpanID == request.spanID && attempt.traceID == request.traceID)
                #expect(attempt.text("http.request.method") == "GET")
                #expect(attempt.text("url.full") == server.url("/x?user=1").absoluteString)
                #expect(attempt.text("server.address") == "127.0.0.1")
                #expect(attempt.number("server.port") == server.url.port.map(Int64.init))
                #expect(attempt.number("http.response.status_code") == Int64(status))
                #expect(attempt.number("http.request.resend_count") == (index == 0 ? nil : Int64(index)))
                #expect(attempt.text("error.type") == (index < 2 ? "503" : nil))
                #expect(attempt.status?.code == (index < 2 ? .error : nil))
                #expect(attempt.text("network.protocol.version") == "1.1")
                #expect(attempt.startInstant.nanosecondsSinceEpoch >= request.startInstant.nanosecondsSinceEpoch)
                #expect(attempt.endInstant.nanosecondsSinceEpoch <= request.endInstant.nanosecondsSinceEpoch)
            }
            // Each request named the span of its own attempt.
            #expect(server.requests.map { $0.field(InMemoryTracer.spanIDKey) } == attempts.map(\.spanID))
            #expect(server.requests.allSatisfy { $0.field(InMemoryTracer.traceIDKey) == request.traceID })
        }

        @Test func `The parent is the span in which the operation was made`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .text("ok"))
            let client = makeClient(of: server)
            client.trace(with: tracer)
            let parent = try await tracer.withSpan("page") { span in
                let _: String = try await client.get("x")
                return span.context.inMemorySpanContext?.spanID
            }
            await client.queue.finished()
            let request = tracer.finishedSpans.first { $0.operationName == "request GET" }
            #expect(request?.parentSpanID == parent && parent != nil)
        }

        @Test func `An attempt that fails before its request is made has a span too`() async throws {
            struct NoToken: Error {}
            let calls = Calls()
            var configuration = traced(over: ScriptedTransport([.body(Data())]))
            configuration.retryPolicy.isTransient = { _ in true }
            configuration.adapters = [
                RequestAdapter { request in
                    if await calls.isFirst() { throw NoToken() }
                    return request
                }
            ]
            await end(URLRequestOperation(url, configuration: configuration))
            let attempts = tracer.finishedSpans.filter { $0.kind == .client }
            #expect(attempts.count == 2 && tracer.activeSpans.isEmpty)
            #expect(attempts.filter { $0.status?.code == .error }.map { $0.text("error.type") } == ["NoToken"])
            #expect(attempts.allSatisfy { $0.text("server.address") == "a.invalid" && $0.number("server.port") == 443 })
        }

        @Test func `A cancelled request ends its spans and is no error`() async throws {
            let transport = ScriptedTransport([.stall])
            let operation = URLRequestOperation(url, configuration: traced(over: transport))
            async let ended: Void = end(operation)
            await transport.requests(atLeast: 1)
            operation.cancel()
            await ended
            let spans = tracer.finishedSpans
            #expect(spans.count == 2 && tracer.activeSpans.isEmpty)
            #expect(spans.allSatisfy { $0.status == nil && $0.text("error.type") == "cancelled" })
        }

        @Test func `A hedge has a span of its own, and the attempt beside it is cancelled`() async throws {
            let clock = ManualClock()
            let transport = ScriptedTransport([.stall, .body(Data())])
            var configuration = traced(over: transport)
            configuration.clock = clock
            configuration.hedging = Hedging(delay: .seconds(1))
            let operation = URLRequestOperation(url, configuration: configuration)
            let queue = RequestQueue()
            _ = try await clock.run(operation, on: queue)
            await queue.finished()
            let spans = tracer.finishedSpans.filter { $0.kind == .client }
            let byResends = Dictionary(grouping: spans) { $0.number("http.request.resend_count") ?? 0 }
            let (first, hedge) = (try #require(byResends[0]?.first), try #require(byResends[1]?.first))
            #expect(spans.count == 2 && tracer.activeSpans.isEmpty)
            #expect(first.text("error.type") == "cancelled" && first.number("http.response.status_code") == nil)
            #expect(hedge.text("error.type") == nil && hedge.number("http.response.status_code") == 200)
            #expect(hedge.flag("requestoperations.is_hedge") == true && hedge.parentSpanID == first.parentSpanID)
            let sent = transport.requests.map { $0.value(forHTTPHeaderField: InMemoryTracer.spanIDKey) }
            #expect(sent == [first.spanID, hedge.spanID])
        }

        @Test func `A hedge that was prepared and not sent has a span that says so`() async throws {
            let clock = ManualClock()
            var configuration = traced(over: ScriptedTransport([.stall]))
            configuration.clock = clock
            configuration.hedging = Hedging(delay: .seconds(1))
            configuration.limiter = RequestLimiter(total: 1)
            configuration.deadline = .seconds(5)
            let operation = URLRequestOperation(url, configuration: configuration)
            let events = operation.events
            async let ended: Void = end(operation)
            // The deadline and the hedge.
            await clock.sleepers(2)
            clock.advance(by: .seconds(1))
            for await event in events {
                if case .notHedged = event.step { clock.advance(by: .seconds(4)) }
            }
            await ended
            let spans = tracer.finishedSpans
            #expect(spans.count == 3 && tracer.activeSpans.isEmpty)
            #expect(Set(spans.map { $0.text("error.type") }) == ["not_sent", "timedOut"])
        }

        @Test func `Each of very many attempts has one span`() async throws {
            var configuration = traced(over: ScriptedTransport([.status(503)]))
            configuration.retryPolicy.maximumRetries = 150
            configuration.retryPolicy.budget = nil
            await end(URLRequestOperation(url, configuration: configuration))
            let attempts = tracer.finishedSpans.filter { $0.kind == .client }
            #expect(Set(attempts.map { $0.number("http.request.resend_count") ?? 0 }) == Set(0...150))
            #expect(attempts.count == 151 && tracer.finishedSpans.count == 152 && tracer.activeSpans.isEmpty)
        }

        @Test func `A stage that goes on after the end leaves no open span`() async {
            await cancelInStage(traced(over: ScriptedTransport([.body(Data())])))
            #expect(tracer.activeSpans.isEmpty)
            #expect(tracer.finishedSpans.map { $0.text("error.type") } == ["cancelled", "cancelled"])
        }

        @Test func `A request that ends while its span begins ends its spans as well`() async throws {
            let began = Door()
            let goesOn = DispatchSemaphore(value: 0)
            var configuration = configuration(over: ScriptedTransport([.body(Data())]))
            configuration.trace(
                with: HookedTracer(tracer) {
                    began.open()
                    goesOn.wait()
                })
            let isFreed = Door()
            await {
                let operation = Deaf(configuration, freeing: isFreed)
                operation.goesOn.open()
                async let ended: Void = end(operation)
                await began.pass()
                operation.cancel()
                await ended
            }()
            #expect(tracer.finishedSpans.isEmpty && tracer.activeSpans.count == 1)
            goesOn.signal()
            await isFreed.pass()
            #expect(tracer.activeSpans.isEmpty)
            #expect(tracer.finishedSpans.map { $0.text("error.type") } == ["cancelled", "cancelled"])
        }

        @Test func `An unusual method is named as HTTP, with the method in an attribute of both spans`() async {
            var request = URLRequest(url: url)
            request.httpMethod = "PURGE"
            await end(URLRequestOperation(request, configuration: traced(over: ScriptedTransport([.body(Data())]))))
            let spans = tracer.finishedSpans
            #expect(Set(spans.map(\.operationName)) == ["HTTP", "request HTTP"])
            #expect(spans.count == 2 && spans.allSatisfy { $0.text("http.request.method") == "_OTHER" })
            #expect(spans.allSatisfy { $0.text("http.request.method_original") == "PURGE" })
        }

        @Test func `An accepted status of 400 or more is an error of the attempt, not of the request`() async throws {
            var configuration = traced(over: ScriptedTransport([.status(404)]))
            configuration.validation = .none
            await end(URLRequestOperation(url, configuration: configuration))
            let attempt = try #require(tracer.finishedSpans.first { $0.kind == .client })
            let request = try #require(tracer.finishedSpans.first { $0.kind == .internal })
            #expect(attempt.text("error.type") == "404" && attempt.status?.code == .error)
            #expect(request.text("error.type") == nil && request.status == nil)
        }

        @Test func `Other work of an operation is not traced`() async throws {
            var configuration = RequestConfiguration()
            configuration.trace(with: tracer)
            let operation = RetryingOperation(configuration: configuration) { _ in 1 }
            await end(operation)
            #expect(try await operation.value == 1)
            #expect(tracer.finishedSpans.isEmpty && tracer.activeSpans.isEmpty)
        }
    }

    /// A tracer that calls a closure when it begins the span of an attempt.
    private struct HookedTracer: Tracer {
        let tracer: InMemoryTracer
        let beginsAttempt: @Sendable () -> Void

        init(_ tracer: InMemoryTracer, _ beginsAttempt: @escaping @Sendable () -> Void) {
            (self.tracer, self.beginsAttempt) = (tracer, beginsAttempt)
        }

        func startSpan<Instant: TracerInstant>(
            _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
            at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
        ) -> InMemorySpan {
            if kind == .client { beginsAttempt() }
            return tracer.startSpan(
                operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID,
                line: line)
        }

        func inject<Carrier, Inject: Injector>(
            _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
        ) where Inject.Carrier == Carrier { tracer.inject(context, into: &carrier, using: injector) }

        func extract<Carrier, Extract: Extractor>(
            _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
        ) where Extract.Carrier == Carrier { tracer.extract(carrier, into: &context, using: extractor) }

        func forceFlush() { tracer.forceFlush() }
    }

    private actor Calls {
        private var count = 0

        func isFirst() -> Bool {
            count += 1
            return count == 1
        }
    }

    extension FinishedInMemorySpan {
        /// An attribute that is text.
        func text(_ name: String) -> String? {
            if case .string(let text)? = attributes.get(name) { text } else { nil }
        }

        /// An attribute that is true or false.
        func flag(_ name: String) -> Bool? {
            if case .bool(let flag)? = attributes.get(name) { flag } else { nil }
        }

        /// An attribute that is a number.
        func number(_ name: String) -> Int64? {
            if case .int64(let number)? = attributes.get(name) { number } else { nil }
        }
    }
#endif
