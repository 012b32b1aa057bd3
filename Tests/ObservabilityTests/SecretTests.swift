#if Observability
    import InMemoryLogging
    import InMemoryTracing
    import Logging
    import MetricsTestKit
    import RequestOperationsObservability
    import RequestOperationsTesting
    import Testing
    import Tracing

    /// No span, label, log line or statistic shows a secret of a request or of a response.
    @Suite(.timeLimit(.minutes(2))) struct SecretTests {
        private static let canary = "s3cr3tCanary"

        @Test func `Nothing that is observed shows a secret`() async throws {
            let server = try await LoopbackServer.start { request in
                let fields: LoopbackServer.Fields = [
                    "Set-Cookie": "session=\(Self.canary)", "WWW-Authenticate": "Bearer token=\(Self.canary)",
                    "X-Api-Key": Self.canary,
                ]
                func moved(_ location: String) -> LoopbackServer.Response {
                    var moved = fields
                    moved.append(name: "Location", value: location)
                    return .status(302, fields: moved)
                }
                return switch request.path {
                case "/moved": moved("/ok?X-Amz-Signature=\(Self.canary)")
                case "/circle": moved("http://u:\(Self.canary)@127.0.0.1:1/")
                case "/refused": .status(401, fields: fields, body: Data(Self.canary.utf8))
                case "/broken": .status(503, fields: fields, body: Data(Self.canary.utf8))
                default: .status(200, fields: fields, body: Data(Self.canary.utf8))
                }
            }
            let (tracer, metrics, handler) = (InMemoryTracer(), TestMetrics(), InMemoryLogHandler())
            let client = makeClient(of: server)
            client.recordsStatistics = true
            client.trace(with: tracer)
            client.measure(with: metrics)
            var logger = Logger(label: "test") { _ in handler }
            logger.logLevel = .trace
            client.log(to: logger)
            let paths = ["/ok", "/moved", "/circle", "/refused", "/broken"]
            let base = server.url("/").absoluteString.replacing("http://", with: "http://user:\(Self.canary)@")
            for path in paths {
                let url = base + path.dropFirst() + "?password=\(Self.canary)#access_token=\(Self.canary)"
                _ = try? await client.post(url, as: String.self) { options in
                    options.fields = ["X-Api-Key": Self.canary, "Cookie": "a=\(Self.canary)", "Idempotency-Key": "1"]
                    options.body = .data(Data(Self.canary.utf8))
                }
            }
            await client.queue.finished()
            #expect(client.statistics.totals?.requests == paths.count)
            // The requests had the secrets.
            #expect(Set(server.requests.filter { $0.field("X-Api-Key") == Self.canary }.map(\.path)) == Set(paths))
            var shown = tracer.finishedSpans.map { span in
                var text = "\(span.operationName) \(span.status?.message ?? "") \(span.errors) \(span.events)"
                // swift-format-ignore: ReplaceForEachWithForLoop
                span.attributes.forEach { text += " \($0)=\($1)" }
                return text
            }
            #expect(shown.count >= 2 * paths.count)
            shown += handler.entries.map { "\($0.message) \($0.metadata)" }
            #expect(handler.entries.count >= 2 * paths.count - 2)
            shown +=
                metrics.timers.map { "\($0.label) \($0.dimensions)" }
                + metrics.meters.map { "\($0.label) \($0.dimensions)" }
            shown.append(client.statistics.prometheusText)
            shown.append("\(client.statistics)")
            for text in shown { #expect(!text.contains(Self.canary), "\(text)") }
        }
    }
#endif
