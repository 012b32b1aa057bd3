#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    struct ConnectionLineTests {
        private var line = ConnectionLine(triesSingleLine: false)
        private let driver = CurlDriver(CurlTransport.Configuration())

        /// A transfer that libcurl has, and has done nothing for.
        private func waiting(_ host: String) throws -> CurlTransfer {
            let transfer = try CurlTransfer.to(host, over: driver)
            transfer.place = .active(0)
            return transfer
        }

        private mutating func tried() -> [ObjectIdentifier] {
            line.takeCandidates().map(ObjectIdentifier.init)
        }

        @Test mutating func `The first to an origin that has room is tried, and stays the first until it goes`() throws
        {
            let (first, second, other) = (try waiting("a.example"), try waiting("a.example"), try waiting("b.example"))
            for transfer in [first, second, other] { line.append(transfer) }
            line.noteRoom(at: second)
            #expect(tried() == [ObjectIdentifier(first)])
            line.noteRoom(at: first)
            #expect(tried() == [ObjectIdentifier(first)])
            first.phase = .head
            line.noteRoom(at: first)
            #expect(tried() == [ObjectIdentifier(second)])
        }

        @Test mutating func `Nothing is tried until something has room`() throws {
            for host in ["a.example", "b.example"] { line.append(try waiting(host)) }
            #expect(tried().isEmpty)
            line.noteRoom(at: try waiting("c.example"))
            #expect(tried().isEmpty)
        }

        @Test mutating func `Of a single origin none is tried, but where libcurl may let it wait for nothing`() throws {
            let transfer = try waiting("a.example")
            var other = ConnectionLine(triesSingleLine: true)
            #expect(!other.isTried)
            line.append(transfer)
            line.rotate()
            #expect(!line.isTried && tried().isEmpty)
            transfer.isInLine = false
            other.append(transfer)
            other.rotate()
            #expect(other.isTried && other.takeCandidates().map(ObjectIdentifier.init) == [ObjectIdentifier(transfer)])
        }

        @Test mutating func `Every origin is tried in its turn, though nothing had room`() throws {
            let transfers = try (0..<30).map { try waiting("\($0).example") }
            for transfer in transfers { line.append(transfer) }
            var all: Set<ObjectIdentifier> = []
            for _ in 0..<4 {
                line.rotate()
                let some = tried()
                #expect(some.count <= 8)
                all.formUnion(some)
            }
            #expect(all == Set(transfers.map(ObjectIdentifier.init)))
        }

        @Test mutating func `Those that have ended behind one that waits are not kept for long`() throws {
            let first = try waiting("a.example")
            let others = try (0..<1000).map { _ in try waiting("a.example") }
            for transfer in [first] + others { line.append(transfer) }
            for transfer in others {
                transfer.place = .nowhere
                line.ends(transfer)
            }
            #expect(first.isInLine && others.filter(\.isInLine).count <= 100)
        }

        @Test mutating func `What is in the line is not put into it twice`() throws {
            let (first, other) = (try waiting("a.example"), try waiting("b.example"))
            for transfer in [first, first, other] { line.append(transfer) }
            first.phase = .head
            line.noteRoom(at: first)
            #expect(tried().isEmpty && !first.isInLine && other.isInLine)
        }

        @Test mutating func `Where all wait for one origin, libcurl is left alone`() throws {
            let (first, second) = (try waiting("a.example"), try waiting("A.example:80"))
            for transfer in [first, second] { line.append(transfer) }
            line.noteRoom(at: first)
            #expect(tried().isEmpty)
        }

        @Test(arguments: [false, true])
        mutating func `A new connection is told of once, also if none waits for it yet`(all: Bool) throws {
            let (first, second) = (try waiting("a.example"), try waiting("a.example"))
            for isForAll in [all, false] { line.noteConnection(for: first, all: isForAll) }
            for transfer in [first, second] { line.append(transfer) }
            let tried = line.takeConnected()
            #expect(tried.map(ObjectIdentifier.init) == (all ? [first, second] : [first]).map(ObjectIdentifier.init))
            let triedAgain = line.takeConnected()
            #expect(triedAgain.isEmpty)
            #expect(first.isInLine && second.isInLine)
        }

        @Test mutating func `All that wait for an origin are taken in their order, without those that went`() throws {
            let all = try (0..<4).map { _ in try waiting("a.example") }
            let other = try waiting("b.example")
            for transfer in all + [other] { line.append(transfer) }
            all[1].phase = .head
            let taken = line.takeAll(to: all[0].origin)
            #expect(taken.map(ObjectIdentifier.init) == [0, 2, 3].map { ObjectIdentifier(all[$0]) })
            #expect(all.allSatisfy { !$0.isInLine } && other.isInLine)
        }

        @Test mutating func `An origin for which none waits any more is forgotten`() throws {
            let (first, other) = (try waiting("a.example"), try waiting("b.example"))
            for transfer in [first, other] { line.append(transfer) }
            first.place = .nowhere
            line.noteRoom(at: first)
            #expect(tried().isEmpty)
            // One origin is left.
            line.noteRoom(at: other)
            #expect(tried().isEmpty)
        }
    }
#endif
