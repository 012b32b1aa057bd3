#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Testing

    @testable import RequestOperations

    struct HTTP1OriginsTests {
        private var origins = HTTP1Origins()
        private let driver = CurlDriver(CurlTransport.Configuration())

        /// An answer comes over a new connection.
        @discardableResult
        private mutating func learn(_ host: String, _ version: String, at now: Int64 = 0) throws -> Bool {
            let transfer = try CurlTransfer.to(host, over: driver)
            _ = Array("HTTP/\(version) 200\r\n".utf8).withUnsafeBytes { transfer.head.add($0) }
            return origins.learn(from: transfer, at: now)
        }

        private func knows(_ host: String) throws -> Bool {
            origins.contains(originOf: try CurlTransfer.to(host, over: driver))
        }

        @Test mutating func `An origin that answers over HTTP/1_1 is learnt`() throws {
            let areNew = [try learn("a.example", "1.1"), try learn("a.example", "1.1"), try learn("b.example", "2")]
            #expect(areNew == [true, false, false])
            let known = [try knows("a.example"), try knows("b.example")]
            #expect(known == [true, false])
        }

        @Test mutating func `An answer over HTTP/2 makes it forgotten`() throws {
            try learn("a.example", "1.1")
            try learn("a.example", "2")
            let isKnown = try knows("a.example")
            #expect(!isKnown)
        }

        @Test mutating func `With too many all are forgotten, but not for one that is known`() throws {
            for number in 0..<HTTP1Origins.limit { try learn("\(number).example", "1.1") }
            try learn("0.example", "1.1")
            var known = [try knows("0.example"), try knows("1.example")]
            #expect(known == [true, true])
            try learn("new.example", "1.1")
            known = [try knows("1.example"), try knows("new.example")]
            #expect(known == [false, true])
        }

        @Test mutating func `After a day nothing is left of one that nobody uses any more`() throws {
            try learn("a.example", "1.1")
            try learn("b.example", "1.1", at: 24 * HostMemory.sweepInterval)
            let known = [try knows("a.example"), try knows("b.example")]
            #expect(known == [false, true])
        }
    }
#endif
