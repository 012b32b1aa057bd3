#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    @Suite(.timeLimit(.minutes(15)))
    struct DriverPoolTests {
        private let pool = DriverPool(CurlTransport.Configuration())

        private func policy(_ number: Int) -> TrustPolicy {
            TrustPolicy(pinnedKeys: ["sha256//\(number)"])
        }

        @Test func `The policy of the transport and none have one driver, each other has its own`() {
            let own = pool.take(nil)
            #expect(own != nil && pool.take(.system) === own)
            let first = pool.take(policy(1))
            #expect(first !== own && pool.take(policy(2)) !== first && pool.take(policy(1)) === first)
            #expect(pool.policyCount == 2)
        }

        @Test func `The policies that were used last are kept, and all that are in use`() {
            let count = DriverPool.keptPolicies + 3
            let first = pool.take(policy(0))
            for number in 1..<count { _ = pool.take(policy(number)) }
            #expect(pool.policyCount == count)
            for number in 1..<count { pool.giveBack(policy(number)) }
            #expect(pool.policyCount == DriverPool.keptPolicies)
            #expect(pool.take(policy(0)) === first)
        }

        @Test func `A driver that is taken is never one that has been ended`() async {
            // Two threads take and give back while many policies push each other out.
            await withTaskGroup(of: Bool.self) { group in
                for offset in 0..<2 {
                    group.addTask { [pool] in
                        (0..<2000).allSatisfy { number in
                            let trust = policy((number + offset) % (DriverPool.keptPolicies + 4))
                            defer { pool.giveBack(trust) }
                            return pool.take(trust)?.isEnding == false
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
                let taken = try #require(pool.take(nil))
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
            _ = pool.take(policy(1))
            await pool.shutDown(.draining)
            #expect(pool.take(policy(1)) == nil && pool.take(policy(2)) == nil)
        }
    }
#endif
