import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct HeldOperationsTests {
    private static func barrier() -> QueueBarrier {
        QueueBarrier({}, whenDue: { _ in }, whenOver: { _ in })
    }

    private let limiter = RequestLimiter()

    private func insert(
        _ operation: Operation, into held: inout HeldOperations
    ) -> (isBehindBarrier: Bool, place: RequestLimiter.Place) {
        let place = limiter.newPlace()
        return (held.insert(operation, at: place), place)
    }

    private func insert(_ operation: Operation, _ held: inout HeldOperations) -> Bool {
        insert(operation, into: &held).isBehindBarrier
    }

    @Test func `They are in the order of their adding`() {
        var held = HeldOperations()
        let operations = (0..<10).map { _ in Operation() }
        for operation in operations { _ = insert(operation, &held) }
        #expect(held.operations == operations)
        #expect(held.remove(operations[3]).isNews)
        #expect(!held.remove(operations[3]).isNews)
        #expect(held.operations.count == 9 && !held.isEmpty)
    }

    @Test func `What comes after a barrier is behind it until it is over`() {
        var held = HeldOperations()
        let (before, after, later) = (Operation(), Operation(), Operation())
        let barrier = Self.barrier()
        #expect(insert(before, &held) == false)
        #expect(held.add(barrier, at: limiter.newPlace()) == [before])
        #expect(insert(after, &held) == true)
        #expect(held.end(barrier).followers == [after])
        #expect(insert(later, &held) == false)
    }

    @Test func `A barrier waits for the one before it and what came between them only`() {
        var held = HeldOperations()
        let (before, between, after) = (Operation(), Operation(), Operation())
        let (first, second) = (Self.barrier(), Self.barrier())
        _ = insert(before, &held)
        #expect(held.add(first, at: limiter.newPlace()) == [before])
        #expect(insert(between, &held) == true)
        #expect(held.add(second, at: limiter.newPlace()) == nil)
        #expect(insert(after, &held) == true)
        let end = held.end(first)
        #expect(end.followers == [between] && end.next === second)
        #expect(held.end(second).followers == [after])
    }

    @Test func `What was cancelled behind a barrier is not kept`() {
        var held = HeldOperations()
        let barrier = Self.barrier()
        _ = held.add(barrier, at: limiter.newPlace())
        weak var kept: Operation?
        do {
            let operation = Operation()
            kept = operation
            #expect(insert(operation, &held) == true)
            #expect(held.remove(operation).isNews)
        }
        #expect(kept == nil)
        #expect(held.end(barrier).followers == [])
    }

    @Test func `Whoever has the identity of one that is gone is not behind its barrier`() {
        var held = HeldOperations()
        let (first, second) = (Self.barrier(), Self.barrier())
        let operation = Operation()
        _ = held.add(first, at: limiter.newPlace())
        _ = insert(operation, &held)
        _ = held.remove(operation)
        _ = held.add(second, at: limiter.newPlace())
        // As one that was freed, and another made at the same place.
        _ = insert(operation, &held)
        #expect(held.end(first).followers == [])
        #expect(held.end(second).followers == [operation])
    }

    @Test func `After a cancel of all only a barrier that may run is waited for`() {
        var held = HeldOperations()
        let (running, waiting) = (Self.barrier(), Self.barrier())
        let (operation, later) = (Operation(), Operation())
        _ = held.add(running, at: limiter.newPlace())
        #expect(held.beginEntering(running) == true)
        _ = held.remove(running)
        _ = insert(operation, &held)
        _ = held.add(waiting, at: limiter.newPlace())
        let all = held.cancelAll()
        #expect(all.map(\.operation) == [operation, waiting] && all.allSatisfy(\.enters))
        #expect(held.beginEntering(waiting) == false)
        #expect(insert(later, &held) == true)
        let end = held.end(running)
        #expect(end.followers == [operation, later] && end.next == nil)
        #expect(insert(Operation(), &held) == false)
    }

    @Test func `After a cancel of all nobody waits for a barrier that has not begun`() {
        var held = HeldOperations()
        let barrier = Self.barrier()
        _ = held.add(barrier, at: limiter.newPlace())
        #expect(held.cancelAll().map(\.operation) == [barrier])
        #expect(insert(Operation(), &held) == false)
        #expect(held.end(barrier).followers == [])
    }

    @Test func `A foreign operation enters once`() {
        var held = HeldOperations()
        let operation = Operation()
        #expect(held.beginEntering(operation) == false)
        _ = insert(operation, &held)
        #expect(held.beginEntering(operation) == true)
        #expect(held.beginEntering(operation) == false)
    }

    @Test func `Who stands in the line leaves it when it is not held any more`() {
        var held = HeldOperations()
        let operation = Operation()
        #expect(held.standInLine(operation, with: .normal) == nil)
        let place = insert(operation, into: &held).place
        #expect(held.terms(of: operation)?.place == place)
        #expect(held.standInLine(operation, with: .high) == place.with(.high))
        #expect(held.stands(operation, at: place.with(.high)) && !held.stands(operation, at: place))
        #expect(held.remove(operation).inLine == place.with(.high))
        #expect(!held.stands(operation, at: place.with(.high)))
    }

    // MARK: Producers

    @Test func `A producer is let in as long as few are held`() {
        var held = HeldOperations()
        held.maximumPending = 2
        #expect(held.enter(Answer()) == nil && held.enter(Answer()) == nil)
        let third = held.enter(Answer())
        #expect(third != nil)
        // The two who were let in have not added theirs, and do not want to.
        held.leaveProducer()
        #expect(held.admitProducers().count == 1)
        #expect(third.flatMap { held.leave($0) } == nil)
    }

    @Test func `Producers are let in in their order as others leave`() {
        var held = HeldOperations()
        held.maximumPending = 1
        let operation = Operation()
        _ = insert(operation, into: &held)
        let answers = (0..<3).map { _ in Answer<Void>() }
        let tickets = answers.map { held.enter($0) }
        #expect(tickets.allSatisfy { $0 != nil } && held.admitProducers().isEmpty)
        _ = held.remove(operation)
        #expect(held.admitProducers().first === answers[0])
        held.leaveProducer()
        // The second does not want to any more.
        #expect(tickets[1].flatMap { held.leave($0) } === answers[1])
        #expect(held.admitProducers().first === answers[2])
    }

    @Test func `A suspended queue lets nobody in`() {
        var held = HeldOperations()
        held.suspend(true)
        #expect(held.enter(Answer()) != nil && held.admitProducers().isEmpty)
        held.suspend(false)
        #expect(held.admitProducers().count == 1)
    }

    @Test func `At a maximum of zero one is let in at a time`() {
        var held = HeldOperations()
        held.maximumPending = 0
        #expect(held.enter(Answer()) == nil && held.enter(Answer()) != nil)
    }
}
