import Testing

@testable import RequestOperations

@Suite struct DependencyTableTests {
    private let first = Operation(), second = Operation()

    @Test func anEmptyTableIsSatisfied() {
        let table = DependencyTable()
        #expect(table.isSatisfied && table.isEmpty && table.operations.isEmpty)
    }

    @Test func aDependencyIsAddedOnce() {
        var table = DependencyTable()
        #expect(table.add(first) == true)
        #expect(table.add(first) == false)
        #expect(!table.isSatisfied && table.operations == [first])
        #expect(table.noteFinished(ObjectIdentifier(first)) == true)
        #expect(table.isSatisfied)
    }

    @Test func theLastFinishSatisfies() {
        var table = DependencyTable()
        _ = table.add(first)
        _ = table.add(second)
        #expect(table.noteFinished(ObjectIdentifier(second)) == false)
        #expect(!table.isSatisfied)
        #expect(table.noteFinished(ObjectIdentifier(first)) == true)
        #expect(table.isSatisfied)
    }

    @Test func aFinishCountsOnce() {
        var table = DependencyTable()
        _ = table.add(first)
        _ = table.add(second)
        #expect(table.noteFinished(ObjectIdentifier(first)) == false)
        #expect(table.noteFinished(ObjectIdentifier(first)) == false)
        #expect(!table.isSatisfied)
    }

    @Test func removingTheLastUnfinishedOneSatisfies() {
        var table = DependencyTable()
        _ = table.add(first)
        _ = table.add(second)
        #expect(table.remove(first) == false)
        #expect(table.remove(second) == true)
        #expect(table.isSatisfied && table.isEmpty)
    }

    @Test func removingAFinishedOrUnknownOneChangesNothing() {
        var table = DependencyTable()
        _ = table.add(first)
        _ = table.noteFinished(ObjectIdentifier(first))
        #expect(table.remove(first) == false)
        #expect(table.remove(second) == false)
        #expect(table.isSatisfied)
    }

    @Test func aFinishAfterTheRemovalChangesNothing() {
        var table = DependencyTable()
        _ = table.add(first)
        _ = table.add(second)
        _ = table.remove(first)
        #expect(table.noteFinished(ObjectIdentifier(first)) == false)
        #expect(!table.isSatisfied)
    }

    @Test func finishedDependenciesStayInTheOrderOfTheirAdding() {
        var table = DependencyTable()
        let operations = (0..<50).map { _ in Operation() }
        for operation in operations { _ = table.add(operation) }
        for operation in operations.shuffled() { _ = table.noteFinished(ObjectIdentifier(operation)) }
        #expect(table.operations == operations)
    }

    @Test func takingAllOutLeavesNothingHeld() {
        var table = DependencyTable()
        weak var held: Operation?
        do {
            let operation = Operation()
            held = operation
            _ = table.add(operation)
        }
        #expect(held != nil)
        #expect(table.removeAll().count == 1)
        #expect(held == nil && table.isSatisfied && table.isEmpty)
    }
}
