#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    struct LookupDeskTests {
        private var desk = LookupDesk(answersComeInParts: false)
        private let driver = CurlDriver(CurlTransport.Configuration())

        private func transfer(_ host: String) throws -> CurlTransfer {
            try CurlTransfer.to(host, over: driver)
        }

        /// How many of a hundred transfers to one name try at a time, each until it connects.
        private mutating func widthsOfHundred(lookingUp: Bool) throws -> [Int] {
            let all = try (0..<100).map { _ in try transfer("a.example") }
            for transfer in all { _ = desk.admits(transfer, at: 0) }
            var trying = [all[0]]
            var widths: [Int] = []
            while !trying.isEmpty {
                widths.append(trying.count)
                if lookingUp { for transfer in trying { desk.lookupBegins(for: transfer) } }
                trying = trying.flatMap { desk.lookupEnded(for: $0, connects: true, at: 0) }
            }
            return widths
        }

        @Test mutating func `The first transfer to a name looks it up, the others are held and let go together`() throws
        {
            let all = try (0..<5).map { _ in try transfer("a.example") }
            let admitted = all.map { desk.admits($0, at: 0) }
            #expect(admitted == [true, false, false, false, false])
            desk.lookupBegins(for: all[0])
            let released = desk.lookupEnded(for: all[0], connects: true, at: 0)
            #expect(released.map(ObjectIdentifier.init) == all[1...].map(ObjectIdentifier.init))
            #expect(desk.held.isEmpty)
        }

        @Test mutating func `A known name holds nobody until libcurl forgets it`() throws {
            let first = try transfer("a.example")
            _ = desk.admits(first, at: 0)
            desk.lookupBegins(for: first)
            _ = desk.lookupEnded(for: first, connects: true, at: 0)
            let times: [Int64] = [49_000_000_000, 61_000_000_000, 61_000_000_000]
            let admitted = try times.map { desk.admits(try transfer("a.example"), at: $0) }
            #expect(admitted == [true, true, false])
        }

        @Test mutating func `After an hour nothing is left of names that nobody needs`() throws {
            for number in 0..<1000 {
                let transfer = try transfer("\(number).example")
                _ = desk.admits(transfer, at: 0)
                desk.lookupBegins(for: transfer)
                _ = desk.lookupEnded(for: transfer, connects: true, at: 0)
            }
            let count = desk.nameCount
            // A known one.
            for _ in 1...2 { _ = desk.admits(try transfer("0.example"), at: HostMemory.sweepInterval) }
            #expect(count == 1000 && desk.nameCount == 1)
        }

        @Test mutating func `Where a connection may begin before the name is known, few try before it is`() throws {
            desk = LookupDesk(answersComeInParts: true)
            let all = try (0..<8).map { _ in try transfer("a.example") }
            for transfer in all { _ = desk.admits(transfer, at: 0) }
            desk.lookupBegins(for: all[0])
            let first = desk.lookupEnded(for: all[0], connects: true, at: 0)
            #expect(first.map(ObjectIdentifier.init) == [ObjectIdentifier(all[1])])
            // It was not, for this one.
            desk.lookupBegins(for: all[1])
            let second = desk.lookupEnded(for: all[1], connects: true, at: 0)
            #expect(second.map(ObjectIdentifier.init) == all[2...3].map(ObjectIdentifier.init))
            let rest = desk.lookupEnded(for: all[2], connects: true, at: 0)
            #expect(rest.map(ObjectIdentifier.init) == all[4...].map(ObjectIdentifier.init))
        }

        @Test mutating func `Where no look-up tells it all, ever more try at a time`() throws {
            desk = LookupDesk(answersComeInParts: true)
            let widths = try widthsOfHundred(lookingUp: true)
            #expect(widths == [1, 1, 2, 8, 32, 32, 24])
        }

        @Test mutating func `Look-ups that are far apart have told it all`() throws {
            desk = LookupDesk(answersComeInParts: true)
            for minute in Int64(0)..<20 {
                let transfer = try transfer("a.example")
                _ = desk.admits(transfer, at: minute * 60_000_000_000)
                desk.lookupBegins(for: transfer)
                _ = desk.lookupEnded(for: transfer, connects: true, at: minute * 60_000_000_000)
            }
            let burst = try (0..<8).map { _ in try transfer("a.example") }
            let admitted = burst.filter { desk.admits($0, at: 1_200_000_000_000) }
            #expect(admitted.count == 1)
        }

        @Test(arguments: [(40, true), (60, false)])
        mutating func `A name that is found known is so as long as since its look-up`(second: Int64, isKnown: Bool)
            throws
        {
            desk = LookupDesk(answersComeInParts: true)
            let (first, next) = (try transfer("a.example"), try transfer("a.example"))
            _ = desk.admits(first, at: 0)
            desk.lookupBegins(for: first)
            _ = desk.lookupEnded(for: first, connects: true, at: 0)
            _ = desk.admits(next, at: 30_000_000_000)
            _ = desk.lookupEnded(for: next, connects: true, at: 30_000_000_000)
            let late = try (0..<8).map { _ in try transfer("a.example") }
            let admitted = late.map { desk.admits($0, at: second * 1_000_000_000) }
            #expect(admitted.allSatisfy(\.self) == isKnown)
        }

        @Test mutating func `Names do not hold one another, nor does an address`() throws {
            let hosts = ["a.example", "b.example", "127.0.0.1", "127.0.0.1"]
            let admitted = try hosts.map { desk.admits(try transfer($0), at: 0) }
            #expect(admitted == [true, true, true, true])
        }

        @Test mutating func `Those that a failed look-up held are handed back`() throws {
            let (first, second) = (try transfer("a.example"), try transfer("a.example"))
            _ = desk.admits(first, at: 0)
            _ = desk.admits(second, at: 0)
            desk.lookupBegins(for: first)
            let (failed, next) = desk.ended(first, isUnknown: true)
            #expect(failed.map(ObjectIdentifier.init) == [ObjectIdentifier(second)] && next.isEmpty)
            #expect(desk.held.isEmpty)
        }

        @Test mutating func `After a look-up without an answer the next one tries`() throws {
            let all = try (0..<3).map { _ in try transfer("a.example") }
            for transfer in all { _ = desk.admits(transfer, at: 0) }
            desk.lookupBegins(for: all[0])
            let (failed, next) = desk.ended(all[0], isUnknown: false)
            #expect(failed.isEmpty && next.map(ObjectIdentifier.init) == [ObjectIdentifier(all[1])])
            let isAdmitted = desk.admits(all[1], at: 0)
            #expect(isAdmitted)
            #expect(desk.heldCount == 1)
        }

        @Test mutating func `A connection that is used again does not make a name known`() throws {
            // Each that needs no look-up lets go of some more, in their order.
            let widths = try widthsOfHundred(lookingUp: false)
            #expect(widths.reduce(0, +) == 100 && widths.max() == LookupDesk.widestWindow)
            let (first, second) = (try transfer("a.example"), try transfer("a.example"))
            var admitted = [desk.admits(first, at: 0)]
            desk.lookupBegins(for: first)
            admitted.append(desk.admits(second, at: 0))
            #expect(admitted == [true, false])
        }

        @Test mutating func `A name whose transfers wait for a connection takes no place`() throws {
            let all = try (0..<(LookupDesk.width + 1)).map { try transfer("host\($0).example") }
            for transfer in all { _ = desk.admits(transfer, at: 0) }
            let next = desk.waits(all[0])
            #expect(next.map(ObjectIdentifier.init) == [ObjectIdentifier(all[LookupDesk.width])])
            // Once it has its connection it counts again.
            desk.lookupBegins(for: all[0])
            for transfer in all[1...2] { _ = desk.lookupEnded(for: transfer, connects: true, at: 0) }
            let admitted = try ["late.example", "later.example"].map { desk.admits(try transfer($0), at: 0) }
            #expect(admitted == [true, false])
        }

        @Test mutating func `A transfer that is given up while it is held is let go of`() throws {
            let (first, second) = (try transfer("a.example"), try transfer("a.example"))
            _ = desk.admits(first, at: 0)
            _ = desk.admits(second, at: 0)
            desk.remove(second)
            #expect(desk.held.isEmpty && desk.heldCount == 0)
            desk.lookupBegins(for: first)
            #expect(desk.lookupEnded(for: first, connects: true, at: 0).isEmpty)
        }

        @Test mutating func `No more names than the width are looked up at a time`() throws {
            let all = try (0..<(LookupDesk.width + 2)).map { try transfer("host\($0).example") }
            let admitted = all.filter { desk.admits($0, at: 0) }
            #expect(admitted.count == LookupDesk.width)
            let (_, next) = desk.ended(all[0], isUnknown: false)
            #expect(next.map(ObjectIdentifier.init) == [ObjectIdentifier(all[LookupDesk.width])])
            #expect(desk.held.count == 1)
        }

        @Test mutating func `A long line is gone through in a time that its length does not square`() throws {
            let all = try (0..<20_000).map { try transfer("host\($0).example") }
            var trying = all.filter { desk.admits($0, at: 0) }
            var count = 0
            while let transfer = trying.popLast() {
                count += 1
                trying += desk.ended(transfer, isUnknown: true).next
            }
            #expect(count == all.count)
        }
    }
#endif
