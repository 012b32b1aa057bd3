#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    struct UnansweredConnectionsTests {
        private var connections = UnansweredConnections()
        private let driver = CurlDriver(CurlTransport.Configuration())
        private let waiting: CurlTransfer

        init() throws {
            waiting = try CurlTransfer.to("a.example", over: driver)
        }

        private func transfer(_ host: String = "a.example") throws -> CurlTransfer {
            try CurlTransfer.to(host, over: driver)
        }

        /// Whether one that waits has waited long enough so many milliseconds after the beginning.
        private func areOverdue(after milliseconds: Int64) -> Bool {
            connections.areOverdue(for: waiting, at: milliseconds * 1_000_000)
        }

        /// Whether each of some transfers is to look for a connection that was answered.
        private mutating func tries(_ transfers: CurlTransfer...) -> [Bool] {
            transfers.map { connections.tries($0) }
        }

        @Test mutating func `An answer is waited for for 200 ms, counted from the request`() throws {
            let first = try transfer()
            connections.goesOn(first, at: 0)
            #expect(!areOverdue(after: 199) && areOverdue(after: 200))
            connections.goesOn(first, at: 100_000_000)
            #expect(!areOverdue(after: 299) && areOverdue(after: 300))
        }

        @Test mutating func `The more connections are unanswered, the longer it takes until one is added, to 3200 ms`()
            throws
        {
            var patience: [Int64] = []
            for _ in 0..<7 {
                connections.goesOn(try transfer(), at: 0)
                patience.append(try #require((0...4000).first(where: areOverdue)))
            }
            #expect(patience == [200, 400, 800, 1600, 3200, 3200, 3200])
        }

        @Test mutating func `Beside an answered connection they are tried one after the other`() throws {
            let (slow, quick, other) = (try transfer(), try transfer(), try transfer())
            connections.goesOn(slow, at: 0)
            connections.goesOn(quick, at: 0)
            connections.ends(quick)
            #expect(tries(waiting) == [false])
            connections.takesMore(at: quick)
            #expect(tries(waiting, other) == [true, false])
            connections.endsTry(waiting)
            #expect(tries(other) == [true])
            connections.ends(other)
            #expect(tries(waiting) == [true])
        }

        @Test mutating func `Where one that was tried has to connect, nothing that takes more is left`() throws {
            connections.goesOn(try transfer(), at: 0)
            connections.takesMore(at: waiting)
            #expect(tries(waiting) == [true])
            connections.goesOn(waiting, at: 0)
            let other = try transfer()
            #expect(tries(other) == [false])
            connections.takesMore(at: other)
            #expect(tries(other) == [true])
        }

        @Test mutating func `Without unanswered connections none is tried or overdue`() throws {
            let first = try transfer()
            connections.goesOn(first, at: 0)
            for _ in 1...2 { connections.ends(first) }
            connections.takesMore(at: first)
            #expect(connections.isEmpty && !first.awaitsFirstResponse)
            #expect(tries(waiting) == [false] && !areOverdue(after: 10_000))
        }

        @Test mutating func `Another origin is another matter`() throws {
            let other = try transfer("b.example")
            connections.goesOn(other, at: 0)
            connections.takesMore(at: other)
            #expect(tries(waiting) == [false] && !areOverdue(after: 10_000))
        }
    }
#endif
