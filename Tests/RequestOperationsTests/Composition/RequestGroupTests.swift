import RequestOperationsTesting
import Testing

@testable import RequestOperations

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
    func aGroupWithoutMembersSucceeds(order: RequestGroup.Order) async throws {
        try await run(RequestGroup(order: order))
    }

    @Test func membersOfASerialGroupRunInOrder() async throws {
        try await run((0..<50).map { member($0) }.serialGroup())
        #expect(ran.elements == Array(0..<50))
    }

    @Test func membersOfAConcurrentGroupRunAtOnce() async throws {
        let doors = [Door(), Door()]
        let members = (0..<2).map { number in
            ClosureOperation {
                doors[number].open()
                await doors[1 - number].pass()
            }
        }
        try await run(members.concurrentGroup())
    }

    @Test func theFirstErrorStopsASerialGroup() async throws {
        let members = [member(0), member(1, fails: true), member(2)]
        #expect(await failure(of: members.serialGroup()) is Problem)
        #expect(ran.elements == [0, 1] && members[2].isCancelled)
    }

    @Test func theFirstErrorCancelsTheOthersOfAConcurrentGroup() async throws {
        let others = [stuck(), stuck()]
        let group = (others + [member(0, fails: true)]).concurrentGroup()
        #expect(await failure(of: group) is Problem)
        #expect(others.allSatisfy { $0.isCancelled })
    }

    @Test func `members that did not begin finish as cancelled`() async {
        let (ours, foreign, dependent) = (member(1), BlockOperation {}, member(2))
        dependent.addDependency(ours)
        dependent.addDependency(foreign)
        _ = await failure(of: [member(0, fails: true), ours, foreign].serialGroup())
        #expect(await failure(of: dependent) == nil)
        #expect(ran.elements == [0, 2] && ours.isCancelled && foreign.isCancelled)
    }

    @Test(arguments: [RequestGroup.Order.serial, .concurrent])
    func allMembersRunIfThePolicySaysSo(order: RequestGroup.Order) async throws {
        let members = [member(0, fails: true), member(1), member(2)]
        let group = RequestGroup(members, order: order, policy: .runAll)
        #expect(await failure(of: group) is Problem)
        #expect(Set(ran.elements) == [0, 1, 2])
    }

    @Test func nothingIsAddedAfterTheStart() async throws {
        let group = RequestGroup(order: .serial)
        try group.add(member(0))
        try await run(group)
        #expect(throws: RequestGroup.HasStarted.self) { try group.add(member(1)) }
        #expect(ran.elements == [0])
    }

    @Test func groupsCanBeMembers() async throws {
        let inner = [member(1), member(2)].serialGroup()
        try await run([member(0), inner, member(3)].serialGroup())
        #expect(ran.elements == [0, 1, 2, 3])
    }

    @Test func anErrorOfAnInnerGroupIsThatOfTheOuterOne() async throws {
        let inner = [member(1, fails: true)].concurrentGroup()
        #expect(await failure(of: [inner, member(2)].serialGroup()) is Problem)
        #expect(ran.elements == [1])
    }

    @Test func operationsOfOtherClassesAreMembers() async throws {
        let block = BlockOperation { [ran] in ran.append(0) }
        try await run([block, member(1)].serialGroup())
        #expect(ran.elements == [0, 1])
    }

    @Test func anOperationOfAnotherClassThatIsCancelledFailsTheGroup() async throws {
        let block = BlockOperation {}
        block.cancel()
        #expect(await failure(of: [block].serialGroup()) is CancellationError)
    }

    @Test func aMemberThatIsCancelledEndsTheGroup() async throws {
        let members = [stuck(), stuck()]
        let group = members.concurrentGroup()
        OperationQueue().addOperation(group)
        await eventually { members[0].isExecuting }
        members[0].cancel()
        await #expect(throws: CancellationError.self) { try await group.value }
        #expect(members[1].isCancelled)
    }

    @Test func cancellingItCancelsItsMembers() async throws {
        let members = [stuck(), stuck()]
        let group = members.concurrentGroup()
        OperationQueue().addOperation(group)
        await eventually { members.allSatisfy { $0.isExecuting } }
        group.cancel()
        await #expect(throws: CancellationError.self) { try await group.value }
        await eventually { members.allSatisfy { $0.isCancelled } }
    }

    @Test func inAQueueOfWidthOneItsRequestsTakeTheOnlyPlaceInTurn() async throws {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 1
        let transport = ScriptedTransport((0..<4).map { _ in .body(Data()) })
        let group = (0..<4).map { _ in URLRequestOperation(anyRequest, configuration: .over(transport)) }
            .concurrentGroup()
        queue.addOperation(group)
        try await group.value
        #expect(transport.requests.count == 4)
    }

    @Test func itsProgressCountsMembers() async throws {
        let group = (0..<4).map { member($0) }.concurrentGroup()
        try await run(group)
        #expect(group.progress.completedUnitCount == 4 && group.progress.fractionCompleted == 1)
    }
}
