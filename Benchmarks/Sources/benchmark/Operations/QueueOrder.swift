import CLimit
import Foundation
import RequestOperations

/// What it costs that operations depend on others, on a `RequestQueue` and on Foundation's.
struct QueueOrder: Codable, Sendable {
    /// How the operations depend on each other.
    enum Shape: String, Codable {
        /// Each on the one before it.
        case chain
        /// Each on up to three that come before it, at random.
        case graph
        /// None on any.
        case ready
    }

    /// On which queue they run.
    enum Kind: String, Codable, CaseIterable {
        case requestQueue
        case operationQueue
    }

    /// Where the blocked operations are. There are as many of them anywhere, so that the memory and the work before and after
    /// what is measured are the same.
    enum Place: String, Codable, CaseIterable {
        /// In another queue of the same kind.
        case otherQueue
        /// In the queue of those that run.
        case sameQueue
    }

    /// The kind of the queue.
    var kind: Kind
    /// The shape.
    var shape: Shape
    /// How many operations there are.
    var operations: Int
    /// How many others wait for one that is not started as long as these run.
    var blocked = 0
    /// In which queue the others wait.
    var place = Place.sameQueue
    /// How often so many are made and run.
    var batches = 1

    /// Makes, runs and releases the operations, which are all in the queue before the first runs.
    func carryOut() -> Sample {
        let factory = OperationFactory(.immediate)
        var generator = Generator()
        runBatch(1000, factory, &generator)
        var seconds = 0.0
        var processor = 0.0
        for _ in 0..<batches {
            let (elapsed, cpu) = runBatch(operations, factory, &generator)
            seconds += elapsed
            processor += cpu
        }
        let count = Double(operations * batches)
        var sample = Sample()
        sample.values[.rate] = count / seconds
        sample.values[.cpu] = processor / count * 1e6
        sample.values[.peak] = ProcessStatus.peak / 1e6
        return sample
    }

    /// Runs a number of operations; returns the seconds that this took, from the making of the first to the response of the
    /// last, and those of processor time.
    @discardableResult
    private func runBatch(
        _ count: Int, _ factory: OperationFactory, _ generator: inout Generator
    ) -> (seconds: Double, processor: Double) {
        let (queue, otherQueue) = (makeQueue(), makeQueue())
        queue.isSuspended = true
        // A large batch is the first to touch its memory; so is a small one then.
        climit_trim()
        let root = BlockOperation {}
        for _ in 0..<blocked {
            let operation = factory.make()
            operation.addDependency(root)
            (place == .sameQueue ? queue : otherQueue).addOperation(operation)
        }
        let before = Usage()
        factory.countDown.expect(count)
        run(connected(count, factory, &generator), on: queue)
        factory.countDown.wait()
        let after = Usage()
        factory.countDown.expect(blocked)
        OperationQueue().addOperation(root)
        if blocked > 0 { factory.countDown.wait() }
        for queue in [queue, otherQueue] { queue.waitUntilAllOperationsAreFinished() }
        return (after.seconds(since: before), after.cpuSeconds(since: before))
    }

    private func makeQueue() -> OperationQueue {
        let queue = kind == .requestQueue ? RequestQueue() : OperationQueue()
        queue.maxConcurrentOperationCount = CostOrder.width
        return queue
    }

    // A function of its own, so that nothing holds the operations any more when it returns.
    private func run(_ operations: [Operation], on queue: OperationQueue) {
        for operation in operations { queue.addOperation(operation) }
        queue.isSuspended = false
    }

    private func connected(
        _ count: Int, _ factory: OperationFactory, _ generator: inout Generator
    ) -> [Operation] {
        var operations: [Operation] = []
        operations.reserveCapacity(count)
        for index in 0..<count {
            let operation = factory.make()
            switch shape {
            case .chain where index > 0: operation.addDependency(operations[index - 1])
            case .graph where index > 0:
                for _ in 0..<3 { operation.addDependency(operations[Int.random(in: 0..<index, using: &generator)]) }
            case .chain, .graph, .ready: break
            }
            operations.append(operation)
        }
        return operations
    }
}

/// The same numbers in every run: a linear congruential generator (Knuth's MMIX), of which the upper half is used.
private struct Generator: RandomNumberGenerator {
    private var state: UInt64 = 1

    mutating func next() -> UInt64 {
        UInt64(step()) << 32 | UInt64(step())
    }

    private mutating func step() -> UInt32 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt32(truncatingIfNeeded: state >> 32)
    }
}
