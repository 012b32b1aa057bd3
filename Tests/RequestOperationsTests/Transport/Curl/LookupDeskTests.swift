#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    struct LookupDeskTests {
        private static let bounds = LookupBounds(young: 4, unresolved: 6, all: 8)
        private static let wideBounds = LookupBounds(young: 64, unresolved: 64, all: 64)
        private static let second: Int64 = 1_000_000_000

        private var desk = LookupDesk(LookupDeskTests.bounds, answersComeInParts: false)
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
                if lookingUp { for transfer in trying { desk.lookupBegins(for: transfer, at: 0) } }
                trying = trying.flatMap { desk.lookupEnded(for: $0, connects: true, at: 0) }
            }
            return widths
        }

        @Test mutating func `The first transfer to a name looks it up, the others are held and let go together`() throws
        {
            let all = try (0..<5).map { _ in try transfer("a.example") }
            let admitted = all.map { desk.admits($0, at: 0) }
            #expect(admitted == [true, false, false, false, false])
            desk.lookupBegins(for: all[0], at: 0)
            let released = desk.lookupEnded(for: all[0], connects: true, at: 0)
            #expect(released.map(ObjectIdentifier.init) == all[1...].map(ObjectIdentifier.init))
            #expect(desk.held.isEmpty)
        }

        @Test mutating func `A known name holds nobody until libcurl forgets it`() throws {
            let first = try transfer("a.example")
            _ = desk.admits(first, at: 0)
            desk.lookupBegins(for: first, at: 0)
            _ = desk.lookupEnded(for: first, connects: true, at: 0)
            let times: [Int64] = [49_000_000_000, 61_000_000_000, 61_000_000_000]
            let admitted = try times.map { desk.admits(try transfer("a.example"), at: $0) }
            #expect(admitted == [true, true, false])
        }

        @Test mutating func `After an hour nothing is left of names that nobody needs`() throws {
            for number in 0..<1000 {
                let transfer = try transfer("\(number).example")
                _ = desk.admits(transfer, at: 0)
                desk.lookupBegins(for: transfer, at: 0)
                _ = desk.lookupEnded(for: transfer, connects: true, at: 0)
            }
            let count = desk.nameCount
            // A known one.
            for _ in 1...2 { _ = desk.admits(try transfer("0.example"), at: HostMemory.sweepInterval) }
            #expect(count == 1000 && desk.nameCount == 1)
        }

        @Test mutating func `Where a connection may begin before the name is known, few try before it is`() throws {
            desk = LookupDesk(Self.bounds, answersComeInParts: true)
            let all = try (0..<8).map { _ in try transfer("a.example") }
            for transfer in all { _ = desk.admits(transfer, at: 0) }
            desk.lookupBegins(for: all[0], at: 0)
            let first = desk.lookupEnded(for: all[0], connects: true, at: 0)
            #expect(first.map(ObjectIdentifier.init) == [ObjectIdentifier(all[1])])
            // It was not, for this one.
            desk.lookupBegins(for: all[1], at: 0)
            let second = desk.lookupEnded(for: all[1], connects: true, at: 0)
            #expect(second.map(ObjectIdentifier.init) == all[2...3].map(ObjectIdentifier.init))
            let rest = desk.lookupEnded(for: all[2], connects: true, at: 0)
            #expect(rest.map(ObjectIdentifier.init) == all[4...].map(ObjectIdentifier.init))
        }

        @Test mutating func `Where no look-up tells it all, ever more try at a time`() throws {
            desk = LookupDesk(Self.wideBounds, answersComeInParts: true)
            let widths = try widthsOfHundred(lookingUp: true)
            #expect(widths == [1, 1, 2, 8, 32, 32, 24])
        }

        @Test mutating func `Look-ups that are far apart have told it all`() throws {
            desk = LookupDesk(Self.bounds, answersComeInParts: true)
            for minute in Int64(0)..<20 {
                let transfer = try transfer("a.example")
                _ = desk.admits(transfer, at: minute * 60_000_000_000)
                desk.lookupBegins(for: transfer, at: minute * 60_000_000_000)
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
            desk = LookupDesk(Self.bounds, answersComeInParts: true)
            let (first, next) = (try transfer("a.example"), try transfer("a.example"))
            _ = desk.admits(first, at: 0)
            desk.lookupBegins(for: first, at: 0)
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

        @Test mutating func `A failed look-up ends one transfer, and ever more of the others try at a time`() throws {
            desk = LookupDesk(Self.wideBounds, answersComeInParts: false)
            let all = try (0..<100).map { _ in try transfer("a.example") }
            for transfer in all { _ = desk.admits(transfer, at: 0) }
            var trying = [all[0]]
            var widths: [Int] = []
            while !trying.isEmpty {
                widths.append(trying.count)
                for transfer in trying { desk.lookupBegins(for: transfer, at: 0) }
                trying = trying.flatMap { desk.ended($0, isFailure: true, at: 0) }
            }
            #expect(widths == [1, 2, 8, 32, 32, 25])
        }

        @Test mutating func `After its last failure a name is looked up by one transfer again`() throws {
            let all = try (0..<4).map { _ in try transfer("a.example") }
            for transfer in all { _ = desk.admits(transfer, at: 0) }
            var trying = [all[0]]
            while let transfer = trying.popLast() { trying += desk.ended(transfer, isFailure: true, at: 0) }
            let admitted = try (0..<3).map { _ in desk.admits(try transfer("a.example"), at: 0) }
            #expect(admitted == [true, false, false])
        }

        @Test mutating func `After a look-up without an answer the next one tries`() throws {
            let all = try (0..<3).map { _ in try transfer("a.example") }
            for transfer in all { _ = desk.admits(transfer, at: 0) }
            desk.lookupBegins(for: all[0], at: 0)
            let next = desk.ended(all[0], isFailure: false, at: 0)
            #expect(next.map(ObjectIdentifier.init) == [ObjectIdentifier(all[1])])
            let isAdmitted = desk.admits(all[1], at: 0)
            #expect(isAdmitted)
            #expect(desk.heldCount == 1)
        }

        @Test mutating func `A connection that is used again does not make a name known`() throws {
            desk = LookupDesk(Self.wideBounds, answersComeInParts: false)
            // Each that needs no look-up lets go of some more, in their order.
            let widths = try widthsOfHundred(lookingUp: false)
            #expect(widths.reduce(0, +) == 100 && widths.max() == LookupDesk.widestWindow)
            let (first, second) = (try transfer("a.example"), try transfer("a.example"))
            var admitted = [desk.admits(first, at: 0)]
            desk.lookupBegins(for: first, at: 0)
            admitted.append(desk.admits(second, at: 0))
            #expect(admitted == [true, false])
        }

        @Test mutating func `A name whose transfers wait for a connection takes no place`() throws {
            let all = try (0..<5).map { try transfer("host\($0).example") }
            for transfer in all { _ = desk.admits(transfer, at: 0) }
            let next = desk.waits(all[0], at: 0)
            #expect(next.map(ObjectIdentifier.init) == [ObjectIdentifier(all[4])])
            // Once it has its connection it counts again.
            desk.lookupBegins(for: all[0], at: 0)
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
            desk.lookupBegins(for: first, at: 0)
            #expect(desk.lookupEnded(for: first, connects: true, at: 0).isEmpty)
        }

        // MARK: Places

        /// Admits as many names that were never resolved as find a place at a time.
        private mutating func fill(at now: Int64) throws -> [CurlTransfer] {
            try (0..<20).map { try transfer("other\($0)-\(now).example") }.filter { desk.admits($0, at: now) }
        }

        @Test mutating func `No more names than may be young are looked up at first`() throws {
            let all = try (0..<6).map { try transfer("host\($0).example") }
            let admitted = all.filter { desk.admits($0, at: 0) }
            #expect(admitted.count == Self.bounds.young)
            let next = desk.ended(all[0], isFailure: false, at: 0)
            #expect(next.map(ObjectIdentifier.init) == [ObjectIdentifier(all[4])])
            #expect(desk.held.count == 1)
        }

        @Test mutating func `Look-ups older than a second let others begin, up to the bound on all`() throws {
            let all = try (0..<8).map { try transfer("host\($0).example") }
            for transfer in all where desk.admits(transfer, at: 0) { desk.lookupBegins(for: transfer, at: 0) }
            #expect((Self.second...Self.second * 5 / 4).contains(desk.nextAging))
            #expect(desk.age(at: Self.second * 9 / 10).isEmpty)
            let next = desk.age(at: desk.nextAging)
            #expect(next.map(ObjectIdentifier.init) == all[4...5].map(ObjectIdentifier.init))
            #expect(desk.age(at: 60 * Self.second).isEmpty && desk.heldCount == 2)
        }

        @Test mutating func `A look-up that was given up is young no longer, and counts until it ends`() throws {
            let all = try (0..<8).map { try transfer("host\($0).example") }
            for transfer in all where desk.admits(transfer, at: 0) { desk.lookupBegins(for: transfer, at: 0) }
            let next = all[0...2].map { desk.abandons($0, at: 0).count }
            #expect(next == [1, 1, 0])
            #expect(desk.ended(all[0], isFailure: true, at: 0).count == 1)
        }

        @Test mutating func `A name that was resolved before does not wait for names that never were`() throws {
            let first = try transfer("a.example")
            _ = desk.admits(first, at: 0)
            desk.lookupBegins(for: first, at: 0)
            _ = desk.lookupEnded(for: first, connects: true, at: 0)
            let counts = [try fill(at: 60 * Self.second).count, try fill(at: 62 * Self.second).count]
            let isAdmitted = desk.admits(try transfer("a.example"), at: 62 * Self.second)
            #expect(counts == [4, 2] && isAdmitted)
        }

        @Test mutating func `Names that were resolved before are looked up again no more than the bound at a time`()
            throws
        {
            for index in 0..<9 {
                let transfer = try transfer("host\(index).example")
                _ = desk.admits(transfer, at: 0)
                desk.lookupBegins(for: transfer, at: 0)
                _ = desk.lookupEnded(for: transfer, connects: true, at: 0)
            }
            let later = 60 * Self.second
            let all = try (0..<9).map { try transfer("host\($0).example") }
            let admitted = all.filter { desk.admits($0, at: later) }
            #expect(admitted.count == Self.bounds.all)
            let next = desk.ended(all[0], isFailure: false, at: later)
            #expect(next.map(ObjectIdentifier.init) == [ObjectIdentifier(all[8])])
        }

        @Test mutating func `A connection that comes free lets one transfer pass a look-up that does not end`() throws {
            let all = try (0..<4).map { _ in try transfer("a.example") }
            for transfer in all { _ = desk.admits(transfer, at: 0) }
            desk.lookupBegins(for: all[0], at: 0)
            let user = try transfer("a.example")
            let next = desk.connectionComesFree(after: user, at: 0)
            #expect(next.map(ObjectIdentifier.init) == [ObjectIdentifier(all[1])])
            #expect(desk.lookupEnded(for: all[1], connects: false, at: 0).isEmpty)
            #expect(desk.heldCount == 2)
        }

        @Test mutating func `A connection that came free is there for a later transfer until one looks the name up`()
            throws
        {
            let all = try (0..<4).map { _ in try transfer("a.example") }
            _ = desk.admits(all[0], at: 0)
            desk.lookupBegins(for: all[0], at: 0)
            for _ in 1...2 { _ = desk.connectionComesFree(after: try transfer("a.example"), at: 0) }
            var admitted = [desk.admits(all[1], at: 0)]
            // It was not free after all.
            desk.lookupBegins(for: all[1], at: 0)
            admitted.append(desk.admits(all[2], at: 0))
            #expect(admitted == [true, false])
        }

        @Test mutating func `A long line is gone through in a time that its length does not square`() throws {
            let all = try (0..<5000).map { try transfer("host\($0).example") }
            var trying = all.filter { desk.admits($0, at: 0) }
            var count = 0
            while let transfer = trying.popLast() {
                count += 1
                trying += desk.ended(transfer, isFailure: true, at: 0)
            }
            #expect(count == all.count)
        }
    }
#endif
