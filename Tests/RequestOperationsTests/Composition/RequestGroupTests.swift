import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct RequestGroupTests {
    private let ran = Collector<Int>()

    private func member(_ number: Int, fails: Bool = false) -> ClosureOperation<Void> {
        ClosureOperation { [ran] in
            ran.append(number)
            if fails { throw Problem() }
        }
    }

    private func stuck() -> ClosureOperation<Void> {
        ClosureOperation { await blockedUntilCancelled() }
    }

    @Test(arguments: [RequestGroup.Order.serial, .concurrent])
    func `A group without members succeeds`(order: RequestGroup.Order) async throws {
        try await run(RequestGroup(order: order))
    }

    @Test func `Members of a serial group run in order`() async throws {
        try await run((0..<50).map { member($0) }.serialGroup())
        #expect(ran.elements == Array(0..<50))
    }

    @Test func `Members of a concurrent group run at once`() async throws {
        let doors = [Door(), Door()]
        let members = (0..<2).map { number in
            ClosureOperation {
                doors[number].open()
                await doors[1 - number].pass()
            }
        }
        try await run(members.concurrentGroup())
    }

    @Test func `The first error stops a serial group`() async throws {
        let members = [member(0), member(1, fails: true), member(2)]
        #expect(await failure(of: members.serialGroup()) is Problem)
        #expect(ran.elements == [0, 1] && members[2].isCancelled)
    }

    @Test func `The first error cancels the others of a concurrent group`() async throws {
        let others = [stuck(), stuck()]
        let group = (others + [member(0, fails: true)]).concurrentGroup()
        #expect(await failure(of: group) is Problem)
        #expect(others.allSatisfy { $0.isCancelled })
    }

    @Test func `Members that did not begin finish as cancelled`() async {
        let (ours, foreign, dependent) = (member(1), BlockOperation {}, member(2))
        dependent.addDependency(ours)
        dependent.addDependency(foreign)
        _ = await failure(of: [member(0, fails: true), ours, foreign].serialGroup())
        #expect(await failure(of: dependent) == nil)
        #expect(ran.elements == [0, 2] && ours.isCancelled && foreign.isCancelled)
    }

    @Test(arguments: [RequestGroup.Order.serial, .concurrent])
    func `All members run if the policy says so`(order: RequestGroup.Order) async throws {
        let members = [member(0, fails: true), member(1), member(2)]
        let group = RequestGroup(members, order: order, policy: .runAll)
        #expect(await failure(of: group) is Problem)
        #expect(Set(ran.elements) == [0, 1, 2])
    }

    @Test func `Nothing is added after the start`() async throws {
        let group = RequestGroup(order: .serial)
        try group.add(member(0))
        try await run(group)
        let error = #expect(throws: RequestError.self) { try group.add(member(1)) }
        #expect(error?.code == .unsupported)
        #expect(ran.elements == [0])
    }

    @Test func `Groups can be members`() async throws {
        let inner = [member(1), member(2)].serialGroup()
        try await run([member(0), inner, member(3)].serialGroup())
        #expect(ran.elements == [0, 1, 2, 3])
    }

    @Test func `An error of an inner group is that of the outer one`() async throws {
        let inner = [member(1, fails: true)].concurrentGroup()
        #expect(await failure(of: [inner, member(2)].serialGroup()) is Problem)
        #expect(ran.elements == [1])
    }

    @Test func `Operations of other classes are members`() async throws {
        let block = BlockOperation { [ran] in ran.append(0) }
        try await run([block, member(1)].serialGroup())
        #expect(ran.elements == [0, 1])
    }

    @Test func `An operation of another class that is cancelled fails the group`() async throws {
        let block = BlockOperation {}
        block.cancel()
        #expect(await failure(of: [block].serialGroup()) is CancellationError)
    }

    @Test func `A member that is cancelled ends the group`() async throws {
        let members = [stuck(), stuck()]
        let group = members.concurrentGroup()
        OperationQueue().addOperation(group)
        await eventually { members[0].isExecuting }
        members[0].cancel()
        await #expect(throws: CancellationError.self) { try await group.value }
        #expect(members[1].isCancelled)
    }

    @Test func `Cancelling it cancels its members`() async throws {
        let members = [stuck(), stuck()]
        let group = members.concurrentGroup()
        OperationQueue().addOperation(group)
        await eventually { members.allSatisfy { $0.isExecuting } }
        group.cancel()
        await #expect(throws: CancellationError.self) { try await group.value }
        await eventually { members.allSatisfy { $0.isCancelled } }
    }

    @Test func `In a queue of width one its requests take the only place in turn`() async throws {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 1
        let transport = ScriptedTransport((0..<4).map { _ in .body(Data()) })
        let group = (0..<4).map { _ in URLRequestOperation(anyRequest, configuration: .over(transport)) }
            .concurrentGroup()
        queue.addOperation(group)
        try await group.value
        #expect(transport.requests.count == 4)
    }

    @Test func `Its progress counts members`() async throws {
        let group = (0..<4).map { member($0) }.concurrentGroup()
        try await run(group)
        #expect(group.progress.completedUnitCount == 4 && group.progress.fractionCompleted == 1)
    }
}
