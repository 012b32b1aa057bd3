#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

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
            for number in 1..<count { pool.giveBack(task(number)) }
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
                            defer { pool.giveBack(task) }
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
                        try await TransferFlow(
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
