#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Glibc
    import RequestOperationsTesting
    import Testing

    @testable import RequestOperations

    /// What the thread of a driver does whatever the transfers are.
    @Suite(.timeLimit(.minutes(15)))
    struct CurlDriverThreadTests {
        @Test func `The thread lets no signal of a broken connection through to the process`() async throws {
            let server = try await LoopbackServer.start { _ in .empty() }
            let transport = CurlTransport.with { _ in }
            _ = try await transport.get(server.url)
            let masks = try Self.blockedSignals(ofThreads: "CurlTransport")
            #expect(!masks.isEmpty && masks.allSatisfy { $0 & 1 << (SIGPIPE - 1) != 0 })
            await transport.shutdown()
        }

        @Test func `One that comes just when the connection of another is made does not wait for its response`()
            async throws
        {
            let server = try await HTTP1Peer(meeting: 2, gated: 1, .secure)
            let driver = CurlDriver(CurlTransport.trusting().configuration)
            let first = try CurlTransferTask(to: try server.url("/first"), over: driver)
            driver.call(for: first.transfer, isNew: true)
            async let answered = first.run()
            #expect(await server.peer.line() == "begun")
            let second = try CurlTransferTask(to: try server.url("/second"), over: driver)
            // The thread finds both in the same turn: it cannot begin one meanwhile.
            let effect = try driver.inbox.withLock { inbox in
                try server.peer.tell()
                #expect(server.peer.blockingLine() == "shaken")
                return inbox.add(second.transfer, isNew: true)
            }
            if effect == .wakeThread { driver.bell.ring() }
            #expect(try await second.run().body == Data("ok".utf8))
            #expect(try await answered.body == Data("ok".utf8))
            await driver.shutDown(.failing)
        }

        /// The signals that each thread of a name blocks, by its bits, as the kernel tells.
        private static func blockedSignals(ofThreads name: String) throws -> [UInt64] {
            let threads = "/proc/self/task"
            return try FileManager.default.contentsOfDirectory(atPath: threads).compactMap { thread in
                // One that has ended meanwhile has none.
                guard let status = try? String(contentsOfFile: "\(threads)/\(thread)/status", encoding: .utf8),
                    status.hasPrefix("Name:\t\(name)\n"),
                    let line = status.split(separator: "\n").first(where: { $0.hasPrefix("SigBlk:") })
                else { return nil }
                return UInt64(line.dropFirst("SigBlk:".count).trimmingCharacters(in: .whitespaces), radix: 16)
            }
        }
    }

    /// What the thread of a driver does with transfers for whose look-ups there is no place.
    @Suite(.timeLimit(.minutes(15)))
    struct CurlDriverTests {
        private let driver = CurlDriver(CurlTransport.Configuration())
        private let transfers: [CurlTransfer]

        init() throws {
            let url = try #require(URL(string: "http://name.invalid/"))
            transfers = try [driver, driver].map { try CurlTransferTask(to: url, over: $0).transfer }
            driver.lookups = Lookups(bound: 0)
            for transfer in transfers { driver.call(for: transfer, isNew: true) }
        }

        private func hasEnded(_ transfer: CurlTransfer) -> Bool {
            transfer.exchange.withLock { $0.isEnded }
        }

        @Test func `What waits for a look-up has ended before the thread does`() async {
            await driver.shutDown(.failing)
            #expect(transfers.allSatisfy(hasEnded))
        }

        @Test func `A transfer that waits for a look-up is cancelled without it`() async {
            _ = transfers[1].exchange.withLock { $0.abort() }
            driver.call(for: transfers[1])
            await eventually { hasEnded(transfers[1]) }
            #expect(!hasEnded(transfers[0]))
            await driver.shutDown(.failing)
        }
    }

    struct DriverInboxTests {
        private var inbox = DriverInbox()
        private var calls: [CurlTransfer] = []
        private let transfer: CurlTransfer

        init() throws {
            transfer = try .to("a.example", over: CurlDriver(CurlTransport.Configuration()))
        }

        @Test mutating func `The first transfer starts the thread, and only one that finds it asleep wakes it`() {
            let first = [inbox.add(transfer, isNew: true), inbox.add(transfer, isNew: true)]
            #expect(first == [.startThread, .none])
            _ = inbox.take(into: &calls)
            let sleeps = inbox.fallsAsleep(hasTransfers: true)
            #expect(sleeps && calls.count == 2)
            let second = [inbox.add(transfer, isNew: false), inbox.add(transfer, isNew: false)]
            #expect(second == [.wakeThread, .none])
        }

        @Test
        mutating func `What a thread was to do that cannot be started comes back, and the next transfer tries again`() {
            _ = inbox.add(transfer, isNew: true)
            _ = inbox.add(transfer, isNew: false)
            let count = inbox.failToStart()?.transfers.count
            let isDone = inbox.failToStart() == nil
            let effect = inbox.add(transfer, isNew: true)
            #expect(count == 2 && isDone && effect == .startThread)
        }

        @Test
        mutating func `Nobody starts a thread while what one was to do that could not be started is not ended`() {
            _ = inbox.add(transfer, isNew: true)
            _ = inbox.failToStart()
            let effect = inbox.add(transfer, isNew: false)
            let count = inbox.failToStart()?.transfers.count
            #expect(effect == .none && count == 1)
        }

        @Test mutating func `A thread does not fall asleep over what was put in meanwhile`() {
            _ = inbox.add(transfer, isNew: true)
            let sleeps = inbox.fallsAsleep(hasTransfers: true)
            #expect(!sleeps)
        }

        @Test(arguments: [CurlTransport.ShutdownMode.draining, .failing])
        mutating func `A thread that has only its end left does not fall asleep`(mode: CurlTransport.ShutdownMode) {
            _ = inbox.add(transfer, isNew: true)
            _ = inbox.take(into: &calls)
            let effect = inbox.shutDown(mode, nil)
            let sleeps = inbox.fallsAsleep(hasTransfers: false)
            #expect(effect == .none && !sleeps)
        }

        @Test mutating func `A thread that drains waits for its transfers`() {
            _ = inbox.add(transfer, isNew: true)
            _ = inbox.take(into: &calls)
            _ = inbox.shutDown(.draining, nil)
            let sleeps = inbox.fallsAsleep(hasTransfers: true)
            #expect(sleeps)
        }

        @Test mutating func `Failing takes the place of draining, and not the other route round`() {
            _ = inbox.add(transfer, isNew: true)
            let modes = [CurlTransport.ShutdownMode.draining, .failing, .draining].map { mode in
                _ = inbox.shutDown(mode, nil)
                return inbox.take(into: &calls)
            }
            #expect(modes == [.draining, .failing, .failing])
        }

        @Test mutating func `No new transfer is taken once the end has been asked for, but old ones call`() {
            _ = inbox.add(transfer, isNew: true)
            _ = inbox.shutDown(.draining, nil)
            let effects = [inbox.add(transfer, isNew: true), inbox.add(transfer, isNew: false)]
            #expect(effects == [.refuse, .none])
        }

        @Test mutating func `A transport that nobody used is over at once`() {
            let effect = inbox.shutDown(.draining, nil)
            #expect(effect == .isOver)
        }

        @Test mutating func `Nothing is kept after the end`() {
            _ = inbox.add(transfer, isNew: true)
            _ = inbox.take(into: &calls)
            _ = inbox.end()
            calls = []
            let effect = inbox.add(transfer, isNew: false)
            _ = inbox.take(into: &calls)
            #expect(effect == .isOver && calls.isEmpty)
        }
    }

    @Suite(.timeLimit(.minutes(15)))
    struct DriverPoolTests {
        private let pool = DriverPool(CurlTransport.Configuration())

        private func task(_ policy: TrustPolicy? = nil) -> TransportTask {
            // The text is a URL.
            var task = TransportTask(URLRequest(url: URL(string: "https://host.invalid/")!))
            task.trust = policy
            return task
        }

        private func task(_ number: Int) -> TransportTask {
            let key = Data(repeating: UInt8(number), count: 32)
            return task(TrustPolicy(pinnedKeys: ["sha256//" + key.base64EncodedString()]))
        }

        @Test func `The policy of the transport and none have one driver, each other has its own`() {
            let own = pool.take(for: task())
            #expect(own != nil && pool.take(for: task(.system)) === own)
            let first = pool.take(for: task(1))
            #expect(first !== own && pool.take(for: task(2)) !== first && pool.take(for: task(1)) === first)
            #expect(pool.otherCount == 2)
        }

        @Test func `The policies that were used last are kept, and all that are in use`() {
            let count = DriverPool.keptPolicies + 3
            let first = pool.take(for: task(0))
            for number in 1..<count { _ = pool.take(for: task(number)) }
            #expect(pool.otherCount == count)
            for number in 1..<count { pool.release(task(number)) }
            #expect(pool.otherCount == DriverPool.keptPolicies)
            #expect(pool.take(for: task(0)) === first)
        }

        @Test func `A driver that is taken is never one that has been ended`() async {
            // Two threads take and give back while many policies push each other out.
            await withTaskGroup(of: Bool.self) { group in
                for offset in 0..<2 {
                    group.addTask { [pool] in
                        (0..<2000).allSatisfy { number in
                            let task = task((number + offset) % (DriverPool.keptPolicies + 4))
                            defer { pool.release(task) }
                            return pool.take(for: task)?.isEnding == false
                        }
                    }
                }
                for await isAlive in group { #expect(isAlive) }
            }
        }

        @Test func `A driver whose transfers waited for a look-up when they were given up is freed`() async throws {
            let url = try #require(URL(string: "http://name.invalid/"))
            weak var driver: CurlDriver?
            do {
                let pool = DriverPool(CurlTransport.Configuration())
                let taken = try #require(pool.take(for: task()))
                driver = taken
                let transfers = (0..<3).map { _ in
                    Task {
                        try await CurlTransferTask(
                            .data(URLRequest(url: url)), driver: taken, submitted: CurlLibrary.now, onHead: { _ in }
                        ).run()
                    }
                }
                for transfer in transfers { transfer.cancel() }
                for transfer in transfers { _ = await transfer.result }
                await pool.shutDown(.failing)
            }
            // Its thread lets go of it at the very last.
            await eventually { driver == nil }
        }

        @Test func `A pool that was shut down has no driver for another policy`() async {
            _ = pool.take(for: task(1))
            await pool.shutDown(.draining)
            #expect(pool.take(for: task(1)) == nil && pool.take(for: task(2)) == nil)
        }
    }
#endif
