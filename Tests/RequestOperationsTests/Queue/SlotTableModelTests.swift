import Testing

@testable import RequestOperations

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
