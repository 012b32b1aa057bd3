#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperationsTesting
    import Testing

    @testable import RequestOperations

    struct BusyPollingTests {
        private var polling = BusyPolling(limit: .microseconds(200), processors: 2)

        /// Has waited so often for so many nanoseconds.
        private mutating func wait(_ count: Int, for length: Int64) {
            for _ in 0..<count { polling.waited(for: length) }
        }

        @Test mutating func `A wait begins by looking out after eight short ones in a row, and no earlier`() {
            wait(7, for: 199_999)
            let early = polling.isWorthwhile
            wait(1, for: 199_999)
            #expect(!early && polling.isWorthwhile)
            wait(1000, for: 0)
            #expect(polling.isWorthwhile)
        }

        @Test mutating func `A long wait starts the count anew`() {
            wait(8, for: 0)
            wait(1, for: 200_000)
            let afterLong = polling.isWorthwhile
            wait(7, for: 0)
            let afterSeven = polling.isWorthwhile
            wait(1, for: 0)
            #expect(!afterLong && !afterSeven && polling.isWorthwhile)
        }

        @Test mutating func `Several transfers at a time start the count anew`() {
            wait(8, for: 0)
            polling.startOver()
            let after = polling.isWorthwhile
            wait(8, for: 0)
            #expect(!after && polling.isWorthwhile)
        }

        @Test(arguments: [(Duration.zero, 2), (.seconds(-1), 2), (.microseconds(200), 1)])
        func `Without a limit, or with one processor, every wait begins with sleep`(limit: Duration, processors: Int) {
            var polling = BusyPolling(limit: limit, processors: processors)
            for _ in 1...20 { polling.waited(for: 0) }
            #expect(!polling.isWorthwhile)
        }
    }

    /// A thread that would look out for an hour: what it overlooks fails by the time limit.
    @Suite(.serialized, .timeLimit(.minutes(15)))
    struct BusyDriverTests {
        private let transport = CurlTransport.with { $0.busyPolling = .seconds(3600) }
        private let server: LoopbackServer
        /// So many requests have been answered.
        private static let count = 2 * BusyPolling.neededWaits

        init() async throws {
            server = try await LoopbackServer.start()
            server.route("/", .text("here"))
            // The waits that follow begin by looking out.
            for _ in 1...Self.count { try await get(server.url) }
        }

        /// Without a time limit: at the end of one the thread would sleep, and be woken by what it had overlooked.
        private static func task(_ url: URL) -> TransportTask {
            var task = TransportTask(URLRequest(url: url))
            task.limits.connect = nil
            task.limits.idle = nil
            return task
        }

        private func get(_ url: URL) async throws {
            _ = try await transport.perform(Self.task(url)) { _ in }
        }

        @Test func `It notices requests and their responses`() async throws {
            for _ in 1...20 { try await get(server.url) }
            await transport.shutdown(.draining)
        }

        @Test func `It notices a second request while it looks out for the response to another`() async throws {
            server.route("/slow", .stall)
            let slow = Task { try await get(server.url("/slow")) }
            _ = try await server.requests(atLeast: Self.count + 1)
            try await get(server.url)
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
            let transfer = Task { try await get(server.url("/stalls")) }
            _ = try await server.requests(atLeast: Self.count + 1)
            if ends { await transport.shutdown(.failing) } else { transfer.cancel() }
            await #expect(throws: (any Error).self) { try await transfer.value }
        }

        @Test func `It ends when nobody has the transport any more`() async throws {
            weak var driver: CurlDriver?
            do {
                let pool = DriverPool(transport.configuration)
                let taken = try #require(pool.take(nil))
                driver = taken
                let task = Self.task(server.url)
                for _ in 1...Self.count {
                    _ = try await TransferFlow(task, driver: taken, submitted: CurlLibrary.now, onHead: { _ in }).run()
                }
                pool.giveBack(nil)
                pool.shutDownUnused()
            }
            await eventually { driver == nil }
        }
    }
#endif
