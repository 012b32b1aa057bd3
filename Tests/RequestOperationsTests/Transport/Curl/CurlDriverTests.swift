#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperationsTesting
    import Testing

    @testable import RequestOperations

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
