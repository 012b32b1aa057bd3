import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct DependentsTests {
    private let dependency = Operation()
    private var id: ObjectIdentifier { ObjectIdentifier(dependency) }

    /// The state of an operation that waits for the dependency.
    private func waiting() -> Locked<OperationLifecycle> {
        var state = OperationLifecycle()
        _ = state.dependencies.add(dependency)
        return Locked(state)
    }

    private func waits(_ state: Locked<OperationLifecycle>) -> Bool {
        state.withLock { !$0.dependencies.isSatisfied }
    }

    @Test func `All are told`() {
        var dependents = Dependents()
        let states = (0..<100).map { _ in waiting() }
        for state in states { _ = dependents.add(state) }
        dependents.notify(of: id)
        #expect(!states.contains(where: waits))
    }

    @Test func `Those that wait no longer are forgotten`() {
        var dependents = Dependents()
        let first = waiting()
        _ = dependents.add(first)
        for _ in 0..<10_000 {
            let state = waiting()
            let isCrowded = dependents.add(state)
            _ = state.withLock { $0.dependencies.remove(dependency) }
            guard isCrowded else { continue }
            let sifted = dependents.sifted(of: id)
            dependents = Dependents()
            dependents.putBack(sifted)
        }
        #expect(dependents.count <= 17)
        dependents.notify(of: id)
        #expect(!waits(first))
    }

    @Test func `One that is there several times is kept once`() {
        var dependents = Dependents()
        let (first, second) = (waiting(), waiting())
        for state in [first, second, first, first] { _ = dependents.add(state) }
        #expect(dependents.sifted(of: id).count == 2)
    }

    @Test func `Those that are kept are sought through only when there are twice as many`() {
        var dependents = Dependents()
        let states = (0..<100).map { _ in waiting() }
        var sifted = Dependents()
        for state in states { _ = sifted.add(state) }
        dependents.putBack(sifted)
        let crowds = (0..<101).map { _ in dependents.add(waiting()) }
        #expect(crowds.firstIndex(of: true) == 100)
    }

    @Test func `Those that are being sifted still count`() {
        var lifecycle = OperationLifecycle()
        #expect(!lifecycle.hasDependents)
        let states = (0..<17).map { _ in waiting() }
        let crowds = states.map { lifecycle.dependents?.add($0) }
        #expect(crowds.last == true)
        // One thread takes them out. Another one, whose Task has just left, asks before they are back.
        let taken = lifecycle.dependents?.takeAll()
        #expect(lifecycle.hasDependents)
        if let taken { lifecycle.dependents?.putBack(taken.sifted(of: id)) }
        #expect(lifecycle.hasDependents && lifecycle.dependents?.count == 17)
        for state in states { _ = state.withLock { $0.dependencies.remove(dependency) } }
        if let taken = lifecycle.dependents?.takeAll() { lifecycle.dependents?.putBack(taken.sifted(of: id)) }
        #expect(!lifecycle.hasDependents)
    }

    @Test func `One that is added while the others are sifted is told after them`() {
        var dependents = Dependents()
        let (first, second) = (waiting(), waiting())
        var sifted = Dependents()
        _ = sifted.add(first)
        _ = dependents.add(second)
        dependents.putBack(sifted)
        #expect(dependents.count == 2)
        dependents.notify(of: id)
        #expect(!waits(first) && !waits(second))
    }

    @Test func `What waits for the result of one that is gone is freed though its dependency goes on`() {
        let long = Work {}
        weak var kept: Work<Void>?
        do {
            let waiter = Work {}
            kept = waiter
            let dependent = Work {}
            dependent.addDependency(long)
            dependent.whenFinished { _ in _ = waiter }
        }
        #expect(kept == nil)
        #expect(long.state.withLock { $0.dependents?.count } == 1)
    }

    @Test func `A thousand that depend on one that finishes meanwhile all run`() async throws {
        for _ in 0..<20 {
            let queue = RequestQueue()
            let first = Work {}
            queue.addOperation(first)
            let count = Collector<Int>()
            for number in 0..<1000 {
                let operation = Work { count.append(number) }
                operation.addDependency(first)
                queue.addOperation(operation)
            }
            await queue.drained()
            #expect(count.count == 1000)
        }
    }

    @Test func `An operation that goes on for long forgets those that depended on it`() {
        let long = Work {}
        for _ in 0..<10_000 {
            let dependent = Work {}
            dependent.addDependency(long)
            dependent.cancel()
            dependent.removeDependency(long)
        }
        #expect(long.state.withLock { $0.dependents?.count ?? 0 } <= 32)
    }

    @Test func `One that depends on a foreign operation is not kept by it`() {
        let foreign = BlockOperation {}
        weak var kept: Work<Void>?
        do {
            let dependent = Work {}
            kept = dependent
            dependent.addDependency(foreign)
        }
        #expect(kept == nil)
        foreign.start()
    }

    @Test func `One that stops and begins to depend on a long one waits for its end`() async throws {
        let door = Door()
        let long = Work { await door.pass() }
        let dependent = Work { 1 }
        for _ in 0..<100 {
            dependent.addDependency(long)
            dependent.removeDependency(long)
        }
        dependent.addDependency(long)
        let queue = RequestQueue()
        queue.addOperation(long)
        queue.addOperation(dependent)
        await eventually { long.isExecuting }
        #expect(!dependent.isReady)
        door.open()
        #expect(try await dependent.value == 1)
    }

    /// Foundation's queue misses a finish that comes while it takes in who waits for it.
    @Test func `The finish of a foreign operation is heard once even if Foundation misses it`() async {
        let reads = {
            let endless = UnannouncedOperation(unfinishedReads: .max)
            endless.announceFinish {}
            defer { endless.announce() }
            return endless.reads
        }()
        for count in 0..<reads {
            let isFreed = Door()
            let heard = Locked(0)
            do {
                let operation = UnannouncedOperation(unfinishedReads: count, Token(isFreed))
                operation.announceFinish { heard.withLock { $0 += 1 } }
                await eventually { heard.withLock { $0 } > 0 }
                operation.announce()
            }
            await isFreed.pass()
            #expect(heard.withLock { $0 } == 1)
        }
    }
}

/// An operation that has finished when it was asked so many times, and says so when it is told to.
private final class UnannouncedOperation: Operation, @unchecked Sendable {
    // Unchecked as its superclass is: its own state is under a lock.
    private let unfinishedReads: Int
    private let readCount = Locked(0)
    private let token: Token?

    init(unfinishedReads: Int, _ token: Token? = nil) {
        self.unfinishedReads = unfinishedReads
        self.token = token
    }

    var reads: Int { readCount.withLock { $0 } }

    override var isFinished: Bool {
        readCount.withLock { count in
            count += 1
            return count > unfinishedReads
        }
    }

    func announce() {
        willChangeValue(forKey: "isFinished")
        didChangeValue(forKey: "isFinished")
    }
}
