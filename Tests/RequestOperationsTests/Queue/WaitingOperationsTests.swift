import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct WaitingOperationsTests {
    private static func barrier() -> QueueBarrier {
        QueueBarrier({}, whenDue: { _ in }, whenOver: { _ in })
    }

    private let limiter = RequestLimiter()

    private func insert(
        _ operation: Operation, into table: inout WaitingOperations
    ) -> (isBehindBarrier: Bool, place: RequestLimiter.Place) {
        let place = limiter.newPlace()
        return (table.insert(operation, at: place), place)
    }

    private func insert(_ operation: Operation, _ table: inout WaitingOperations) -> Bool {
        insert(operation, into: &table).isBehindBarrier
    }

    @Test func `They are in the order of their adding`() {
        var table = WaitingOperations()
        let operations = (0..<10).map { _ in Operation() }
        for operation in operations { _ = insert(operation, &table) }
        #expect(table.operations == operations)
        #expect(table.remove(operations[3]).isNews)
        #expect(!table.remove(operations[3]).isNews)
        #expect(table.operations.count == 9 && !table.isEmpty)
    }

    @Test func `What comes after a barrier is behind it until it is over`() {
        var table = WaitingOperations()
        let (before, after, later) = (Operation(), Operation(), Operation())
        let barrier = Self.barrier()
        #expect(insert(before, &table) == false)
        #expect(table.add(barrier, at: limiter.newPlace()) == [before])
        #expect(insert(after, &table) == true)
        #expect(table.end(barrier).followers == [after])
        #expect(insert(later, &table) == false)
    }

    @Test func `A barrier waits for the one before it and what came between them only`() {
        var table = WaitingOperations()
        let (before, between, after) = (Operation(), Operation(), Operation())
        let (first, second) = (Self.barrier(), Self.barrier())
        _ = insert(before, &table)
        #expect(table.add(first, at: limiter.newPlace()) == [before])
        #expect(insert(between, &table) == true)
        #expect(table.add(second, at: limiter.newPlace()) == nil)
        #expect(insert(after, &table) == true)
        let end = table.end(first)
        #expect(end.followers == [between] && end.next === second)
        #expect(table.end(second).followers == [after])
    }

    @Test func `What was cancelled behind a barrier is not kept`() {
        var table = WaitingOperations()
        let barrier = Self.barrier()
        _ = table.add(barrier, at: limiter.newPlace())
        weak var kept: Operation?
        do {
            let operation = Operation()
            kept = operation
            #expect(insert(operation, &table) == true)
            #expect(table.remove(operation).isNews)
        }
        #expect(kept == nil)
        #expect(table.end(barrier).followers == [])
    }

    @Test func `Whoever has the identity of one that is gone is not behind its barrier`() {
        var table = WaitingOperations()
        let (first, second) = (Self.barrier(), Self.barrier())
        let operation = Operation()
        _ = table.add(first, at: limiter.newPlace())
        _ = insert(operation, &table)
        _ = table.remove(operation)
        _ = table.add(second, at: limiter.newPlace())
        // As one that was freed, and another made at the same place.
        _ = insert(operation, &table)
        #expect(table.end(first).followers == [])
        #expect(table.end(second).followers == [operation])
    }

    @Test func `After a cancel of all only a barrier that may run is waited for`() {
        var table = WaitingOperations()
        let (running, waiting) = (Self.barrier(), Self.barrier())
        let (operation, later) = (Operation(), Operation())
        _ = table.add(running, at: limiter.newPlace())
        #expect(table.beginEntering(running) == true)
        _ = table.remove(running)
        _ = insert(operation, &table)
        _ = table.add(waiting, at: limiter.newPlace())
        let all = table.cancelAll()
        #expect(all.map(\.operation) == [operation, waiting] && all.allSatisfy(\.enters))
        #expect(table.beginEntering(waiting) == false)
        #expect(insert(later, &table) == true)
        let end = table.end(running)
        #expect(end.followers == [operation, later] && end.next == nil)
        #expect(insert(Operation(), &table) == false)
    }

    @Test func `After a cancel of all nobody waits for a barrier that has not begun`() {
        var table = WaitingOperations()
        let barrier = Self.barrier()
        _ = table.add(barrier, at: limiter.newPlace())
        #expect(table.cancelAll().map(\.operation) == [barrier])
        #expect(insert(Operation(), &table) == false)
        #expect(table.end(barrier).followers == [])
    }

    @Test func `A foreign operation enters once`() {
        var table = WaitingOperations()
        let operation = Operation()
        #expect(table.beginEntering(operation) == false)
        _ = insert(operation, &table)
        #expect(table.beginEntering(operation) == true)
        #expect(table.beginEntering(operation) == false)
    }

    @Test func `Who waits for a place waits no more once it has left`() {
        var table = WaitingOperations()
        let operation = Operation()
        #expect(table.awaitPlace(operation, with: .normal) == nil)
        let place = insert(operation, into: &table).place
        #expect(table.awaitPlace(operation, with: .high) == place.with(.high))
        #expect(table.waits(operation, at: place.with(.high)) && !table.waits(operation, at: place))
        #expect(table.remove(operation).waitedAt == place.with(.high))
        #expect(!table.waits(operation, at: place.with(.high)))
    }

    // MARK: Producers

    @Test func `A producer is let in as long as few are held`() {
        var table = WaitingOperations()
        table.maximumPending = 2
        #expect(table.enter(Answer()) == nil && table.enter(Answer()) == nil)
        let third = table.enter(Answer())
        #expect(third != nil)
        // The two who were let in have not added theirs, and do not want to.
        table.leaveProducer()
        #expect(table.admitProducers().count == 1)
        #expect(third.flatMap { table.leave($0) } == nil)
    }

    @Test func `Producers are let in in their order as others leave`() {
        var table = WaitingOperations()
        table.maximumPending = 1
        let operation = Operation()
        _ = insert(operation, into: &table)
        let answers = (0..<3).map { _ in Answer<Void>() }
        let tickets = answers.map { table.enter($0) }
        #expect(tickets.allSatisfy { $0 != nil } && table.admitProducers().isEmpty)
        _ = table.remove(operation)
        #expect(table.admitProducers().first === answers[0])
        table.leaveProducer()
        // The second does not want to any more.
        #expect(tickets[1].flatMap { table.leave($0) } === answers[1])
        #expect(table.admitProducers().first === answers[2])
    }

    @Test func `A suspended queue lets nobody in`() {
        var table = WaitingOperations()
        table.suspend(true)
        #expect(table.enter(Answer()) != nil && table.admitProducers().isEmpty)
        table.suspend(false)
        #expect(table.admitProducers().count == 1)
    }

    @Test func `At a maximum of zero one is let in at a time`() {
        var table = WaitingOperations()
        table.maximumPending = 0
        #expect(table.enter(Answer()) == nil && table.enter(Answer()) != nil)
    }
}
