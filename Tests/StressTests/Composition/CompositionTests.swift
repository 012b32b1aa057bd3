import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.serialized, .timeLimit(.minutes(15))) struct CompositionTests {
    @Test func `Random graphs of operations all drain and each operation ends once`() async {
        for seed in 0..<UInt64(Stress.rounds(10_000, shortened: 25)) { await run(seed: seed) }
    }

    private func run(seed: UInt64) async {
        let graph = CompositionGraph(seed: seed)
        let ends = Collector<Int>()
        var expected = 0
        for (number, part) in graph.parts.enumerated() {
            // Foundation on Linux may run the completion block of an operation of its own twice.
            let isFinished = Locked(false)
            part.operation.completionBlock = {
                let isNews = isFinished.withLock { isFinished in
                    defer { isFinished = true }
                    return !isFinished
                }
                if isNews || !(part.operation is BlockOperation) { ends.append(number) }
            }
            expected += 1
        }
        let queue = queue(for: graph)
        var roots = graph.roots
        while !roots.isEmpty {
            queue.addOperation(roots.remove(at: graph.pick(roots.count)).operation)
            if graph.pick(4) == 0 { graph.parts[graph.pick(graph.parts.count)].operation.cancel() }
        }
        await ends.count(expected)
        await queue.finished()
        let counts = Dictionary(grouping: ends.elements, by: \.self).mapValues(\.count)
        #expect(counts.count == expected && counts.values.allSatisfy { $0 == 1 }, "seed \(seed)")
        #expect(graph.parts.allSatisfy { $0.operation.isFinished }, "seed \(seed)")
    }

    private func queue(for graph: CompositionGraph) -> OperationQueue {
        guard graph.pick(3) > 0 else { return OperationQueue() }
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = [1, 2, 4, OperationQueue.defaultMaxConcurrentOperationCount][graph.pick(4)]
        return queue
    }
}
