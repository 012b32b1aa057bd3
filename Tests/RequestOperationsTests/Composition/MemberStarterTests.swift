import RequestOperationsTesting
import Testing

@testable import RequestOperations

/// A chain that starts a link which a queue has as well.
@Suite(.timeLimit(.minutes(15))) struct MemberStarterTests {
    private let starter = MemberStarter(for: nil)

    #if canImport(FoundationNetworking)
        // Without an announcement that it is ready, the queue would keep it for ever.
        @Test func `A queue comes to a link that got a dependency when the chain was about to start it`() async throws {
            let queue = OperationQueue()
            queue.isSuspended = true
            let former = ClosureOperation {}
            let first = ClosureOperation {}
            first.addDependency(former)
            queue.addOperation(first)
            starter.queue.suspend()
            first.startWhenReady(by: starter)
            first.removeDependency(former)
            first.addDependency(ClosureOperation {})
            starter.queue.resume()
            try await first.value
            queue.isSuspended = false
            await queue.drained()
            #expect(queue.operationCount == 0)
        }

        @Test func `A queue is told again that a link is ready while the chain runs it`() {
            var state = OperationLifecycle()
            #expect(state.mayBeStartedByQueue)
            #expect(state.start(by: starter) == .run)
            #expect(state.mayBeStartedByQueue)
            #expect(state.start(by: nil) == .ignore)
            #expect(!state.mayBeStartedByQueue)
        }
    #endif

    @Test func `A link that a queue lets wait while the chain is put off is started`() async throws {
        let queue = RequestQueue()
        let link = ClosureOperation { 4 }
        let joins = link.state.withLock { $0.join(queue, as: link) }
        let joined = link.state.withLock { $0.finishJoining(behindBarrier: false) }
        link.startWhenReady(by: starter)
        let stands = link.state.withLock { $0.awaitPlace() }
        #expect(joins && joined == .enters && stands)
        link.startIfReady()
        #expect(try await link.value == 4)
    }

    @Test func `An operation that comes after a cancel ends without running`() async throws {
        let results = ResultQueue<Int>(on: OperationQueue(), atMost: 2, in: .ofEnds)
        results.cancel()
        let late = Work { 1 }
        results.begin(late)
        await eventually { late.isFinished && late.isCancelled }
    }
}
