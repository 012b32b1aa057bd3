import RequestOperationsTesting
import Testing

@testable import RequestOperations

/// The state of an operation that a queue holds back.
@Suite(.timeLimit(.minutes(15))) struct QueuedTests {
    private let starter = MemberStarter(for: nil)
    private let operation = Work {}
    private let dependency = Operation()

    private enum Standing {
        case waits, ready, cancelled, started
    }

    private func joined(_ standing: Standing) -> OperationLifecycle {
        var lifecycle = OperationLifecycle()
        let joins = lifecycle.join(starter, as: operation)
        #expect(joins)
        _ = lifecycle.dependencies.add(dependency)
        become(standing, &lifecycle)
        return lifecycle
    }

    private func become(_ standing: Standing, _ lifecycle: inout OperationLifecycle) {
        switch standing {
        case .waits: _ = lifecycle.dependencies.add(dependency)
        case .ready: _ = lifecycle.dependencies.remove(dependency)
        case .cancelled: _ = lifecycle.cancel()
        case .started: _ = lifecycle.start()
        }
    }

    private func enters(_ lifecycle: inout OperationLifecycle) -> Bool {
        lifecycle.enter().map { $0 === starter } ?? false
    }

    private func stage(_ lifecycle: OperationLifecycle) -> String {
        lifecycle.queued.map { "\($0.stage)" } ?? "none"
    }

    @Test func `An operation joins one queue once and not when it was started`() {
        var lifecycle = joined(.waits)
        let joinsAgain = lifecycle.join(MemberStarter(for: nil), as: operation)
        var started = OperationLifecycle()
        _ = started.start()
        let joinsLate = started.join(starter, as: operation)
        #expect(!joinsAgain && !joinsLate)
    }

    @Test func `One that is ready enters and one that is not is held`() {
        var lifecycle = joined(.ready)
        #expect(lifecycle.finishJoining(behindBarrier: false) == .enters)
        lifecycle = joined(.waits)
        #expect(lifecycle.finishJoining(behindBarrier: false) == .waits)
        #expect(!enters(&lifecycle))
        become(.ready, &lifecycle)
        #expect(enters(&lifecycle))
    }

    @Test func `It enters once`() {
        var lifecycle = joined(.ready)
        _ = lifecycle.finishJoining(behindBarrier: false)
        #expect(!enters(&lifecycle))
        lifecycle.hasEntered()
        become(.cancelled, &lifecycle)
        #expect(!enters(&lifecycle) && stage(lifecycle) == "entered")
    }

    @Test func `Nothing enters before its queue has noted it down`() {
        var lifecycle = joined(.ready)
        #expect(!enters(&lifecycle))
        become(.cancelled, &lifecycle)
        #expect(!enters(&lifecycle))
        #expect(lifecycle.finishJoining(behindBarrier: true) == .enters)
    }

    @Test func `A barrier holds what is ready but not what is cancelled`() {
        var lifecycle = joined(.ready)
        #expect(lifecycle.finishJoining(behindBarrier: true) == .waits)
        #expect(!enters(&lifecycle))
        #expect(lifecycle.passBarrier() === starter)
        lifecycle = joined(.ready)
        _ = lifecycle.finishJoining(behindBarrier: true)
        become(.cancelled, &lifecycle)
        #expect(enters(&lifecycle))
    }

    @Test func `A barrier that is over while the operation joins holds nothing`() {
        var lifecycle = joined(.ready)
        #expect(lifecycle.passBarrier() == nil)
        #expect(lifecycle.finishJoining(behindBarrier: true) == .enters)
    }

    @Test func `What somebody else started does not enter`() {
        var lifecycle = joined(.ready)
        become(.started, &lifecycle)
        #expect(lifecycle.finishJoining(behindBarrier: false) == .waits)
        #expect(!enters(&lifecycle))
    }

    @Test func `What has finished is over and its queue must forget it`() {
        var lifecycle = joined(.waits)
        _ = lifecycle.finishJoining(behindBarrier: false)
        _ = lifecycle.decide(.succeeded)
        let finish = lifecycle.finish(.succeeded)
        #expect(finish.queued?.isBefore == true && finish.queued?.starter === starter)
        #expect(lifecycle.finishJoining(behindBarrier: false) == .isOver)
    }

    @Test func `Only the first waiter takes a place`() {
        var lifecycle = joined(.ready)
        let before = lifecycle.take(dependency)
        _ = lifecycle.finishJoining(behindBarrier: false)
        #expect(!before && stage(lifecycle) == "entering")
        let stands = lifecycle.awaitPlace()
        #expect(stands && stage(lifecycle) == "awaitsPlace")
        let takes = lifecycle.take(dependency)
        #expect(takes && stage(lifecycle) == "entering" && lifecycle.place === dependency)
        let takesAgain = lifecycle.take(operation)
        #expect(!takesAgain && lifecycle.place === dependency)
    }

    @Test func `Who is cancelled needs no place`() {
        var lifecycle = joined(.ready)
        _ = lifecycle.finishJoining(behindBarrier: false)
        var cancelled = lifecycle
        become(.cancelled, &cancelled)
        let stands = cancelled.awaitPlace()
        #expect(!stands)
        _ = lifecycle.awaitPlace()
        become(.cancelled, &lifecycle)
        #expect(enters(&lifecycle))
    }

    @Test func `Who is not ready any more waits no more`() {
        var lifecycle = joined(.ready)
        _ = lifecycle.finishJoining(behindBarrier: false)
        _ = lifecycle.awaitPlace()
        become(.waits, &lifecycle)
        let takes = lifecycle.take(dependency)
        #expect(!takes && !enters(&lifecycle) && lifecycle.place == nil)
        become(.ready, &lifecycle)
        #expect(enters(&lifecycle))
    }

    @Test func `An owner waits while a queue takes the operation in`() {
        var lifecycle = joined(.ready)
        _ = lifecycle.finishJoining(behindBarrier: false)
        #expect(lifecycle.start(by: starter) == .ignore)
        #expect(lifecycle.takeOwner() == nil)
        _ = lifecycle.awaitPlace()
        #expect(lifecycle.takeOwner() === starter && lifecycle.takeOwner() == nil)
        #expect(lifecycle.start(by: starter) == .run && lifecycle.isStartedAsMember)
    }
}
