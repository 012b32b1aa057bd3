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

        /// Whether one that waits is let pass by so many milliseconds after the beginning.
        private func passes(after milliseconds: Int64) -> Bool {
            connections.letPassBy(waiting, at: milliseconds * 1_000_000)
        }

        @Test mutating func `One that waits for an answer is let pass by after 200 ms, counted from the request`()
            throws
        {
            let first = try transfer()
            connections.goesOn(first, at: 0)
            #expect(!passes(after: 199) && passes(after: 200))
            connections.goesOn(first, at: 100_000_000)
            #expect(!passes(after: 299) && passes(after: 300))
        }

        @Test mutating func `The more connections are unanswered, the longer it takes until one is added, to 3200 ms`()
            throws
        {
            var patience: [Int64] = []
            for _ in 0..<7 {
                connections.goesOn(try transfer(), at: 0)
                patience.append(try #require((0...4000).first(where: passes)))
            }
            #expect(patience == [200, 400, 800, 1600, 3200, 3200, 3200])
        }

        @Test mutating func `As soon as another connection is answered, all may pass by`() throws {
            let (slow, quick) = (try transfer(), try transfer())
            connections.goesOn(slow, at: 0)
            connections.goesOn(quick, at: 0)
            connections.ends(quick)
            #expect(!passes(after: 0) && !connections.haveAnsweredBeside(waiting))
            let isNews = connections.hasAnswered(quick)
            #expect(isNews)
            #expect(passes(after: 0) && connections.haveAnsweredBeside(waiting))
            let isNewsAgain = connections.hasAnswered(quick)
            #expect(!isNewsAgain)
        }

        @Test mutating func `Where one has to connect all the same, nothing answered is left, and the others wait`()
            throws
        {
            connections.goesOn(try transfer(), at: 0)
            _ = connections.hasAnswered(try transfer())
            connections.goesOn(try transfer(), at: 0)
            #expect(!passes(after: 399) && passes(after: 400) && !connections.haveAnsweredBeside(waiting))
        }

        @Test mutating func `Without unanswered connections nobody passes by, and no answer is news`() throws {
            let first = try transfer()
            connections.goesOn(first, at: 0)
            for _ in 1...2 { connections.ends(first) }
            #expect(connections.isEmpty && !first.awaitsFirstResponse && !passes(after: 10_000))
            let isNews = connections.hasAnswered(first)
            #expect(!isNews)
        }

        @Test mutating func `Another origin is another matter`() throws {
            connections.goesOn(try transfer("b.example"), at: 0)
            let isNews = connections.hasAnswered(waiting)
            #expect(!isNews && !passes(after: 10_000))
        }
    }
#endif
