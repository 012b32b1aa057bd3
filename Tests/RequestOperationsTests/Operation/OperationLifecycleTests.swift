import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct OperationLifecycleTests {
    private struct Mine: Error {}

    private enum State: CaseIterable {
        case pending, cancelled, starting, executing, cancelling, failing, cancellingWhileStarting, succeeded, failed
        case finishedAsCancelled
    }

    private static let task = RunningTask {}
    private static let awaiter = ObjectIdentifier(OperationLifecycleTests.self)

    private static func lifecycle(_ state: State) -> OperationLifecycle {
        var lifecycle = OperationLifecycle()
        switch state {
        case .pending: break
        case .cancelled: _ = lifecycle.cancel()
        case .starting: _ = lifecycle.start()
        case .executing:
            _ = lifecycle.start()
            _ = lifecycle.adopt(task)
        case .cancelling:
            lifecycle = Self.lifecycle(.executing)
            _ = lifecycle.cancel()
        case .failing:
            lifecycle = Self.lifecycle(.executing)
            _ = lifecycle.fail(with: Mine())
        case .cancellingWhileStarting:
            _ = lifecycle.start()
            _ = lifecycle.cancel()
        case .succeeded:
            lifecycle = Self.lifecycle(.executing)
            _ = lifecycle.end(.succeeded)
        case .failed:
            lifecycle = Self.lifecycle(.failing)
            _ = lifecycle.end(.succeeded)
        case .finishedAsCancelled:
            lifecycle = Self.lifecycle(.cancelling)
            _ = lifecycle.end(.succeeded)
        }
        return lifecycle
    }

    /// What one can see of a lifecycle.
    private struct View: Equatable, CustomStringConvertible {
        var isPending = false
        var isExecuting = false
        var isCancelled = false
        var isStopping = false
        var ending = "none"

        init(_ lifecycle: OperationLifecycle) {
            isPending = lifecycle.isPending
            isExecuting = lifecycle.isExecuting
            isCancelled = lifecycle.isCancelled
            isStopping = lifecycle.isStopping
            ending = lifecycle.ending.map(name) ?? "none"
        }

        init(_ state: State) {
            switch state {
            case .pending: isPending = true
            case .cancelled: isCancelled = true
            case .starting, .executing: isExecuting = true
            case .cancelling, .cancellingWhileStarting: (isExecuting, isCancelled, isStopping) = (true, true, true)
            case .failing: (isExecuting, isStopping) = (true, true)
            case .succeeded: ending = "succeeded"
            case .failed: ending = "mine"
            case .finishedAsCancelled: (isCancelled, ending) = (true, "cancelled")
            }
        }

        var description: String {
            "pending \(isPending), executing \(isExecuting), cancelled \(isCancelled), stopping \(isStopping), \(ending)"
        }
    }

    private static func name(_ ending: OperationLifecycle.Ending) -> String {
        switch ending {
        case .succeeded: "succeeded"
        case .failed(let error): error is CancellationError ? "cancelled" : error is Mine ? "mine" : "other"
        }
    }

    private static func name(_ action: OperationLifecycle.CancelAction) -> String {
        switch action {
        case .resolve: "mark"
        case .stop(let task): task == nil ? "stop later" : "stop"
        case .ignore: "ignore"
        }
    }

    @Test(arguments: State.allCases)
    private func `A state shows what it is`(state: State) {
        #expect(View(Self.lifecycle(state)) == View(state))
    }

    @Test(
        arguments: [
            (.pending, .run, .starting), (.cancelled, .finish, .cancelled), (.starting, .ignore, .starting),
            (.executing, .ignore, .executing), (.cancelling, .ignore, .cancelling), (.failing, .ignore, .failing),
            (.cancellingWhileStarting, .ignore, .cancellingWhileStarting), (.succeeded, .ignore, .succeeded),
            (.failed, .ignore, .failed), (.finishedAsCancelled, .ignore, .finishedAsCancelled),
        ] as [(State, OperationLifecycle.StartAction, State)])
    private func `Only the pending run when they are started`(
        state: State, action: OperationLifecycle.StartAction, after: State
    ) {
        var lifecycle = Self.lifecycle(state)
        #expect(lifecycle.start() == action)
        #expect(View(lifecycle) == View(after))
    }

    @Test(
        arguments: [
            (.pending, "mark", .cancelled), (.cancelled, "ignore", .cancelled),
            (.starting, "stop later", .cancellingWhileStarting), (.executing, "stop", .cancelling),
            (.cancelling, "ignore", .cancelling), (.failing, "mark", .cancelling),
            (.cancellingWhileStarting, "ignore", .cancellingWhileStarting), (.succeeded, "ignore", .succeeded),
            (.failed, "ignore", .failed), (.finishedAsCancelled, "ignore", .finishedAsCancelled),
        ] as [(State, String, State)])
    private func `A cancel is accepted once and never after the end`(state: State, action: String, after: State) {
        var lifecycle = Self.lifecycle(state)
        #expect(Self.name(lifecycle.cancel()) == action)
        #expect(View(lifecycle) == View(after))
    }

    @Test(
        arguments: [
            (.pending, "ignore", .pending), (.cancelled, "ignore", .cancelled), (.starting, "stop later", .failing),
            (.executing, "stop", .failing), (.cancelling, "ignore", .cancelling), (.failing, "ignore", .failing),
            (.cancellingWhileStarting, "ignore", .cancellingWhileStarting), (.succeeded, "ignore", .succeeded),
            (.failed, "ignore", .failed), (.finishedAsCancelled, "ignore", .finishedAsCancelled),
        ] as [(State, String, State)])
    private func `Only the executing fail`(state: State, action: String, after: State) {
        var lifecycle = Self.lifecycle(state)
        #expect(Self.name(lifecycle.fail(with: Mine())) == action)
        #expect(View(lifecycle) == View(after))
    }

    @Test(
        arguments: [
            (.pending, false), (.cancelled, false), (.starting, false), (.executing, false), (.cancelling, true),
            (.failing, true), (.cancellingWhileStarting, true), (.succeeded, true), (.failed, true),
            (.finishedAsCancelled, true),
        ] as [(State, Bool)])
    private func `A task that comes late is told to stop where one was or nobody waits`(state: State, isToStop: Bool) {
        var lifecycle = Self.lifecycle(state)
        #expect(lifecycle.adopt(Self.task) == isToStop)
        #expect(View(lifecycle) == View(state))
    }

    @Test(
        arguments: [
            (.pending, "mark", .pending, false), (.cancelled, "ignore", .cancelled, false),
            (.executing, "stop later", .starting, false), (.cancelling, "ignore", .cancelling, true),
            (.failing, "mark", .failing, true), (.succeeded, "ignore", .succeeded, true),
        ] as [(State, String, State, Bool)])
    private func `Nobody is told to stop between two tasks but the second`(
        state: State, action: String, after: State, isToStop: Bool
    ) {
        var lifecycle = Self.lifecycle(state)
        _ = lifecycle.disown()
        #expect(View(lifecycle) == View(after))
        var cancelled = lifecycle
        #expect(Self.name(cancelled.cancel()) == action)
        #expect(lifecycle.adopt(Self.task) == isToStop)
    }

    @Test(
        arguments: [
            (.pending, "succeeded"), (.cancelled, "cancelled"), (.starting, "succeeded"), (.executing, "succeeded"),
            (.cancelling, "cancelled"), (.failing, "mine"), (.cancellingWhileStarting, "cancelled"), (.succeeded, nil),
            (.failed, nil), (.finishedAsCancelled, nil),
        ] as [(State, String?)])
    private func `The first finish counts and a cancel beats a success`(state: State, ending: String?) {
        var lifecycle = Self.lifecycle(state)
        let before = View(lifecycle)
        let published = lifecycle.end(.succeeded)
        #expect(published.map { Self.name($0.ending) } == ending)
        #expect(lifecycle.ending.map(Self.name) == ending ?? before.ending)
        #expect(!lifecycle.isExecuting && !lifecycle.isPending)
        #expect(lifecycle.isCancelled == (lifecycle.ending.map(Self.name) == "cancelled"))
    }

    @Test func `Nothing changes an outcome that is decided and the error of it can be replaced`() {
        var lifecycle = Self.lifecycle(.executing)
        #expect(lifecycle.decide(.failed(Mine())).map(Self.name) == "mine")
        #expect(lifecycle.isExecuting && !lifecycle.isCancelled && lifecycle.ending == nil)
        #expect(Self.name(lifecycle.cancel()) == "ignore" && Self.name(lifecycle.fail(with: Mine())) == "ignore")
        #expect(lifecycle.start() == .ignore && lifecycle.decide(.succeeded) == nil)
        #expect(lifecycle.finish(.failed(CancellationError())).wasExecuting)
        #expect(lifecycle.ending.map(Self.name) == "cancelled")
    }

    @Test(arguments: [State.cancelling, .failing, .failed, .finishedAsCancelled])
    private func `A task that is being told to stop leaves when it was told`(state: State) {
        var lifecycle = Self.lifecycle(state)
        let left = Collector<Int>()
        #expect(!lifecycle.mayLeave)
        for number in 1...2 {
            let mayLeave = lifecycle.leave { left.append(number) }
            #expect(!mayLeave)
        }
        for leaver in lifecycle.wasTold() { leaver() }
        #expect(left.elements == [1, 2])
        let mayLeave = lifecycle.leave {}
        #expect(mayLeave && lifecycle.mayLeave)
    }

    @Test(arguments: [State.executing, .starting, .cancellingWhileStarting, .succeeded])
    private func `A task that nobody tells to stop may leave`(state: State) {
        #expect(Self.lifecycle(state).mayLeave)
    }

    @Test func `A task that stops of itself may leave`() {
        var lifecycle = Self.lifecycle(.executing)
        let isFirst = lifecycle.noteOwnCancellation()
        let isSecond = lifecycle.noteOwnCancellation()
        #expect(isFirst && !isSecond)
        #expect(lifecycle.isCancelled && lifecycle.mayLeave)
    }

    @Test func `A cancellation error as the outcome is a cancel`() {
        var lifecycle = Self.lifecycle(.executing)
        _ = lifecycle.end(.failed(CancellationError()))
        #expect(lifecycle.isCancelled)
    }

    @Test func `Subscribers come out once with the finish`() {
        var lifecycle = Self.lifecycle(.executing)
        let order = Collector<Int>()
        for number in 1...3 { #expect(lifecycle.subscribe { order.append(number) } == false) }
        let finish = lifecycle.end(.succeeded)
        #expect(order.elements.isEmpty)
        finish?.listeners.callAll()
        #expect(order.elements == [1, 2, 3])
        #expect(lifecycle.end(.succeeded) == nil)
    }

    @Test func `Those who await come before subscribers and one may leave`() {
        var lifecycle = Self.lifecycle(.executing)
        let order = Collector<Int>()
        #expect(lifecycle.subscribe { order.append(2) } == false)
        #expect(lifecycle.addAwaiter(Self.awaiter) { order.append(1) } == .wait)
        let leaver = ObjectIdentifier(Self.State.self)
        #expect(lifecycle.addAwaiter(leaver) { order.append(3) } == .wait)
        let (hasLeft, leavesAgain) = (lifecycle.removeAwaiter(leaver), lifecycle.removeAwaiter(leaver))
        #expect(hasLeft && !leavesAgain && lifecycle.isAwaited)
        lifecycle.end(.succeeded)?.listeners.callAll()
        #expect(order.elements == [1, 2])
    }

    @Test(arguments: [State.succeeded, .failed, .finishedAsCancelled])
    private func `Who subscribes after the finish is called at once`(state: State) {
        var lifecycle = Self.lifecycle(state)
        #expect(lifecycle.subscribe {} == true)
    }

    @Test func `A finished operation keeps nobody who waited to start it`() {
        var lifecycle = OperationLifecycle()
        weak var kept: MemberStarter?
        do {
            let starter = MemberStarter(for: nil)
            kept = starter
            lifecycle.startWhenReady(Work {}, by: starter)
        }
        #expect(kept != nil && lifecycle.outsider != nil)
        // Something else starts it first.
        #expect(lifecycle.start() == .run)
        _ = lifecycle.end(.succeeded)
        #expect(kept == nil && lifecycle.outsider == nil)
    }

    // MARK: Who waits for the outcome

    @Test func `Nobody waits for the start of a cancelled operation that nobody awaits`() {
        var lifecycle = OperationLifecycle()
        guard case .resolve(waitsForStart: false) = lifecycle.cancel() else {
            Issue.record("not cancelled, or with somebody who waits")
            return
        }
        #expect(lifecycle.addAwaiter(Self.awaiter) {} == .waitForStart)
    }

    @Test func `Who awaits a cancelled start can give it up once and subscribers wait on`() {
        var lifecycle = OperationLifecycle()
        let calls = Collector<Void>()
        #expect(lifecycle.subscribe { calls.append(()) } == false)
        #expect(lifecycle.addAwaiter(Self.awaiter) {} == .wait)
        guard case .resolve(waitsForStart: true) = lifecycle.cancel() else {
            Issue.record("not cancelled")
            return
        }
        #expect(lifecycle.addAwaiter(Self.awaiter) {} == .waitForStart)
        #expect(lifecycle.endWaitForStart().count == 2)
        #expect(lifecycle.endWaitForStart().isEmpty)
        let finish = lifecycle.end(.succeeded)
        #expect(finish?.listeners.hasAwaiter == false)
        finish?.listeners.callAll()
        #expect(calls.elements.count == 1)
    }

    @Test(arguments: [State.cancelled, .starting, .executing, .cancelling, .failing])
    private func `Who awaits is told with the finish`(state: State) {
        var lifecycle = Self.lifecycle(state)
        #expect(lifecycle.addAwaiter(Self.awaiter) {} != .goOn)
        #expect(lifecycle.end(.succeeded)?.listeners.hasAwaiter == true)
    }

    @Test(arguments: [State.starting, .executing, .cancelling, .failing])
    private func `Nobody gives up what was started`(state: State) {
        var lifecycle = Self.lifecycle(state)
        #expect(lifecycle.addAwaiter(Self.awaiter) {} == .wait)
        _ = lifecycle.cancel()
        #expect(lifecycle.endWaitForStart().isEmpty)
    }

    @Test(arguments: [State.succeeded, .failed, .finishedAsCancelled])
    private func `Who awaits what has finished goes on`(state: State) {
        var lifecycle = Self.lifecycle(state)
        #expect(lifecycle.addAwaiter(Self.awaiter) {} == .goOn)
    }

    @Test(arguments: [(State.cancelled, false), (.starting, true), (.executing, true), (.failing, true)])
    private func `A finish tells whether the operation was executing`(state: State, wasExecuting: Bool) {
        var lifecycle = Self.lifecycle(state)
        #expect(lifecycle.end(.succeeded)?.wasExecuting == wasExecuting)
    }
}

extension OperationLifecycle {
    /// Both steps of an end. `nil` if the outcome was decided before.
    fileprivate mutating func end(_ outcome: Ending) -> Finish? {
        guard let ending = decide(outcome) else { return nil }
        return finish(ending)
    }
}
