import Testing

@testable import RequestOperations

@Suite struct HeldOperationsTests {
    private static func barrier() -> QueueBarrier {
        QueueBarrier({}, whenDue: { _ in }, whenOver: { _ in })
    }

    @Test func theyAreInTheOrderOfTheirAdding() {
        var held = HeldOperations()
        let operations = (0..<10).map { _ in Operation() }
        for operation in operations { _ = held.insert(operation) }
        #expect(held.operations == operations)
        #expect(held.remove(operations[3]) == true)
        #expect(held.remove(operations[3]) == false)
        #expect(held.operations.count == 9 && !held.isEmpty)
    }

    @Test func whatComesAfterABarrierIsBehindItUntilItIsOver() {
        var held = HeldOperations()
        let (before, after, later) = (Operation(), Operation(), Operation())
        let barrier = Self.barrier()
        #expect(held.insert(before) == false)
        #expect(held.add(barrier) == [before])
        #expect(held.insert(after) == true)
        #expect(held.end(barrier).followers == [after])
        #expect(held.insert(later) == false)
    }

    @Test func aBarrierWaitsForTheOneBeforeItAndWhatCameBetweenThemOnly() {
        var held = HeldOperations()
        let (before, between, after) = (Operation(), Operation(), Operation())
        let (first, second) = (Self.barrier(), Self.barrier())
        _ = held.insert(before)
        #expect(held.add(first) == [before])
        #expect(held.insert(between) == true)
        #expect(held.add(second) == nil)
        #expect(held.insert(after) == true)
        let end = held.end(first)
        #expect(end.followers == [between] && end.next === second)
        #expect(held.end(second).followers == [after])
    }

    @Test func whatWasCancelledBehindABarrierIsNotKept() {
        var held = HeldOperations()
        let barrier = Self.barrier()
        _ = held.add(barrier)
        weak var kept: Operation?
        do {
            let operation = Operation()
            kept = operation
            #expect(held.insert(operation) == true)
            #expect(held.remove(operation) == true)
        }
        #expect(kept == nil)
        #expect(held.end(barrier).followers == [])
    }

    @Test func whoeverHasTheIdentityOfOneThatIsGoneIsNotBehindItsBarrier() {
        var held = HeldOperations()
        let (first, second) = (Self.barrier(), Self.barrier())
        let operation = Operation()
        _ = held.add(first)
        _ = held.insert(operation)
        _ = held.remove(operation)
        _ = held.add(second)
        // As one that was freed, and another made at the same place.
        _ = held.insert(operation)
        #expect(held.end(first).followers == [])
        #expect(held.end(second).followers == [operation])
    }

    @Test func afterACancelOfAllOnlyABarrierThatMayRunIsWaitedFor() {
        var held = HeldOperations()
        let (running, waiting) = (Self.barrier(), Self.barrier())
        let (operation, later) = (Operation(), Operation())
        _ = held.add(running)
        #expect(held.beginEntering(running) == true)
        _ = held.remove(running)
        _ = held.insert(operation)
        _ = held.add(waiting)
        let all = held.cancelAll()
        #expect(all.map(\.operation) == [operation, waiting] && all.allSatisfy(\.enters))
        #expect(held.beginEntering(waiting) == false)
        #expect(held.insert(later) == true)
        let end = held.end(running)
        #expect(end.followers == [operation, later] && end.next == nil)
        #expect(held.insert(Operation()) == false)
    }

    @Test func afterACancelOfAllNobodyWaitsForABarrierThatHasNotBegun() {
        var held = HeldOperations()
        let barrier = Self.barrier()
        _ = held.add(barrier)
        #expect(held.cancelAll().map(\.operation) == [barrier])
        #expect(held.insert(Operation()) == false)
        #expect(held.end(barrier).followers == [])
    }

    @Test func aForeignOperationEntersOnce() {
        var held = HeldOperations()
        let operation = Operation()
        #expect(held.beginEntering(operation) == false)
        _ = held.insert(operation)
        #expect(held.beginEntering(operation) == true)
        #expect(held.beginEntering(operation) == false)
    }

