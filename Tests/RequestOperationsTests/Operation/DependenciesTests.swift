import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct DependenciesTests {
    private let first = Operation(), second = Operation()

    @Test func `An empty table is satisfied`() {
        let table = Dependencies()
        #expect(table.isSatisfied && table.operations.isEmpty)
    }

    @Test func `A dependency is added once`() {
        var table = Dependencies()
        #expect(table.add(first) == true)
        #expect(table.add(first) == false)
        #expect(!table.isSatisfied && table.operations == [first])
        #expect(table.noteFinished(ObjectIdentifier(first)) == true)
        #expect(table.isSatisfied)
    }

    @Test func `The last finish satisfies`() {
        var table = Dependencies()
        _ = table.add(first)
        _ = table.add(second)
        #expect(table.noteFinished(ObjectIdentifier(second)) == false)
        #expect(!table.isSatisfied)
        #expect(table.noteFinished(ObjectIdentifier(first)) == true)
        #expect(table.isSatisfied)
    }

    @Test func `A finish counts once`() {
        var table = Dependencies()
        _ = table.add(first)
        _ = table.add(second)
        #expect(table.noteFinished(ObjectIdentifier(first)) == false)
        #expect(table.noteFinished(ObjectIdentifier(first)) == false)
        #expect(!table.isSatisfied)
    }

    @Test func `Removing the last unfinished one satisfies`() {
        var table = Dependencies()
        _ = table.add(first)
        _ = table.add(second)
        #expect(table.remove(first) == false)
        #expect(table.remove(second) == true)
        #expect(table.isSatisfied && table.operations.isEmpty)
    }

    @Test func `Removing a finished or unknown one changes nothing`() {
        var table = Dependencies()
        _ = table.add(first)
        _ = table.noteFinished(ObjectIdentifier(first))
        #expect(table.remove(first) == false)
        #expect(table.remove(second) == false)
        #expect(table.isSatisfied)
    }

    @Test func `A finish after the removal changes nothing`() {
        var table = Dependencies()
        _ = table.add(first)
        _ = table.add(second)
        _ = table.remove(first)
        #expect(table.noteFinished(ObjectIdentifier(first)) == false)
        #expect(!table.isSatisfied)
    }

    @Test func `Finished dependencies stay in the order of their adding`() {
        var table = Dependencies()
        let operations = (0..<50).map { _ in Operation() }
        for operation in operations { _ = table.add(operation) }
        for operation in operations.shuffled() { _ = table.noteFinished(ObjectIdentifier(operation)) }
        #expect(table.operations == operations)
    }

    @Test func `Taking all out leaves nothing held`() {
        var table = Dependencies()
        weak var held: Operation?
        do {
            let operation = Operation()
            held = operation
            _ = table.add(operation)
        }
        #expect(held != nil)
        #expect(table.removeAll().count == 1)
        #expect(held == nil && table.isSatisfied && table.operations.isEmpty)
    }

    @Test func `A few and many are found among random steps`() {
        let random = RandomSource(seed: 5)
        let operations = (0..<60).map { _ in Operation() }
        var table = Dependencies()
        var model: [(operation: Operation, isFinished: Bool)] = []
        for step in 0..<20_000 {
            // Waves of adding and removing.
            let operation = operations[Int(random.next() * 60)]
            let position = model.firstIndex { $0.operation === operation }
            let wasSatisfied = model.allSatisfy(\.isFinished)
            switch random.next() {
            case ..<(step / 500 % 2 == 0 ? 0.6 : 0.2):
                #expect(table.add(operation) == (position == nil))
                if position == nil { model.append((operation, false)) }
            case ..<0.8:
                let became = table.remove(operation)
                if let position { model.remove(at: position) }
                #expect(became == (!wasSatisfied && model.allSatisfy(\.isFinished)))
            default:
                let became = table.noteFinished(ObjectIdentifier(operation))
                if let position { model[position].isFinished = true }
                #expect(became == (!wasSatisfied && model.allSatisfy(\.isFinished)))
            }
            #expect(table.isSatisfied == model.allSatisfy(\.isFinished) && table.operations.isEmpty == model.isEmpty)
            if step % 100 == 0 { #expect(table.operations == model.map(\.operation)) }
        }
    }
}
