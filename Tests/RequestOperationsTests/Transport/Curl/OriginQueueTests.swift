#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    @Suite(.timeLimit(.minutes(10)))
    struct OriginQueueTests {
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
            var task = TransportTask(URLRequest(url: try #require(URL(string: url))))
            task.wantsNewConnection = isNew
            return try CurlTransferTask(task, driver: driver, submitted: submitted, onHead: { _ in }).transfer
        }

        /// A queue that all transfers have entered, in this order.
        private static func queue(
            of transfers: [CurlTransfer], connections: Int = 0, isHTTP2: Bool? = nil
        ) -> OriginQueue {
            let queue = OriginQueue(of: transfers[0], mayShare: true)
            for _ in 0..<connections { queue.connections += 1 }
            if let isHTTP2 { queue.speaksHTTP2 = isHTTP2 }
            for transfer in transfers { queue.enter(transfer) }
            return queue
        }

        /// Takes out all transfers whose turn it is, as a driver does. Returns whether each makes a new connection.
        @discardableResult
        private static func takeAll(_ queue: OriginQueue) -> [Bool] {
            var areNew: [Bool] = []
            while let next = queue.next() {
                areNew.append(queue.takeNext())
                next.place = .submitted(until: nil)
            }
            return areNew
        }

        @Test func `The first to an unknown origin goes alone, and the others when it was sent`() throws {
            let transfers = try Self.transfers(5)
            let queue = Self.queue(of: transfers)
            #expect(Self.takeAll(queue).count == 1 && transfers[0].place == .submitted(until: nil))
            queue.connections += 1
            queue.noteSent(transfers[0], at: 1)
            #expect(Self.takeAll(queue).count == 4)
        }

        @Test func `When the first fails, the others do not wait for one another`() throws {
            let transfers = try Self.transfers(5, bound: 3)
            let queue = Self.queue(of: transfers)
            Self.takeAll(queue)
            queue.noteEnd(transfers[0])
            #expect(Self.takeAll(queue).count == 3)
        }

        @Test func `When the first is cancelled, the next goes alone`() throws {
            let transfers = try Self.transfers(5, bound: 3)
            let queue = Self.queue(of: transfers)
            Self.takeAll(queue)
            transfers[0].outcome = .stopped(.aborted)
            queue.noteEnd(transfers[0])
            #expect(Self.takeAll(queue).count == 1)
        }

        @Test func `A failure is forgotten when all have ended`() throws {
            let transfers = try Self.transfers(5, bound: 3)
            let queue = Self.queue(of: Array(transfers[..<1]))
            Self.takeAll(queue)
            queue.noteEnd(transfers[0])
            for transfer in transfers[1...] { queue.enter(transfer) }
            #expect(Self.takeAll(queue).count == 1)
        }

        @Test func `A queue whose waiting transfers have all ended is idle`() throws {
            let transfers = try Self.transfers(2, bound: 1)
            let queue = Self.queue(of: transfers)
            Self.takeAll(queue)
            queue.noteEnd(transfers[1])
            #expect(!queue.isIdle)
            queue.noteEnd(transfers[0])
            #expect(queue.isIdle && queue.next() == nil)
        }

        @Test func `Those that wait go in the order in which they came`() throws {
            let transfers = try Self.transfers(5, bound: 1)
            let queue = Self.queue(of: transfers)
            for transfer in transfers {
                #expect(queue.next() === transfer)
                Self.takeAll(queue)
                queue.noteEnd(transfer)
            }
            #expect(queue.isIdle)
        }

        @Test(arguments: ["http://a.example/", "https://a.example/"])
        func `Over HTTP/1.1 there are as many as connections may be`(url: String) throws {
            let transfers = try Self.transfers(5, url, bound: 2)
            let queue = Self.queue(of: transfers, connections: 2, isHTTP2: false)
            #expect(Self.takeAll(queue).count == 2)
            queue.noteEnd(transfers[1])
            #expect(Self.takeAll(queue).count == 1)
        }

        @Test func `Over HTTP/2 there are as many as the connections take, and one that may make the next`() throws {
            let transfers = try Self.transfers(103)
            let queue = Self.queue(of: transfers, connections: 1, isHTTP2: true)
            #expect(Self.takeAll(queue).count == 101)
            queue.connections += 1
            #expect(Self.takeAll(queue).count == 2)
        }

        @Test func `Over HTTP/2 there are no more than all connections take that may be`() throws {
            let transfers = try Self.transfers(103, bound: 1)
            #expect(Self.takeAll(Self.queue(of: transfers, connections: 1, isHTTP2: true)).count == OriginQueue.streams)
        }

        @Test func `Those that want a new connection share one`() throws {
            let transfers = try Self.transfers(3, isNew: true)
            let queue = Self.queue(of: transfers, connections: 1, isHTTP2: true)
            #expect(Self.takeAll(queue) == [true])
            queue.noteSent(transfers[0], at: 1)
            #expect(Self.takeAll(queue) == [false, false])
        }

        @Test func `One that wants a new connection does not take one that was made before it came`() throws {
            let driver = CurlDriver(CurlTransport.with { _ in }.configuration)
            let transfers = try (0...1).map {
                try Self.transfer("https://a.example/", driver, true, submitted: $0 == 0 ? 0 : 2)
            }
            let queue = Self.queue(of: transfers, connections: 1, isHTTP2: true)
            Self.takeAll(queue)
            queue.noteSent(transfers[0], at: 1)
            #expect(Self.takeAll(queue) == [true])
        }

        @Test func `Over HTTP/1.1 each that wants a new connection makes one`() throws {
            let transfers = try Self.transfers(3, isNew: true, bound: 2)
            let queue = Self.queue(of: transfers, connections: 2, isHTTP2: false)
            #expect(Self.takeAll(queue) == [true, true])
            queue.noteSent(transfers[0], at: 1)
            queue.noteEnd(transfers[0])
            #expect(Self.takeAll(queue) == [true])
        }

        @Test func `What has ended leaves the queue, one or most of it`() throws {
            let transfers = try Self.transfers(300, bound: 1)
            let queue = Self.queue(of: transfers)
            Self.takeAll(queue)
            for transfer in transfers[1..<299] { queue.noteEnd(transfer) }
            #expect(queue.waitingCount == 1)
            queue.noteEnd(transfers[0])
            #expect(queue.next() === transfers[299])
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
                driver.enterQueue(transfer)
            }
            return (driver, transfers)
        }

        @Test func `Who waits for a connection does not connect`() throws {
            let (_, transfers) = try Self.connecting(3)
            #expect(transfers.map(\.place) == [.submitted(until: nil), .inQueue, .inQueue])
        }

        @Test func `The next of a queue is submitted when one has ended`() throws {
            let (driver, transfers) = try Self.connecting(3)
            driver.leaveQueue(transfers[0])
            driver.submitWaiting()
            #expect(transfers.map(\.place) == [.ended, .submitted(until: nil), .inQueue])
        }

        @Test func `The wait for one of a limited number of connections is no time to connect`() throws {
            let (driver, transfers) = try Self.connecting(1) { $0.maximumConnections = 1 }
            transfers[0].place = .submitted(until: 1)
            driver.noteWaiting()
            #expect(transfers[0].place.connectDeadline == nil)
        }

        @Test func `Queues to which nothing goes any more are removed`() throws {
            let driver = CurlDriver(CurlTransport.with { _ in }.configuration)
            driver.multi = CurlDriver.makeMulti()
            for number in 0..<200 {
                let transfer = try Self.transfer("https://\(number).example/", driver, false)
                driver.enterQueue(transfer)
                driver.leaveQueue(transfer)
            }
            #expect(driver.queues.count <= 64)
        }
    }
#endif