    /// A place in the line of a limiter.
    private static func place(_ priority: Operation.QueuePriority = .normal, after seconds: Int64 = 0)
        -> RequestLimiter.Place
    {
        var table = SlotTable(total: 1, perHost: 1, maximumWaiting: 0)
        return table.newPlace(priority, now: seconds * 1_000_000_000)
    }

    @Test func aSlotIsWaitedForOnceAndOnlyIfSomebodyIsInTheLine() {
        var held = HeldOperations()
        let operation = Operation()
        let place = Self.place()
        _ = held.insert(operation)
        #expect(held.beginTaking() == nil)
        held.standInLine(operation, at: place)
        let taking = held.beginTaking()
        #expect(taking?.place == place && taking?.former == nil)
        #expect(held.beginTaking() == nil)
        #expect(held.nextInLine() === operation)
        #expect(held.nextInLine() == nil)
    }

    @Test func theQueueWaitsAtThePlaceOfTheFirstInTheLine() {
        var held = HeldOperations()
        let (low, normal) = (Operation(), Operation())
        let (worse, better) = (Self.place(.low), Self.place(.normal, after: 1))
        for (operation, place) in [(low, worse), (normal, better)] {
            _ = held.insert(operation)
            held.standInLine(operation, at: place)
            let taking = held.beginTaking()
            #expect(taking?.place == place && taking?.former == (operation === low ? nil : worse))
        }
        #expect(held.nextInLine() === normal)
        held.endTaking()
        #expect(held.beginTaking()?.place == worse)
    }

    @Test func aLowPriorityThatHasWaitedLongComesBeforeAHighOneThatHasNot() {
        var held = HeldOperations()
        let (old, new) = (Operation(), Operation())
        for (operation, place) in [(old, Self.place(.veryLow)), (new, Self.place(.veryHigh, after: 41))] {
            _ = held.insert(operation)
            held.standInLine(operation, at: place)
        }
        #expect(held.nextInLine() === old)
    }

    @Test func aSuspendedQueueTakesNoSlot() {
        var held = HeldOperations()
        let operation = Operation()
        _ = held.insert(operation)
        held.standInLine(operation, at: Self.place())
        held.suspend(true)
        #expect(held.beginTaking() == nil)
        held.suspend(false)
        #expect(held.beginTaking() != nil)
        held.suspend(true)
        #expect(held.nextInLine() == nil)
        held.suspend(false)
        #expect(held.beginTaking() != nil)
    }

    @Test func whoLeftIsNotOfferedASlot() {
        var held = HeldOperations()
        let (gone, there) = (Operation(), Operation())
        for (second, operation) in [gone, there].enumerated() {
            _ = held.insert(operation)
            held.standInLine(operation, at: Self.place(after: Int64(second)))
        }
        _ = held.remove(gone)
        #expect(held.nextInLine() === there)
    }

    @Test func whoLeftIsNotKeptInTheLineBehindOneThatStays() {
        var held = HeldOperations()
        let first = Operation()
        _ = held.insert(first)
        held.standInLine(first, at: Self.place(.veryHigh))
        for second in 0..<1000 {
            let operation = Operation()
            _ = held.insert(operation)
            held.standInLine(operation, at: Self.place(after: Int64(second)))
            _ = held.remove(operation)
        }
        #expect(held.keptInLine < 32)
        #expect(held.nextInLine() === first)
    }

    @Test func aPlaceThatWasTakenBeforeABetterOneIsNotWaitedAt() {
        var held = HeldOperations()
        let (low, normal) = (Operation(), Operation())
        let (worse, better) = (Self.place(.low), Self.place(.normal, after: 1))
        #expect(!held.isTaking(betterThan: worse))
        for (operation, place) in [(low, worse), (normal, better)] {
            _ = held.insert(operation)
            held.standInLine(operation, at: place)
            _ = held.beginTaking()
        }
        #expect(held.isTaking(betterThan: worse) && !held.isTaking(betterThan: better))
    }
}
