#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    struct OriginQueueTests {
        private typealias OriginState = ConnectionTable.OriginState

        private static func transfers(
            _ count: Int, _ url: String = "https://a.example/", isNew: Bool = false, bound: Int? = 64
        ) throws -> [CurlTransfer] {
            let configuration = CurlTransport.with { $0.maximumConnectionsPerHost = bound }.configuration
            let driver = CurlDriver(configuration)
            return try (0..<count).map { _ in try transfer(url, driver, isNew) }
        }

        private static func transfer(_ url: String, _ driver: CurlDriver, _ isNew: Bool) throws -> CurlTransfer {
            let request = try CurlRequest(URLRequest(url: try #require(URL(string: url))))
            return CurlTransfer(
                driver: driver, easy: driver.handles.take(.usual), request: request, limits: .init(TransferLimits()),
                upload: nil, wantsNewConnection: isNew, wantsProgress: false, submitted: 0)
        }

        private static func takeAll(_ queue: OriginQueue, _ known: OriginState?) -> [OriginQueue.Route] {
            var ways: [OriginQueue.Route] = []
            while let (_, route) = queue.takeNext(known) { ways.append(route) }
            return ways
        }

        @Test func `The first to an unknown origin goes alone, and the others when it was sent`() throws {
            let transfers = try Self.transfers(5)
            let queue = OriginQueue(of: transfers[0])
            #expect(transfers.map { queue.begin($0, nil) } == [.first, nil, nil, nil, nil])
            #expect(Self.takeAll(queue, nil).isEmpty)
            queue.noteSent(transfers[0])
            let one = OriginState(connections: 1)
            #expect(Self.takeAll(queue, one) == [.shared, .shared, .shared, .shared])
        }

        @Test func `One that wants a new connection gets it, unless one was made while it waited`() throws {
            let known = OriginState(connections: 1, speaksHTTP2: true)
            let driver = CurlDriver(CurlTransport.with { $0.maximumConnectionsPerHost = 1 }.configuration)
            let others = try (0..<OriginQueue.streams).map { _ in try Self.transfer("https://a.example/", driver, false)
            }
            let new = try (0..<2).map { _ in try Self.transfer("https://a.example/", driver, true) }
            let queue = OriginQueue(of: others[0])
            for other in others { #expect(queue.begin(other, known) == .shared) }
            for transfer in new { #expect(queue.begin(transfer, known) == nil) }
            for other in others { queue.noteEnd(other) }
            #expect(queue.takeNext(known)?.1 == .new)
            queue.noteSent(new[0])
            #expect(queue.takeNext(known)?.1 == .shared)
        }

        @Test func `When the first fails, the next goes alone`() throws {
            let transfers = try Self.transfers(3)
            let queue = OriginQueue(of: transfers[0])
            for transfer in transfers { _ = queue.begin(transfer, nil) }
            queue.noteEnd(transfers[0])
            #expect(Self.takeAll(queue, nil) == [.first])
            queue.noteEnd(transfers[1])
            #expect(Self.takeAll(queue, nil) == [.first])
            queue.noteEnd(transfers[2])
            #expect(queue.isIdle)
        }

        @Test func `Over HTTP/1.1 there are as many as connections may be`() throws {
            let transfers = try Self.transfers(5, "http://a.example/", bound: 2)
            let queue = OriginQueue(of: transfers[0])
            #expect(transfers.map { queue.begin($0, nil) } == [.shared, .shared, nil, nil, nil])
            queue.noteEnd(transfers[1])
            #expect(Self.takeAll(queue, nil) == [.shared])
            let secure = try Self.transfers(5, bound: 2)
            let other = OriginQueue(of: secure[0])
            let known = OriginState(connections: 2, speaksHTTP2: false)
            #expect(secure.map { other.begin($0, known) } == [.shared, .shared, nil, nil, nil])
        }

        @Test func `Over HTTP/2 one beyond those that the connections take makes the next connection`() throws {
            let transfers = try Self.transfers(103)
            let queue = OriginQueue(of: transfers[0])
            let one = OriginState(connections: 1, speaksHTTP2: true)
            let ways = transfers.map { queue.begin($0, one) }
            #expect(ways == Array(repeating: .shared, count: 100) + [.first, nil, nil])
            queue.noteSent(transfers[100])
            #expect(Self.takeAll(queue, OriginState(connections: 2, speaksHTTP2: true)) == [.shared, .shared])
        }

        @Test func `When no connection takes a request, one makes the next, and the others wait for it`() throws {
            let transfers = try Self.transfers(4)
            let queue = OriginQueue(of: transfers[0])
            let one = OriginState(connections: 1, speaksHTTP2: true)
            #expect(transfers[..<3].map { queue.begin($0, one) } == [.shared, .shared, .shared])
            for transfer in transfers[..<2] {
                queue.noteTurnedBack()
                #expect(queue.beginAnew(transfer, one) == (transfer === transfers[0] ? .new : nil))
            }
            #expect(queue.begin(transfers[3], one) == nil && Self.takeAll(queue, one).isEmpty)
            queue.noteSent(transfers[0])
            #expect(Self.takeAll(queue, OriginState(connections: 2, speaksHTTP2: true)) == [.shared, .shared])
        }

        @Test func `When the next connection fails after that, another request makes it`() throws {
            let transfers = try Self.transfers(2)
            let queue = OriginQueue(of: transfers[0])
            let one = OriginState(connections: 1, speaksHTTP2: true)
            for transfer in transfers { #expect(queue.begin(transfer, one) == .shared) }
            for transfer in transfers {
                queue.noteTurnedBack()
                _ = queue.beginAnew(transfer, one)
            }
            queue.noteEnd(transfers[0])
            #expect(Self.takeAll(queue, one) == [.first])
        }

        @Test func `Those that want a new connection share one`() throws {
            let transfers = try Self.transfers(3, isNew: true)
            let queue = OriginQueue(of: transfers[0])
            let one = OriginState(connections: 1, speaksHTTP2: true)
            #expect(transfers.map { queue.begin($0, one) } == [.new, nil, nil])
            queue.noteSent(transfers[0])
            #expect(Self.takeAll(queue, OriginState(connections: 2, speaksHTTP2: true)) == [.shared, .shared])
        }

        @Test func `They share it though another request ends meanwhile`() throws {
            let known = OriginState(connections: 1, speaksHTTP2: true)
            let driver = CurlDriver(CurlTransport.with { _ in }.configuration)
            let other = try Self.transfer("https://a.example/", driver, false)
            let new = try (0..<3).map { _ in try Self.transfer("https://a.example/", driver, true) }
            let queue = OriginQueue(of: other)
            #expect(queue.begin(other, known) == .shared)
            #expect(new.map { queue.begin($0, known) } == [.new, nil, nil])
            queue.noteEnd(other)
            #expect(Self.takeAll(queue, known).isEmpty)
        }

        @Test func `Over HTTP/1.1 each that wants a new connection makes one`() throws {
            let transfers = try Self.transfers(3, isNew: true, bound: 2)
            let queue = OriginQueue(of: transfers[0])
            let two = OriginState(connections: 2, speaksHTTP2: false)
            #expect(transfers.map { queue.begin($0, two) } == [.new, .new, nil])
            queue.noteSent(transfers[0])
            queue.noteEnd(transfers[0])
            #expect(Self.takeAll(queue, two) == [.new])
            #expect(queue.beginAnew(transfers[1], two) == .new)
        }

        @Test func `While the one that makes the next connection waits, others try one after the other`() throws {
            let transfers = try Self.transfers(4)
            let queue = OriginQueue(of: transfers[0])
            let one = OriginState(connections: 1, speaksHTTP2: true)
            #expect(queue.begin(transfers[0], one) == .shared)
            queue.noteTurnedBack()
            #expect(queue.beginAnew(transfers[0], one) == .new)
            #expect(queue.begin(transfers[1], one) == nil)
            transfers[0].place = .awaitingDescriptor
            #expect(queue.takeNext(one)?.1 == .shared && queue.isFull)
            queue.noteSent(transfers[1])
            #expect(queue.waits(for: transfers[0]) && queue.isFull)
        }

        @Test func `What has ended leaves the line, one or most of it`() throws {
            let transfers = try Self.transfers(300)
            let queue = OriginQueue(of: transfers[0])
            for transfer in transfers { _ = queue.begin(transfer, nil) }
            for transfer in transfers[1..<299] { queue.noteEnd(transfer) }
            #expect(queue.waiting.count == 1)
            queue.noteEnd(transfers[0])
            let next = queue.takeNext(nil)
            #expect(next?.0 === transfers[299] && next?.1 == .first)
        }

        // MARK: The driver

        /// A driver without a thread, and transfers of which it has given the first to libcurl.
        private static func connecting(
            _ count: Int, _ change: (inout CurlTransport.Configuration) -> Void = { _ in }
        ) throws -> (CurlDriver, [CurlTransfer]) {
            let driver = CurlDriver(CurlTransport.with(change).configuration)
            let transfers = try (0..<count).map { _ in try transfer("https://a.example/", driver, false) }
            let multi = try #require(CurlDriver.makeMulti())
            driver.multi = multi
            for transfer in transfers { driver.connect(transfer, try #require(transfer.easy), multi) }
            return (driver, transfers)
        }

        @Test func `The wait for the first connection is time to connect, and a later wait is not`() throws {
            let (driver, transfers) = try Self.connecting(3)
            #expect(transfers[1...].allSatisfy { $0.deadlines.connect != nil })
            driver.noteSent(transfers[0])
            #expect(transfers[1...].allSatisfy { $0.deadlines.connect == nil })
        }

        @Test func `Who waits for a transfer that itself waits does not connect`() throws {
            let (driver, transfers) = try Self.connecting(3)
            transfers[0].deadlines.connect = nil
            driver.move(transfers[0], to: .awaitingConnection)
            driver.othersWait(for: transfers[0])
            #expect(transfers.allSatisfy { $0.deadlines.connect == nil })
            let late = try Self.transfer("https://a.example/", driver, false)
            driver.connect(late, try #require(late.easy), try #require(driver.multi))
            #expect(late.deadlines.connect == nil)
        }

        @Test func `A transfer that leaves the line keeps the time that it has waited`() throws {
            let (driver, transfers) = try Self.connecting(2)
            let deadline = try #require(transfers[1].deadlines.connect)
            transfers[1].deadlines.connect = deadline - 1
            driver.leaveQueue(transfers[0])
            driver.giveWaiting(try #require(driver.multi))
            #expect(transfers[1].place == .given && transfers[1].deadlines.connect == deadline - 1)
        }

        @Test func `A queue whose transfers have all ended is gone`() throws {
            let (driver, transfers) = try Self.connecting(2)
            for transfer in transfers { driver.leaveQueue(transfer) }
            driver.giveWaiting(try #require(driver.multi))
            #expect(driver.queues.isEmpty)
        }

        @Test func `A queue that has ended leaves the next one of its origin alone`() throws {
            let (driver, transfers) = try Self.connecting(2)
            let multi = try #require(driver.multi)
            for transfer in transfers { driver.leaveQueue(transfer) }
            let next = try (0..<2).map { _ in try Self.transfer("https://a.example/", driver, false) }
            driver.connect(next[0], try #require(next[0].easy), multi)
            driver.giveWaiting(multi)
            driver.connect(next[1], try #require(next[1].easy), multi)
            #expect(next[1].place == .inLine && driver.queues.count == 1)
        }

        @Test func `Those that wait connect again when the last connection is gone`() throws {
            let (driver, transfers) = try Self.connecting(3)
            driver.noteSent(transfers[0])
            #expect(transfers[2].deadlines.connect == nil)
            driver.leaveQueue(transfers[0])
            driver.giveWaiting(try #require(driver.multi))
            #expect(transfers[1].place == .given && transfers[2].place == .inLine)
            #expect(transfers[2].deadlines.connect != nil)
        }

        @Test func `The wait for one of a limited number of connections is no time to connect`() throws {
            let (driver, transfers) = try Self.connecting(1) { $0.maximumConnections = 1 }
            transfers[0].index = 0
            transfers[0].deadlines.connect = 1
            driver.noticeWaiting()
            #expect(transfers[0].place == .awaitingConnection && transfers[0].deadlines.connect == nil)
        }

        @Test func `A request that finds an ended connection the second time keeps the time when it was sent`() throws {
            let transfer = try Self.transfers(1)[0]
            (transfer.sends, transfer.sent, transfer.connection.loss) = (1, 5, .beforeUse)
            transfer.wasNotSent()
            #expect(transfer.sent == 5)
        }
    }
#endif
