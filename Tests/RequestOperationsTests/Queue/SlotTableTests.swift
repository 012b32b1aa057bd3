import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct SlotTableTests {
    private static func origin(_ host: Int) -> Origin { Origin(URL(string: "http://h\(host).example/")) }

    /// A table with named waiters.
    private struct Limiter {
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
            let mine = place ?? table.newPlace().with(priority)
            return (
                table.enter(origin(host), at: mine, answer, as: standing, mayBeRejected: place == nil), mine
            )
        }

        /// Releases slots of hosts, one after another; the names of those who were admitted, in order.
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
        var limiter = Limiter(total: 1)
        limiter.enter("a")
        let place = limiter.enter("b").place
        #expect(limiter.table.leave(place) { !($0 is Answer<Void>) } == false)
        #expect(limiter.release(0) == "b")
    }

    // MARK: Order

    @Test func `Equals are served in the order of their coming`() {
        var limiter = Limiter(total: 1)
        limiter.enter("a")
        for name in ["b", "c", "d"] { limiter.enter(name, 1) }
        #expect(limiter.release(0, 1, 1, 1) == "bcd")
    }

    @Test func `A priority is served first`() {
        var limiter = Limiter(total: 1)
        limiter.enter("a")
        limiter.enter("e", 1, .veryLow)
        limiter.enter("d", 2, .low)
        limiter.enter("c", 3, .normal)
        limiter.enter("b", 4, .high)
        limiter.enter("a", 5, .veryHigh)
        #expect(limiter.release(0, 5, 4, 3, 2, 1) == "abcde")
    }

    @Test func `A place keeps its number with another priority`() {
        var limiter = Limiter(total: 1)
        limiter.enter("x")
        let place = limiter.table.newPlace()
        limiter.enter("a", 1, .high)
        limiter.enter("c", 1, .normal)
        limiter.enter("b", 1, at: place.with(.high))
        #expect(limiter.release(0, 1, 1) == "bac")
    }

    @Test func `While it is suspended nobody begins and others go on`() {
        var limiter = Limiter(total: 1)
        limiter.table.isSuspended = true
        #expect(limiter.enter("first", as: .first).entry == .waits)
        #expect(limiter.enter("later", as: .later).entry == .admitted)
        #expect(limiter.enter("second", as: .later).entry == .waits)
        #expect(limiter.release(0) == "second")
        #expect(limiter.release(0) == "")
        limiter.table.isSuspended = false
        #expect(limiter.admit() == "first")
    }

    @Test func `Their places decide between those who begin and those who go on`() {
        var limiter = Limiter(total: 1)
        limiter.enter("x")
        let (_, place) = limiter.enter("a", 1, as: .first)
        #expect(limiter.release(0) == "a")
        limiter.enter("b", 1, as: .first)
        // It failed, and waits for its next attempt.
        limiter.enter("a", 1, at: place, as: .later)
        #expect(limiter.release(1, 1) == "ab")
    }

    @Test func `A place that was kept comes before later ones`() {
        var limiter = Limiter(total: 1)
        limiter.enter("x")
        let (_, place) = limiter.enter("a")
        limiter.enter("b")
        limiter.enter("c")
        #expect(limiter.release(0) == "a")
        // It is processed again, and the next one goes ahead meanwhile.
        #expect(limiter.release(0) == "b")
        #expect(limiter.enter("a", 0, at: place).entry == .waits)
        #expect(limiter.release(0, 0) == "ac")
    }

    // MARK: Hosts

    @Test func `A full host keeps no other waiting`() {
        var limiter = Limiter(total: 3, perHost: 1)
        #expect(limiter.enter("a", 0).entry == .admitted)
        #expect(limiter.enter("b", 0).entry == .waits)
        #expect(limiter.enter("c", 0).entry == .waits)
        #expect(limiter.enter("d", 1).entry == .admitted)
        #expect(limiter.release(1) == "")
        #expect(limiter.release(0) == "b")
        #expect(limiter.release(0) == "c")
    }

    @Test func `A free place goes to the first whose host is free`() {
        var limiter = Limiter(total: 2, perHost: 1)
        limiter.enter("a", 0)
        limiter.enter("b", 1)
        limiter.enter("c", 0)
        limiter.enter("d", 2)
        limiter.enter("e", 1)
        #expect(limiter.release(1) == "d")
        #expect(limiter.release(2) == "e")
        #expect(limiter.release(0) == "c")
    }

    @Test func `Scheme and port make another host`() {
        var table = SlotTable(total: .max, perHost: 1, maximumWaiting: .max)
        for url in ["http://a.example", "https://a.example", "http://a.example:81", "http://b.example"] {
            let place = table.newPlace()
            #expect(table.enter(Origin(URL(string: url)), at: place, Answer(), mayBeRejected: true) == .admitted)
        }
    }

    // MARK: Bounds

    @Test func `A raised total admits exactly those who can run`() {
        var limiter = Limiter(total: 1)
        for name in ["a", "b", "c", "d"] { limiter.enter(name) }
        limiter.table.total = 3
        #expect(limiter.admit() == "bc")
        #expect(limiter.release(0) == "d")
    }

    @Test func `A raised bound per host admits exactly those who can run`() {
        var limiter = Limiter(total: 5, perHost: 1)
        for name in ["a", "b", "c", "d"] { limiter.enter(name, 0) }
        for name in ["e", "f", "g"] { limiter.enter(name, 1) }
        limiter.table.perHost = 2
        limiter.table.nominateAll()
        #expect(limiter.admit() == "bf")
        limiter.table.perHost = 9
        limiter.table.nominateAll()
        #expect(limiter.admit() == "c")
        #expect(limiter.release(0, 0) == "dg")
    }

    @Test func `A lowered bound interrupts nobody and holds from then on`() {
        var limiter = Limiter(total: 3)
        for name in ["a", "b", "c", "d"] { limiter.enter(name) }
        limiter.table.total = 1
        #expect(limiter.admit() == "" && limiter.table.inFlight == 3)
        #expect(limiter.release(0, 0) == "")
        #expect(limiter.release(0) == "d")
    }

    // MARK: Leaving and rejection

    @Test func `Who leaves is not admitted and the next is`() {
        var limiter = Limiter(total: 1, perHost: 1)
        limiter.enter("a")
        let (_, place) = limiter.enter("b")
        limiter.enter("c")
        #expect(limiter.table.leave(place) == true)
        #expect(limiter.table.leave(place) == false)
        #expect(limiter.release(0) == "c")
    }

    @Test func `Who was admitted cannot leave`() {
        var limiter = Limiter(total: 1)
        limiter.enter("a")
        let (_, place) = limiter.enter("b")
        #expect(limiter.release(0) == "b")
        #expect(limiter.table.leave(place) == false)
    }

    @Test func `A limiter with too many waiters rejects`() {
        var limiter = Limiter(total: 1, maximumWaiting: 2)
        let entries = ["a", "b", "c", "d"].map { limiter.enter($0).entry }
        #expect(entries == [.admitted, .waits, .waits, .rejected])
        #expect(limiter.release(0, 0) == "bc")
        #expect(limiter.enter("e").entry == .waits)
    }

    @Test func `A bound of zero rejects all who would wait`() {
        var limiter = Limiter(total: 1, maximumWaiting: 0)
        #expect(limiter.enter("a").entry == .admitted)
        #expect(limiter.enter("b").entry == .rejected)
    }

    @Test func `Who kept a place is not rejected by too many waiters`() {
        var limiter = Limiter(total: 1, maximumWaiting: 1)
        limiter.enter("x")
        let (_, place) = limiter.enter("a")
        #expect(limiter.release(0) == "a")
        limiter.enter("b")
        #expect(limiter.release(0) == "b")
        limiter.enter("c")
        #expect(limiter.enter("a", 0, at: place).entry == .waits)
        #expect(limiter.release(0) == "a")
    }

    // MARK: Memory

    @Test func `A host without anybody is forgotten`() {
        var limiter = Limiter(total: 10, perHost: 1, maximumWaiting: 5)
        for host in 0..<1000 {
            limiter.enter("a", host)
            limiter.enter("b", host)
            _ = limiter.release(host, host)
        }
        #expect(limiter.table.hostCount == 0 && limiter.table.entryCount <= 16)
    }

    @Test func `A host that was only rejected is not kept`() {
        var limiter = Limiter(total: 1, maximumWaiting: 0)
        limiter.enter("a")
        for host in 1...1000 { limiter.enter("b", host) }
        #expect(limiter.table.hostCount == 1)
    }

    @Test func `Places that were left do not pile up behind one that stays`() {
        var limiter = Limiter(total: 1, perHost: 1)
        limiter.enter("a")
        limiter.enter("stays")
        limiter.enter("stays", 1)
        for _ in 0..<10_000 {
            for host in 0...1 {
                let (_, place) = limiter.enter("b", host)
                #expect(limiter.table.leave(place) == true)
            }
        }
        #expect(limiter.table.entryCount <= 100)
    }
}

