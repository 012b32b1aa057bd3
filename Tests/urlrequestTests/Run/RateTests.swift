#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct RateTests {
        /// A server that answers so many requests a second, and 429 beyond that.
        private final class LimitedServer: Sendable {
            private struct Window {
                var began = ContinuousClock.now
                var count = 0
            }

            private let perSecond: Int
            private let window = Locked(Window())

            init(perSecond: Int) {
                self.perSecond = perSecond
            }

            func answer() -> LoopbackServer.Response {
                let isWithin = window.withLock { window in
                    if window.began.duration(to: .now) >= .seconds(1) { window = Window() }
                    window.count += 1
                    return window.count <= perSecond
                }
                return isWithin ? .text("done") : .status(429, fields: ["Retry-After": "1"])
            }
        }

        @Test func `All of 200 requests succeed at a host that takes ten a second, in at most 300 sends`() async throws
        {
            let limited = LimitedServer(perSecond: 10)
            let server = try await LoopbackServer.start { _ in limited.answer() }
            let ended = try await RunningTool.run(["run"] + (1...200).map { server.url("/\($0)").absoluteString })
            #expect(ended.lines.count { $0.hasPrefix("200 ") } == 200)
            #expect(ended.status == 0)
            #expect(server.requests.count <= 300, "\(server.requests.count) sends")
        }

        @Test func `A pause after a 429 that would end beyond the deadline fails the request at once`() async throws {
            let server = try await LoopbackServer.start { _ in .status(429, fields: ["Retry-After": "200"]) }
            let ended = try await RunningTool.run(
                "run", server.url("/x").absoluteString, "--deadline", "60", "--json")
            let error = try #require(try ended.objects.first?["error"] as? [String: String])
            #expect(error["code"] == "retryAfterTooLong")
        }

        @Test func `With a rate of ten a second, ten requests take nine tenths of a second`() async throws {
            let server = try await LoopbackServer.start { _ in .text("done") }
            let began = ContinuousClock.now
            let ended = try await RunningTool.run(
                ["run", "--rate", "10"] + (1...10).map { server.url("/\($0)").absoluteString })
            #expect(began.duration(to: .now) >= .milliseconds(890))
            #expect(ended.status == 0)
        }

        @Test(arguments: ["0", "-1", "x", "1e9", ""]) func `An unusable rate is refused`(rate: String) async throws {
            let ended = try await RunningTool.run("run", "http://127.0.0.1:1/", "--rate=\(rate)")
            #expect(ended.status == 2 || ended.status == 64)
            #expect(ended.errors.contains("attempts a second"))
        }
    }
#endif
