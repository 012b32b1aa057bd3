import RequestOperations
import RequestOperationsTesting
import Testing

/// Random graphs of operations on Foundation's queue and on ours.
@Suite(.serialized, .timeLimit(.minutes(15))) struct RequestQueueDifferentialTests {
    @Test(arguments: UInt64(1)...(isFullRun ? 50 : 20))
    func `What happens is what happens on Foundation's queue`(seed: UInt64) async {
        let graph = RandomGraph(seed: seed, count: 40, isLive: false)
        let foundation = await GraphRun(graph, isLive: false) { OperationQueue() }
        let ours = await GraphRun(graph, isLive: false) { RequestQueue() }
        #expect(foundation.violations + foundation.overtakenBarriers == [])
        #expect(ours.violations + ours.overtakenBarriers == [])
        #expect(ours.outcomes == foundation.outcomes)
        #expect(Set(ours.events) == Set(foundation.events))
    }

    /// What nobody cancels has its outcome, on both: see ``GraphRun/violations``. That barriers hold while operations become
    /// ready is so on ours only: see ``GraphRun/overtakenBarriers``.
    @Test(arguments: UInt64(1)...(isFullRun ? 50 : 20))
    func `The order holds while the graph changes`(seed: UInt64) async {
        let graph = RandomGraph(seed: seed, count: 60, isLive: true)
        let foundation = await GraphRun(graph, isLive: true) { OperationQueue() }
        let ours = await GraphRun(graph, isLive: true) { RequestQueue() }
        #expect(foundation.violations == [])
        #expect(ours.violations + ours.overtakenBarriers == [])
        #expect(!ours.outcomes.contains(.unfinished) && !foundation.outcomes.contains(.unfinished))
    }
}
