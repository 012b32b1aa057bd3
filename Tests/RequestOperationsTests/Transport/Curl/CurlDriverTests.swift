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

    /// What the thread of a driver does with transfers of which one looks a name up and others wait for that.
    @Suite(.timeLimit(.minutes(15)))
    struct CurlDriverTests {
        private let driver = CurlDriver(CurlTransport.Configuration())
        private let seeking: CurlTransfer
        private let held: CurlTransfer

        init() throws {
            let transfers = try [driver, driver].map { try CurlTransfer.to("name.invalid", over: $0) }
            (seeking, held) = (transfers[0], transfers[1])
            // As the thread leaves them to itself for its next turn.
            let admitted = transfers.map { driver.desk.admits($0, at: 0) }
            try #require(admitted == [true, false])
            held.place = .held
        }

        private func hasEnded(_ transfer: CurlTransfer) -> Bool {
            transfer.exchange.withLock { $0.isEnded }
        }

        @Test(arguments: [CurlTransport.ShutdownMode.draining, .failing])
        func `What waited for a look-up that is given up in the last turn has ended before the thread does`(
            mode: CurlTransport.ShutdownMode
        ) async {
            _ = seeking.exchange.withLock { $0.abort() }
            driver.inbox.withLock { inbox in
                _ = inbox.add(seeking, isNew: true)
                _ = inbox.shutDown(mode, nil)
            }
            driver.start()
            await driver.shutDown(mode)
            #expect(hasEnded(seeking) && hasEnded(held))
            // As the Task gives it back.
            held.easy = nil
        }

        @Test func `A transfer that waits for a look-up is cancelled without it`() async {
            _ = held.exchange.withLock { $0.abort() }
            driver.call(for: held)
            await eventually { hasEnded(held) }
            #expect(!hasEnded(seeking))
            await driver.shutDown(.failing)
        }
    }
#endif
