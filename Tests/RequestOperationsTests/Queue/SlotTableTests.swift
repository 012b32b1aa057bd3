import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct SlotTableTests {
    private static func origin(_ host: Int) -> Origin { Origin(URL(string: "http://h\(host).example/")) }

    /// A table with named waiters.
    private struct Line {
        var table: SlotTable
        private var names: [ObjectIdentifier: (name: String, answer: Answer<Void>)] = [:]

        init(total: Int = .max, perHost: Int = .max, maximumWaiting: Int = .max) {
            table = SlotTable(total: total, perHost: perHost, maximumWaiting: maximumWaiting)
        }

        @discardableResult
        mutating func enter(
            _ name: String, _ host: Int = 0, _ priority: Operation.QueuePriority = .normal,
            at place: SlotTable.Place? = nil, as standing: SlotTable.Standing = .later
        ) -> (entry: SlotTable.Entry, place: SlotTable.Place) {
            let answer = Answer<Void>()
            names[ObjectIdentifier(answer)] = (name, answer)
            let mine = place ?? table.newPlace(priority)
            return (
                table.enter(origin(host), at: mine, answer, as: standing, mayBeRejected: place == nil), mine
            )
        }

        /// Gives slots of hosts back, one after another; the names of those who were admitted, in order.
        mutating func release(_ hosts: Int...) -> String {
            hosts.map { host in
                table.release(origin(host))
                return admit()
            }.joined()
        }

        mutating func admit() -> String {
            table.admit().map { names[ObjectIdentifier($0)]?.name ?? "?" }.joined()
        }
    }

    @Test func `Only the waiter that is meant leaves a position`() {
        var line = Line(total: 1)
        line.enter("a")
        let place = line.enter("b").place
        #expect(line.table.leave(place) { !($0 is Answer<Void>) } == false)
        #expect(line.release(0) == "b")
    }

    // MARK: Order

    @Test func `Equals are served in the order of their coming`() {
        var line = Line(total: 1)
        line.enter("a")
        for name in ["b", "c", "d"] { line.enter(name, 1) }
        #expect(line.release(0, 1, 1, 1) == "bcd")
    }

    @Test func `A priority is served first`() {
        var line = Line(total: 1)
        line.enter("a")
        line.enter("e", 1, .veryLow)
        line.enter("d", 2, .low)
        line.enter("c", 3, .normal)
        line.enter("b", 4, .high)
        line.enter("a", 5, .veryHigh)
        #expect(line.release(0, 5, 4, 3, 2, 1) == "abcde")
    }

    @Test func `A place keeps its number in the line of another priority`() {
        var line = Line(total: 1)
        line.enter("x")
        let place = line.table.newPlace(.normal)
        line.enter("a", 1, .high)
        line.enter("c", 1, .normal)
        line.enter("b", 1, at: place.with(.high))
        #expect(line.release(0, 1, 1) == "bac")
    }

    @Test func `While it is suspended nobody begins and others go on`() {
        var line = Line(total: 1)
        line.table.isSuspended = true
        #expect(line.enter("first", as: .first).entry == .waits)
        #expect(line.enter("later", as: .later).entry == .admitted)
        #expect(line.enter("second", as: .later).entry == .waits)
        #expect(line.release(0) == "second")
        #expect(line.release(0) == "")
        line.table.isSuspended = false
        #expect(line.admit() == "first")
    }

    @Test func `Their places decide between those who begin and those who go on`() {
        var line = Line(total: 1)
        line.enter("x")
        let (_, place) = line.enter("a", 1, as: .first)
        #expect(line.release(0) == "a")
        line.enter("b", 1, as: .first)
        // It failed, and lines up for its next attempt.
        line.enter("a", 1, at: place, as: .later)
        #expect(line.release(1, 1) == "ab")
    }

    @Test func `A place that was kept comes before later ones`() {
        var line = Line(total: 1)
        line.enter("x")
        let (_, place) = line.enter("a")
        line.enter("b")
        line.enter("c")
        #expect(line.release(0) == "a")
        // It is processed again, and the next one goes ahead meanwhile.
        #expect(line.release(0) == "b")
        #expect(line.enter("a", 0, at: place).entry == .waits)
        #expect(line.release(0, 0) == "ac")
    }

    // MARK: Hosts

    @Test func `A full host keeps no other waiting`() {
        var line = Line(total: 3, perHost: 1)
        #expect(line.enter("a", 0).entry == .admitted)
        #expect(line.enter("b", 0).entry == .waits)
        #expect(line.enter("c", 0).entry == .waits)
        #expect(line.enter("d", 1).entry == .admitted)
        #expect(line.release(1) == "")
        #expect(line.release(0) == "b")
        #expect(line.release(0) == "c")
    }

    @Test func `A free place goes to the first whose host is free`() {
        var line = Line(total: 2, perHost: 1)
        line.enter("a", 0)
        line.enter("b", 1)
        line.enter("c", 0)
        line.enter("d", 2)
        line.enter("e", 1)
        #expect(line.release(1) == "d")
        #expect(line.release(2) == "e")
        #expect(line.release(0) == "c")
    }

    @Test func `Scheme and port make another host`() {
        var table = SlotTable(total: .max, perHost: 1, maximumWaiting: .max)
        for url in ["http://a.example", "https://a.example", "http://a.example:81", "http://b.example"] {
            let place = table.newPlace(.normal)
            #expect(table.enter(Origin(URL(string: url)), at: place, Answer(), mayBeRejected: true) == .admitted)
        }
    }

    // MARK: Bounds

    @Test func `A raised total admits exactly those who can run`() {
        var line = Line(total: 1)
        for name in ["a", "b", "c", "d"] { line.enter(name) }
        line.table.total = 3
        #expect(line.admit() == "bc")
        #expect(line.release(0) == "d")
    }

    @Test func `A raised bound per host admits exactly those who can run`() {
        var line = Line(total: 5, perHost: 1)
        for name in ["a", "b", "c", "d"] { line.enter(name, 0) }
        for name in ["e", "f", "g"] { line.enter(name, 1) }
        line.table.perHost = 2
        line.table.nominateAll()
        #expect(line.admit() == "bf")
        line.table.perHost = 9
        line.table.nominateAll()
        #expect(line.admit() == "c")
        #expect(line.release(0, 0) == "dg")
    }

    @Test func `A lowered bound interrupts nobody and holds from then on`() {
        var line = Line(total: 3)
        for name in ["a", "b", "c", "d"] { line.enter(name) }
        line.table.total = 1
        #expect(line.admit() == "" && line.table.inFlight == 3)
        #expect(line.release(0, 0) == "")
        #expect(line.release(0) == "d")
    }

    // MARK: Leaving and rejection

    @Test func `Who leaves is not admitted and the next is`() {
        var line = Line(total: 1, perHost: 1)
        line.enter("a")
        let (_, place) = line.enter("b")
        line.enter("c")
        #expect(line.table.leave(place) == true)
        #expect(line.table.leave(place) == false)
        #expect(line.release(0) == "c")
    }

    @Test func `Who was admitted cannot leave`() {
        var line = Line(total: 1)
        line.enter("a")
        let (_, place) = line.enter("b")
        #expect(line.release(0) == "b")
        #expect(line.table.leave(place) == false)
    }

    @Test func `A full line rejects`() {
        var line = Line(total: 1, maximumWaiting: 2)
        let entries = ["a", "b", "c", "d"].map { line.enter($0).entry }
        #expect(entries == [.admitted, .waits, .waits, .rejected])
        #expect(line.release(0, 0) == "bc")
        #expect(line.enter("e").entry == .waits)
    }

    @Test func `A line of length zero rejects whoever would wait`() {
        var line = Line(total: 1, maximumWaiting: 0)
        #expect(line.enter("a").entry == .admitted)
        #expect(line.enter("b").entry == .rejected)
    }

    @Test func `Who kept a place is not rejected by a full line`() {
        var line = Line(total: 1, maximumWaiting: 1)
        line.enter("x")
        let (_, place) = line.enter("a")
        #expect(line.release(0) == "a")
        line.enter("b")
        #expect(line.release(0) == "b")
        line.enter("c")
        #expect(line.enter("a", 0, at: place).entry == .waits)
        #expect(line.release(0) == "a")
    }

    // MARK: Memory

    @Test func `A host without anybody is forgotten`() {
        var line = Line(total: 10, perHost: 1, maximumWaiting: 5)
        for host in 0..<1000 {
            line.enter("a", host)
            line.enter("b", host)
            _ = line.release(host, host)
        }
        #expect(line.table.hostCount == 0 && line.table.entryCount <= 16)
    }

    @Test func `A host that was only rejected is not kept`() {
        var line = Line(total: 1, maximumWaiting: 0)
        line.enter("a")
        for host in 1...1000 { line.enter("b", host) }
        #expect(line.table.hostCount == 1)
    }

    @Test func `Places that were left do not pile up behind one that stays`() {
        var line = Line(total: 1, perHost: 1)
        line.enter("a")
        line.enter("stays")
        line.enter("stays", 1)
        for _ in 0..<10_000 {
            for host in 0...1 {
                let (_, place) = line.enter("b", host)
                #expect(line.table.leave(place) == true)
            }
        }
        #expect(line.table.entryCount <= 100)
    }
}
