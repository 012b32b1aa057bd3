#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperationsTesting
    import Testing

    @testable import RequestOperations

    struct BusyPollingTests {
        private var polling = BusyPolling(limit: .microseconds(200), processors: 2)

        @Test func `The first wait begins with sleep`() {
            #expect(!polling.isWorthwhile)
        }

        @Test mutating func `A wait begins by looking out after a short one, and with sleep after a long one`() {
            let followers = [199_999, 200_000, 0].map { (length: Int64) in
                polling.waited(for: length)
                return polling.isWorthwhile
            }
            #expect(followers == [true, false, true])
        }

        @Test(arguments: [(Duration.zero, 2), (.seconds(-1), 2), (.microseconds(200), 1)])
        func `Without a limit, or with one processor, every wait begins with sleep`(limit: Duration, processors: Int) {
            var polling = BusyPolling(limit: limit, processors: processors)
            polling.waited(for: 0)
            #expect(!polling.isWorthwhile)
        }
    }

    /// A thread that would look out for an hour: what it overlooks fails by the time limit.
    @Suite(.timeLimit(.minutes(15)))
    struct BusyDriverTests {
        private let transport = CurlTransport.with { $0.busyPolling = .seconds(3600) }
        private let server: LoopbackServer

        init() async throws {
            server = try await LoopbackServer.start()
            server.route("/", .text("here"))
            // The waits that follow begin by looking out.
            for _ in 1...3 { _ = try await transport.get(server.url) }
        }

        @Test func `It notices requests and their responses`() async throws {
            for _ in 1...20 { #expect(try await transport.text(server.url) == "here") }
            await transport.shutdown(.draining)
        }

        @Test func `It notices a second request while it looks out for the response to another`() async throws {
            server.route("/slow", .stall)
            let slow = Task { [transport, url = server.url("/slow")] in try await transport.get(url) }
            _ = try await server.requests(atLeast: 4)
            #expect(try await transport.text(server.url) == "here")
            slow.cancel()
            _ = await slow.result
            await transport.shutdown(.draining)
        }

        @Test func `It keeps the deadline of a response`() async throws {
            server.route("/stalls", .stall)
            var task = TransportTask(URLRequest(url: server.url("/stalls")))
            task.limits.idle = .milliseconds(300)
            #expect(await transport.row(task).code == .timedOut)
            await transport.shutdown(.draining)
        }

        @Test(arguments: [CurlTransport.ShutdownMode.draining, .failing])
        func `It notices that it has to end, with nothing to do`(mode: CurlTransport.ShutdownMode) async {
            await transport.shutdown(mode)
        }

        @Test(arguments: [false, true])
        func `It notices that a transfer is cancelled, or that it has to end before that`(ends: Bool) async throws {
            server.route("/stalls", .stall)
            let transfer = Task { [transport, url = server.url("/stalls")] in try await transport.get(url) }
            _ = try await server.requests(atLeast: 4)
            if ends { await transport.shutdown(.failing) } else { transfer.cancel() }
            await #expect(throws: (any Error).self) { try await transfer.value }
        }

        @Test func `It ends when nobody has the transport any more`() async throws {
            weak var driver: CurlDriver?
            do {
                let pool = DriverPool(transport.configuration)
                let taken = try #require(pool.take(nil))
                driver = taken
                let task = TransportTask(URLRequest(url: server.url))
                for _ in 1...3 {
                    _ = try await TransferFlow(task, driver: taken, submitted: CurlLibrary.now, onHead: { _ in }).run()
                }
                pool.giveBack(nil)
                pool.shutDownUnused()
            }
            await eventually { driver == nil }
        }
    }
#endif
