#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperationsTesting
    import Testing

    @testable import RequestOperations

    struct BusyPollingTests {
        private var polling = BusyPolling(limit: .microseconds(200))

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

        @Test(arguments: [Duration.zero, .seconds(-1)])
        func `Without a limit every wait begins with sleep`(limit: Duration) {
            var polling = BusyPolling(limit: limit)
            for _ in 1...20 { polling.waited(for: 0) }
            #expect(!polling.isWorthwhile)
        }
    }

    struct BusyThreadsTests {
        @Test func `No more may look out than there is room for, until one leaves`() {
            let threads = BusyThreads(limit: 2)
            let entered = (1...3).map { _ in threads.enter() }
            threads.leave()
            #expect(entered == [true, true, false] && threads.count == 1)
            #expect(threads.enter())
        }

        @Test func `Where there is one processor nobody may look out`() {
            #expect(!BusyThreads(limit: 0).enter())
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

        private func get(_ url: URL, over driver: CurlDriver) async throws {
            _ = try await TransferFlow(Self.task(url), driver: driver, submitted: CurlLibrary.now, onHead: { _ in })
                .run()
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

        @Test(arguments: [0, 1])
        func `It looks out if the process has a processor to spare`(spare: Int) async throws {
            let threads = BusyThreads(limit: spare)
            let driver = CurlDriver(transport.configuration, busyThreads: threads)
            for _ in 1...Self.count { try await get(server.url, over: driver) }
            // Then it stays so: for the next request it looks out for an hour.
            await eventually { threads.count == spare }
            await driver.shutDown(.draining)
            #expect(threads.count == 0)
        }

        @Test func `It does not look out where several requests are in flight`() async throws {
            let threads = BusyThreads(limit: 1)
            let driver = CurlDriver(transport.configuration, busyThreads: threads)
            for _ in 1...Self.count { try await get(server.url, over: driver) }
            await eventually { threads.count == 1 }
            server.route("/stalls", .stall)
            let stalling = (1...2).map { _ in Task { try await get(server.url("/stalls"), over: driver) } }
            _ = try await server.requests(atLeast: 2 * Self.count + 2)
            await eventually { threads.count == 0 }
            for transfer in stalling {
                transfer.cancel()
                _ = await transfer.result
            }
            await driver.shutDown(.draining)
        }

        @Test func `It ends when nobody has the transport any more`() async throws {
            weak var driver: CurlDriver?
            do {
                let pool = DriverPool(transport.configuration)
                let task = TransportTask.data(URLRequest(url: server.url))
                let taken = try #require(pool.take(for: task))
                driver = taken
                for _ in 1...Self.count { try await get(server.url, over: taken) }
                pool.giveBack(task)
                pool.shutDownUnused()
            }
            await eventually { driver == nil }
        }
    }
#endif
