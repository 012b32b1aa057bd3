import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct MutualExclusionTests {
    /// Keys that no other test has.
    private let keys = (0..<4).map { "\($0) \(UUID())" }

    @Test(arguments: FailedDependencyTests.queues)
    func `Operations with the same key run one at a time`(makeQueue: @Sendable () -> OperationQueue) async throws {
        let queues = [makeQueue(), makeQueue()]
        let running = Locked((now: 0, most: 0))
        let operations = (0..<20).map { number in
            let operation = Work {
                running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                await Task.yield()
                running.withLock { $0.now -= 1 }
            }
            operation.addMutualExclusion(keys[0])
            queues[number % 2].addOperation(operation)
            return operation
        }
        for operation in operations { try await operation.value }
        #expect(running.withLock { $0.most } == 1)
    }

    @Test func `They are served in the order in which they came`() async throws {
        let order = Collector<Int>()
        let door = Door()
        let queue = RequestQueue()
        let operations = (0..<10).map { number in
            let operation = Work {
                await door.pass()
                order.append(number)
            }
            operation.addMutualExclusion(keys[0])
            queue.addOperation(operation)
            return operation
        }
        door.open()
        try await operations.last?.value
        #expect(order.elements == Array(0..<10))
    }

    @Test func `They are served in the order of an operation queue that asks for their readiness`() async throws {
        for _ in 0..<300 {
            let (queue, order) = (OperationQueue(), Collector<Int>())
            let operations = (0..<4).map { number in
                let operation = Work { order.append(number) }
                operation.addMutualExclusion(keys[0])
                queue.addOperation(operation)
                return operation
            }
            for operation in operations { try await operation.value }
            #expect(order.elements == Array(0..<4))
        }
    }

    @Test func `Keys in any order do not deadlock`() async throws {
        let queue = RequestQueue()
        let operations = (0..<60).map { number in
            let operation = Work { await Task.yield() }
            for key in number % 2 == 0 ? keys : keys.reversed() where key != keys[number % 3] {
                operation.addMutualExclusion(key)
            }
            queue.addOperation(operation)
            return operation
        }
        for operation in operations { try await operation.value }
    }

    @Test func `One that waits takes no place of its queue`() async throws {
        let (first, second, third, door) = (RequestQueue(), RequestQueue(), Work { 3 }, Door())
        second.maxConcurrentOperationCount = 1
        let holder = Work { await door.pass() }
        let waiter = Work { 2 }
        for operation in [holder, waiter] as [Operation] {
            (operation as? AsynchronousOperation<Void>)?.addMutualExclusion(keys[0])
            (operation as? AsynchronousOperation<Int>)?.addMutualExclusion(keys[0])
        }
        first.addOperation(holder)
        second.addOperation(waiter)
        second.addOperation(third)
        #expect(try await third.value == 3)
        #expect(!waiter.isExecuting && !waiter.isFinished)
        door.open()
        #expect(try await waiter.value == 2)
    }

    @Test func `A cancel ends the wait for a key`() async throws {
        let (queue, door) = (RequestQueue(), Door())
        let operations = (0..<3).map { _ in
            let operation = Work { await door.pass() }
            operation.addMutualExclusion(keys[0])
            queue.addOperation(operation)
            return operation
        }
        operations[1].cancel()
        await #expect(throws: CancellationError.self) { try await operations[1].value }
        #expect(!operations[0].isFinished)
        door.open()
        try await operations[2].value
    }

    @Test func `A failure and a cancel give the key back`() async throws {
        let queue = OperationQueue()
        let failing = Work<Void> { throw Problem() }
        let cancelled = Work { await blockedUntilCancelled() }
        let refused = Work {}
        let last = Work {}
        refused.addCondition(.custom("never") { throw Problem() })
        for operation in [failing, cancelled, refused, last] {
            operation.addMutualExclusion(keys[0])
            queue.addOperation(operation)
        }
        await eventually { cancelled.isExecuting }
        cancelled.cancel()
        try await last.value
    }

    @Test func `An operation that is freed gives its key back`() async throws {
        do {
            let dropped = Work {}
            dropped.addMutualExclusion(keys[0])
            // The first question for readiness begins the check, as a queue's does.
            _ = dropped.isReady
            await eventually { dropped.isReady }
        }
        let last = Work { 1 }
        last.addMutualExclusion(keys[0])
        #expect(try await run(last) == 1)
    }

    @Test func `A condition is evaluated while the key is held`() async throws {
        let (queue, running) = (RequestQueue(), Locked(0))
        let operations = (0..<10).map { _ in
            let operation = Work { running.withLock { $0 -= 1 } }
            operation.addMutualExclusion(keys[0])
            operation.addCondition(
                .custom("alone") {
                    let count = running.withLock { running in
                        running += 1
                        return running
                    }
                    if count != 1 { throw Problem() }
                })
            queue.addOperation(operation)
            return operation
        }
        for operation in operations { try await operation.value }
    }
}

