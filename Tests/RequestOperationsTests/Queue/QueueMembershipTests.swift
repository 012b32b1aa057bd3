import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct QueueMembershipTests {
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

    @Test func `An operation joins one queue once`() {
        var membership = joined()
        #expect(membership.join(queue) == false)
        #expect(membership.join(RequestQueue()) == false)
    }

    @Test func `One that is ready enters and one that is not is held`() {
        var membership = joined()
        #expect(membership.settle(behindBarrier: false, Self.ready) == .enters)
        membership = joined()
        #expect(membership.settle(behindBarrier: false, Self.waits) == .isHeld)
        #expect(membership.update(Self.waits) == nil)
        #expect(membership.update(Self.ready) === queue)
    }

    @Test func `It enters once`() {
        var membership = joined()
        _ = membership.settle(behindBarrier: false, Self.ready)
        #expect(membership.update(Self.ready) == nil)
        membership.enter()
        #expect(membership.update(Self.cancelled) == nil)
    }

    @Test func `Nothing enters before its queue has noted it down`() {
        var membership = joined()
        #expect(membership.update(Self.ready) == nil)
        #expect(membership.update(Self.cancelled) == nil)
        #expect(membership.settle(behindBarrier: true, Self.cancelled) == .enters)
    }

    @Test func `A barrier holds what is ready but not what is cancelled`() {
        var membership = joined()
        #expect(membership.settle(behindBarrier: true, Self.ready) == .isHeld)
        #expect(membership.update(Self.ready) == nil)
        #expect(membership.passBarrier(Self.ready) === queue)
        membership = joined()
        _ = membership.settle(behindBarrier: true, Self.ready)
        #expect(membership.update(Self.cancelled) === queue)
    }

    @Test func `A barrier that is over while the operation joins holds nothing`() {
        var membership = joined()
        #expect(membership.passBarrier(Self.ready) == nil)
        #expect(membership.settle(behindBarrier: true, Self.ready) == .enters)
    }

    @Test func `What somebody else started does not enter`() {
        var membership = joined()
        #expect(membership.settle(behindBarrier: false, Self.started) == .isHeld)
        #expect(membership.update(Self.started) == nil)
    }

    @Test func `What has finished is over`() {
        var membership = joined()
        #expect(membership.leave() != nil)
        #expect(membership.settle(behindBarrier: false, Self.started) == .isOver)
        #expect(membership.leave() == nil)
    }

    @Test func `Only the first in the line takes a place`() async throws {
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

    @Test func `Who is cancelled needs no place`() {
        var membership = joined()
        _ = membership.settle(behindBarrier: false, Self.ready)
        #expect(membership.standInLine(Self.cancelled) == false)
        membership = joined()
        _ = membership.settle(behindBarrier: false, Self.ready)
        #expect(membership.standInLine(Self.ready) == true)
        #expect(membership.update(Self.cancelled) === queue)
    }

    @Test func `Who is not ready any more leaves the line`() {
        let slot = RequestLimiter.Slot(of: queue.limiter, for: nil)
        var membership = joined()
        _ = membership.settle(behindBarrier: false, Self.ready)
        _ = membership.standInLine(Self.ready)
        #expect(membership.take(slot, Self.waits) == false)
        #expect(membership.update(Self.ready) === queue)
    }
}
