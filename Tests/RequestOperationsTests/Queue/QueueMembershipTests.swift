import Testing

@testable import RequestOperations

@Suite struct QueueMembershipTests {
    private typealias Standing = QueueMembership.Standing

    private static let waits = Standing(awaitsStart: true, isSettled: false, isSatisfied: false)
    private static let ready = Standing(awaitsStart: true, isSettled: false, isSatisfied: true)
    private static let cancelled = Standing(awaitsStart: true, isSettled: true, isSatisfied: false)
    private static let started = Standing(awaitsStart: false, isSettled: false, isSatisfied: true)

    private let queue = RequestQueue()

    private func joined() -> QueueMembership {
        var membership = QueueMembership()
        #expect(membership.join(queue) == true)
        return membership
    }

    @Test func anOperationJoinsOneQueueOnce() {
        var membership = joined()
        #expect(membership.join(queue) == false)
        #expect(membership.join(RequestQueue()) == false)
    }

    @Test func oneThatIsReadyEntersAndOneThatIsNotIsHeld() {
        var membership = joined()
        #expect(membership.settle(behindBarrier: false, Self.ready) == .enters)
        membership = joined()
        #expect(membership.settle(behindBarrier: false, Self.waits) == .isHeld)
        #expect(membership.update(Self.waits) == nil)
        #expect(membership.update(Self.ready) === queue)
    }

    @Test func itEntersOnce() {
        var membership = joined()
        _ = membership.settle(behindBarrier: false, Self.ready)
        #expect(membership.update(Self.ready) == nil)
        membership.enter()
        #expect(membership.update(Self.cancelled) == nil)
    }

    @Test func nothingEntersBeforeItsQueueHasNotedItDown() {
        var membership = joined()
        #expect(membership.update(Self.ready) == nil)
        #expect(membership.update(Self.cancelled) == nil)
        #expect(membership.settle(behindBarrier: true, Self.cancelled) == .enters)
    }

    @Test func aBarrierHoldsWhatIsReadyButNotWhatIsCancelled() {
        var membership = joined()
        #expect(membership.settle(behindBarrier: true, Self.ready) == .isHeld)
        #expect(membership.update(Self.ready) == nil)
        #expect(membership.passBarrier(Self.ready) === queue)
        membership = joined()
        _ = membership.settle(behindBarrier: true, Self.ready)
        #expect(membership.update(Self.cancelled) === queue)
    }

    @Test func aBarrierThatIsOverWhileTheOperationJoinsHoldsNothing() {
        var membership = joined()
        #expect(membership.passBarrier(Self.ready) == nil)
        #expect(membership.settle(behindBarrier: true, Self.ready) == .enters)
    }

    @Test func whatSomebodyElseStartedDoesNotEnter() {
        var membership = joined()
        #expect(membership.settle(behindBarrier: false, Self.started) == .isHeld)
        #expect(membership.update(Self.started) == nil)
    }

    @Test func whatHasFinishedIsOver() {
        var membership = joined()
        #expect(membership.leave() != nil)
        #expect(membership.settle(behindBarrier: false, Self.started) == .isOver)
        #expect(membership.leave() == nil)
    }

    @Test func onlyTheFirstInTheLineTakesAPlace() async throws {
        let slot = RequestLimiter.Slot(of: queue.limiter, for: nil)
        var membership = joined()
        #expect(membership.take(slot, Self.ready) == false)
        _ = membership.settle(behindBarrier: false, Self.ready)
        #expect(membership.isEntering)
        #expect(membership.standInLine(Self.ready) == true)
        #expect(!membership.isEntering)
        #expect(membership.take(slot, Self.ready) == true)
        #expect(membership.isEntering)
        #expect(membership.take(slot, Self.ready) == false)
    }

    @Test func whoIsCancelledNeedsNoPlace() {
        var membership = joined()
        _ = membership.settle(behindBarrier: false, Self.ready)
        #expect(membership.standInLine(Self.cancelled) == false)
        membership = joined()
        _ = membership.settle(behindBarrier: false, Self.ready)
        #expect(membership.standInLine(Self.ready) == true)
        #expect(membership.update(Self.cancelled) === queue)
    }

    @Test func whoIsNotReadyAnyMoreLeavesTheLine() {
        let slot = RequestLimiter.Slot(of: queue.limiter, for: nil)
        var membership = joined()
        _ = membership.settle(behindBarrier: false, Self.ready)
        _ = membership.standInLine(Self.ready)
        #expect(membership.take(slot, Self.waits) == false)
        #expect(membership.update(Self.ready) === queue)
    }
}