/// A table under many random steps.
@Suite(.timeLimit(.minutes(10))) struct SlotTableModelTests {
    private static func origin(_ host: Int) -> Origin { Origin(URL(string: "http://h\(host).example/")) }

    // MARK: Against a simple model

    /// Everybody in one list, searched from its front.
    private struct Model {
        let total: Int
        let perHost: Int
        var waiting: [(place: SlotTable.Place, host: Int)] = []
        var inFlight: [Int: Int] = [:]

        func isFree(_ host: Int) -> Bool {
            inFlight.values.reduce(0, +) < total && inFlight[host, default: 0] < perHost
        }

        mutating func admit() -> [SlotTable.Place] {
            var admitted: [SlotTable.Place] = []
            waiting.sort { $0.place < $1.place }
            while let index = waiting.firstIndex(where: { isFree($0.host) }) {
                let (place, host) = waiting.remove(at: index)
                inFlight[host, default: 0] += 1
                admitted.append(place)
            }
            return admitted
        }
    }

    @Test(arguments: [(1, Int.max), (3, 1), (5, 2), (Int.max, 1), (2, 2), (10, 3)])
    func `It admits whom a simple model admits`(total: Int, perHost: Int) {
        var table = SlotTable(total: total, perHost: perHost, maximumWaiting: .max)
        var model = Model(total: total, perHost: perHost)
        var places: [ObjectIdentifier: (place: SlotTable.Place, answer: Answer<Void>)] = [:]
        let priorities: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
        for _ in 0..<3000 {
            let host = Int.random(in: 0..<6)
            switch Int.random(in: 0..<3) {
            case 0:
                let answer = Answer<Void>()
                let place = table.newPlace().with(priorities.randomElement()!)  // Not empty.
                places[ObjectIdentifier(answer)] = (place, answer)
                let entry = table.enter(Self.origin(host), at: place, answer, mayBeRejected: true)
                #expect((entry == .admitted) == model.isFree(host))
                if entry == .admitted {
                    model.inFlight[host, default: 0] += 1
                } else {
                    model.waiting.append((place, host))
                }
            case 1:
                guard let (place, _) = model.waiting.randomElement() else { continue }
                model.waiting.removeAll { $0.place == place }
                #expect(table.leave(place) == true)
            default:
                guard model.inFlight[host, default: 0] > 0 else { continue }
                model.inFlight[host, default: 0] -= 1
                table.release(Self.origin(host))
                #expect(table.admit().map { places[ObjectIdentifier($0)]?.place } == model.admit())
            }
            #expect(table.waiters.count == model.waiting.count)
            #expect(table.inFlight == model.inFlight.values.reduce(0, +))
        }
    }

    // MARK: Cost

    @Test func `Ten times the waiters over ten times the hosts cost nearly ten times`() {
        func seconds(_ count: Int) -> Double {
            let start = processorSeconds()
            var table = SlotTable(total: 10, perHost: 2, maximumWaiting: .max)
            let origins = (0..<count / 10).map(Self.origin)
            var owners: [ObjectIdentifier: Origin] = [:]
            var held: [Origin] = []
            for number in 0..<count {
                let answer = Answer<Void>()
                let origin = origins[number % origins.count]
                owners[ObjectIdentifier(answer)] = origin
                let place = table.newPlace()
                if table.enter(origin, at: place, answer, mayBeRejected: true) == .admitted { held.append(origin) }
            }
            while let origin = held.popLast() {
                table.release(origin)
                held += table.admit().compactMap { owners[ObjectIdentifier($0)] }
            }
            #expect(table.waiters.isEmpty && table.hostCount == 0)
            return processorSeconds() - start
        }
        let small = seconds(1500)
        // A quadratic cost would be a hundred times.
        #expect(seconds(15_000) < 40 * max(small, 0.01))
    }
}
