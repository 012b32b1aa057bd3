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
            transfers = try [driver, driver].map { try TransferFlow(to: url, over: $0).transfer }
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
#endif
