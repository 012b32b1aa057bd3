#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    @Suite(.timeLimit(.minutes(10)))
    struct OriginLineTests {
        private static func transfers(
            _ count: Int, _ url: String = "https://a.example/", isNew: Bool = false, bound: Int? = 64
        ) throws -> [CurlTransfer] {
            let configuration = CurlTransport.with { $0.maximumConnectionsPerHost = bound }.configuration
            let driver = CurlDriver(configuration)
            return try (0..<count).map { _ in try transfer(url, driver, isNew) }
        }

        private static func transfer(
            _ url: String, _ driver: CurlDriver, _ isNew: Bool, submitted: Int64 = 0
        ) throws -> CurlTransfer {
            let request = try CurlRequest(URLRequest(url: try #require(URL(string: url))))
            return CurlTransfer(
                driver: driver, easy: driver.handles.take(), request: request, limits: .init(TransferLimits()),
                upload: nil, wantsNewConnection: isNew, wantsProgress: false, submitted: submitted)
        }

        /// A line that all transfers have entered, in this order.
        private static func line(
            of transfers: [CurlTransfer], connections: Int = 0, isHTTP2: Bool? = nil
        ) -> OriginLine {
            let line = OriginLine(of: transfers[0], mayShare: true)
            for _ in 0..<connections { line.noteConnection() }
            if let isHTTP2 { line.noteAnswer(isHTTP2: isHTTP2) }
            for transfer in transfers { line.enter(transfer) }
            return line
        }

        /// Takes out all transfers whose turn it is, as a driver does. Returns whether each makes a new connection.
        @discardableResult
        private static func takeAll(_ line: OriginLine) -> [Bool] {
            var areNew: [Bool] = []
            while let next = line.next() {
                areNew.append(line.takeNext())
                next.place = .submitted(until: nil)
            }
            return areNew
        }

        @Test func `The first to an unknown origin goes alone, and the others when it was sent`() throws {
            let transfers = try Self.transfers(5)
            let line = Self.line(of: transfers)
            #expect(Self.takeAll(line).count == 1 && transfers[0].place == .submitted(until: nil))
            line.noteConnection()
            line.noteSent(transfers[0], at: 1)
            #expect(Self.takeAll(line).count == 4)
        }

        @Test func `When the first fails, the others do not wait for one another`() throws {
            let transfers = try Self.transfers(5, bound: 3)
            let line = Self.line(of: transfers)
            Self.takeAll(line)
            line.noteEnd(transfers[0])
            #expect(Self.takeAll(line).count == 3)
        }

        @Test func `When the first is cancelled, the next goes alone`() throws {
            let transfers = try Self.transfers(5, bound: 3)
            let line = Self.line(of: transfers)
            Self.takeAll(line)
            transfers[0].outcome = .stopped(.aborted)
            line.noteEnd(transfers[0])
            #expect(Self.takeAll(line).count == 1)
        }

        @Test func `A failure is forgotten when all have ended`() throws {
            let transfers = try Self.transfers(5, bound: 3)
            let line = Self.line(of: Array(transfers[..<1]))
            Self.takeAll(line)
            line.noteEnd(transfers[0])
            for transfer in transfers[1...] { line.enter(transfer) }
            #expect(Self.takeAll(line).count == 1)
        }

        @Test func `A line whose waiting transfers have all ended is idle`() throws {
            let transfers = try Self.transfers(2, bound: 1)
            let line = Self.line(of: transfers)
            Self.takeAll(line)
            line.noteEnd(transfers[1])
            #expect(!line.isIdle)
            line.noteEnd(transfers[0])
            #expect(line.isIdle && line.next() == nil)
        }

        @Test func `Those that wait go in the order in which they came`() throws {
            let transfers = try Self.transfers(5, bound: 1)
            let line = Self.line(of: transfers)
            for transfer in transfers {
                #expect(line.next() === transfer)
                Self.takeAll(line)
                line.noteEnd(transfer)
            }
            #expect(line.isIdle)
        }

        @Test(arguments: ["http://a.example/", "https://a.example/"])
        func `Over HTTP/1.1 there are as many as connections may be`(url: String) throws {
            let transfers = try Self.transfers(5, url, bound: 2)
            let line = Self.line(of: transfers, connections: 2, isHTTP2: false)
            #expect(Self.takeAll(line).count == 2)
            line.noteEnd(transfers[1])
            #expect(Self.takeAll(line).count == 1)
        }

        @Test func `Over HTTP/2 there are as many as the connections take, and one that may make the next`() throws {
            let transfers = try Self.transfers(103)
            let line = Self.line(of: transfers, connections: 1, isHTTP2: true)
            #expect(Self.takeAll(line).count == 101)
            line.noteConnection()
            #expect(Self.takeAll(line).count == 2)
        }

        @Test func `Over HTTP/2 there are no more than all connections take that may be`() throws {
            let transfers = try Self.transfers(103, bound: 1)
            #expect(Self.takeAll(Self.line(of: transfers, connections: 1, isHTTP2: true)).count == OriginLine.streams)
        }

        @Test func `Those that want a new connection share one`() throws {
            let transfers = try Self.transfers(3, isNew: true)
            let line = Self.line(of: transfers, connections: 1, isHTTP2: true)
            #expect(Self.takeAll(line) == [true])
            line.noteSent(transfers[0], at: 1)
            #expect(Self.takeAll(line) == [false, false])
        }

        @Test func `One that wants a new connection does not take one that was made before it came`() throws {
            let driver = CurlDriver(CurlTransport.with { _ in }.configuration)
            let transfers = try (0...1).map {
                try Self.transfer("https://a.example/", driver, true, submitted: $0 == 0 ? 0 : 2)
            }
            let line = Self.line(of: transfers, connections: 1, isHTTP2: true)
            Self.takeAll(line)
            line.noteSent(transfers[0], at: 1)
            #expect(Self.takeAll(line) == [true])
        }

        @Test func `Over HTTP/1.1 each that wants a new connection makes one`() throws {
            let transfers = try Self.transfers(3, isNew: true, bound: 2)
            let line = Self.line(of: transfers, connections: 2, isHTTP2: false)
            #expect(Self.takeAll(line) == [true, true])
            line.noteSent(transfers[0], at: 1)
            line.noteEnd(transfers[0])
            #expect(Self.takeAll(line) == [true])
        }

        @Test func `What has ended leaves the line, one or most of it`() throws {
            let transfers = try Self.transfers(300, bound: 1)
            let line = Self.line(of: transfers)
            Self.takeAll(line)
            for transfer in transfers[1..<299] { line.noteEnd(transfer) }
            #expect(line.waitingCount == 1)
            line.noteEnd(transfers[0])
            #expect(line.next() === transfers[299])
        }

        // MARK: The driver

        /// A driver without a thread, and transfers of which it has submitted the first to libcurl.
        private static func connecting(
            _ count: Int, _ change: (inout CurlTransport.Configuration) -> Void = { $0.maximumConnectionsPerHost = 1 }
        ) throws -> (CurlDriver, [CurlTransfer]) {
            let driver = CurlDriver(CurlTransport.with(change).configuration)
            let transfers = try (0..<count).map { _ in try transfer("https://a.example/", driver, false) }
            driver.multi = CurlDriver.makeMulti()
            for (index, transfer) in transfers.enumerated() {
                transfer.index = index
                driver.enterLine(transfer)
            }
            return (driver, transfers)
        }

        @Test func `Who waits for a connection does not connect`() throws {
            let (_, transfers) = try Self.connecting(3)
            #expect(transfers.map(\.place) == [.submitted(until: nil), .inLine, .inLine])
        }

        @Test func `The next of a line is submitted when one has ended`() throws {
            let (driver, transfers) = try Self.connecting(3)
            driver.leaveLine(transfers[0])
            driver.submitWaiting()
            #expect(transfers.map(\.place) == [.ended, .submitted(until: nil), .inLine])
        }

        @Test func `The wait for one of a limited number of connections is no time to connect`() throws {
            let (driver, transfers) = try Self.connecting(1) { $0.maximumConnections = 1 }
            transfers[0].place = .submitted(until: 1)
            driver.noteWaiting()
            #expect(transfers[0].place.connectDeadline == nil)
        }

        @Test func `Lines to which nothing goes any more are removed`() throws {
            let driver = CurlDriver(CurlTransport.with { _ in }.configuration)
            driver.multi = CurlDriver.makeMulti()
            for number in 0..<200 {
                let transfer = try Self.transfer("https://\(number).example/", driver, false)
                driver.enterLine(transfer)
                driver.leaveLine(transfer)
            }
            #expect(driver.lines.count <= 64)
        }
    }
#endif
