#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    struct NewConnectionsTests {
        private var connections = NewConnections()
        private let driver = CurlDriver(CurlTransport.Configuration())

        private func transfer(_ host: String, mayConnect: Bool = false) throws -> CurlTransfer {
            let transfer = try CurlTransfer.to(host, over: driver)
            transfer.mayConnect = mayConnect
            transfer.place = .active(0)
            return transfer
        }

        private mutating func released() -> [ObjectIdentifier] {
            connections.takeReleased().map(ObjectIdentifier.init)
        }

        @Test mutating func `While a connection is made the others to its origin wait, and go when it stands`() throws {
            let (maker, others) = (try transfer("a.example"), try (0..<2).map { _ in try transfer("a.example") })
            #expect(!connections.mustWait(others[0]))
            connections.begins(maker)
            for other in others {
                #expect(connections.mustWait(other))
                connections.holdBack(other)
            }
            #expect(released().isEmpty)
            connections.makesRoom(maker)
            #expect(released() == others.map(ObjectIdentifier.init))
            #expect(released().isEmpty && !connections.mustWait(others[0]))
        }

        @Test func `Of a connection that libcurl makes by itself it is known where others must wait for it`() throws {
            var configuration = CurlTransport.Configuration()
            configuration.httpVersions = .http2PriorKnowledge
            let driver = CurlDriver(configuration)
            let transfer = try CurlTransfer.to("a.example", over: driver)
            driver.opensConnection(transfer)
            #expect(driver.newConnections.isMaking(to: transfer) == CurlLibrary.beginsHTTP2Twice)
            #expect(driver.unanswered.isEmpty == !CurlLibrary.waitsForFirstResponse)
        }

        @Test mutating func `Neither another origin waits, nor who makes a connection`() throws {
            connections.begins(try transfer("a.example"))
            #expect(!connections.mustWait(try transfer("b.example")))
            #expect(!connections.mustWait(try transfer("a.example", mayConnect: true)))
        }

        @Test mutating func `Of several that make one, all are waited for, and each counts once`() throws {
            let (makers, other) = (try (0..<2).map { _ in try transfer("a.example") }, try transfer("a.example"))
            for maker in makers { connections.begins(maker) }
            connections.holdBack(other)
            for _ in 0..<2 { connections.makesRoom(makers[0]) }
            #expect(released().isEmpty && connections.mustWait(other))
            connections.makesRoom(makers[1])
            #expect(released() == [ObjectIdentifier(other)])
        }

        @Test mutating func `Of many that are held back two go for each that gets on`() throws {
            let (maker, others) = (try transfer("a.example"), try (0..<7).map { _ in try transfer("a.example") })
            connections.begins(maker)
            for other in others { connections.holdBack(other) }
            connections.makesRoom(maker)
            #expect(released() == others[0..<2].map(ObjectIdentifier.init))
            for other in others[0..<2] { connections.makesRoom(other) }
            #expect(released() == others[2..<6].map(ObjectIdentifier.init))
            #expect(connections.mustWait(try transfer("a.example")))
            connections.makesRoom(others[2])
            #expect(released() == [ObjectIdentifier(others[6])])
            #expect(!connections.mustWait(try transfer("a.example")))
        }

        @Test mutating func `Who has ended while it was held back does not go`() throws {
            let (maker, other) = (try transfer("a.example"), try transfer("a.example"))
            connections.begins(maker)
            connections.holdBack(other)
            other.place = .nowhere
            connections.makesRoom(maker)
            #expect(released().isEmpty)
        }
    }
#endif