@Suite(.timeLimit(.minutes(10))) struct ExclusionTableTests {
    private let woken = Collector<Int>()

    private func enter(_ table: inout ExclusionTable, _ keys: Set<String>, _ name: Int) -> ExclusionTable.Ticket {
        let (ticket, holdsAll) = table.enter(keys) { [woken] in woken.append(name) }
        if holdsAll { woken.append(name) }
        return ticket
    }

    private func leave(_ table: inout ExclusionTable, _ ticket: ExclusionTable.Ticket) {
        for wake in table.leave(ticket) { wake() }
    }

    @Test func `A key goes to the next in its line`() {
        var table = ExclusionTable()
        let tickets = (0..<3).map { enter(&table, ["a"], $0) }
        #expect(woken.elements == [0])
        leave(&table, tickets[0])
        #expect(woken.elements == [0, 1])
        leave(&table, tickets[1])
        leave(&table, tickets[2])
        #expect(woken.elements == [0, 1, 2] && table.isEmpty)
    }

    @Test func `One that left the line is passed over`() {
        var table = ExclusionTable()
        let tickets = (0..<3).map { enter(&table, ["a"], $0) }
        leave(&table, tickets[1])
        leave(&table, tickets[0])
        #expect(woken.elements == [0, 2])
        leave(&table, tickets[0])
        leave(&table, tickets[2])
        #expect(table.isEmpty)
    }

    @Test func `A member is woken when it holds all of its keys`() {
        var table = ExclusionTable()
        let (first, second) = (enter(&table, ["a"], 1), enter(&table, ["b"], 2))
        let both = enter(&table, ["b", "a"], 3)
        leave(&table, first)
        #expect(woken.elements == [1, 2])
        leave(&table, second)
        #expect(woken.elements == [1, 2, 3])
        leave(&table, both)
        #expect(table.isEmpty)
    }

    @Test func `One that waits for its second key gives back its first`() {
        var table = ExclusionTable()
        let holder = enter(&table, ["b"], 1)
        let both = enter(&table, ["a", "b"], 2)
        let last = enter(&table, ["a"], 3)
        leave(&table, both)
        #expect(woken.elements == [1, 3])
        leave(&table, holder)
        leave(&table, last)
        #expect(table.isEmpty)
    }

    @Test(arguments: 0..<20)
    func `In any order of coming and going each member is served once`(seed: UInt64) {
        let random = RandomSource(seed: seed)
        func pick(_ bound: Int) -> Int { Int(random.next() * Double(bound)) }
        var table = ExclusionTable()
        var tickets: [Int: ExclusionTable.Ticket] = [:]
        var left: Set<Int> = []
        let names = ["a", "b", "c", "d"]
        for number in 0..<60 {
            tickets[number] = enter(&table, Set((0...pick(3)).map { _ in names[pick(4)] }), number)
            if pick(3) == 0, let other = tickets.keys.sorted().dropFirst(pick(tickets.count)).first {
                left.insert(other)
                leave(&table, tickets.removeValue(forKey: other)!)
            }
        }
        // Who holds all keys goes. That must let all others come to theirs.
        while let next = tickets.keys.sorted().first(where: { woken.elements.contains($0) }) {
            leave(&table, tickets.removeValue(forKey: next)!)
        }
        #expect(tickets.isEmpty && table.isEmpty && Set(woken.elements).count == woken.elements.count)
    }
}
