import RequestOperations
import RequestOperationsTesting

/// A random graph of operations over two queues, and what is done to it: the same for every kind of queue.
struct RandomGraph: Sendable {
    enum Kind: CaseIterable {
        case succeeding
        case failing
        case foreign
        case block
        /// A request whose first attempt is answered with 503.
        case request
        /// The same with a limiter of its own, which all of these share.
        case limitedRequest
    }

    struct Node {
        let kind: Kind
        let queue: Int
        let priority: Operation.QueuePriority
        /// On which nodes it depends when it is added; all come before it, so that there is no circle.
        var dependencies: Set<Int>
        /// Whether it waits for an operation that is not started before all steps are taken.
        let isBlocked: Bool
    }

    enum Step {
        case add(Int)
        case barrier(queue: Int)
        case addDependency(of: Int, on: Int)
        case removeDependency(of: Int, on: Int)
        case cancel(Int)
        case cancelAll(queue: Int)
        /// Lets a queue run for the time of some steps, or stops it.
        case suspend(queue: Int, Bool)
        case width(queue: Int, Int)
    }

    let nodes: [Node]
    let steps: [Step]
    let widths: [Int]

    /// Makes a graph.
    ///
    /// - Parameters:
    ///   - seed: What it follows from.
    ///   - isLive: Whether the queues run now and then while the steps are taken; otherwise what happens is certain.
    init(seed: UInt64, count: Int, isLive: Bool) {
        let random = RandomSource(seed: seed)
        func pick(_ bound: Int) -> Int { Int(random.next() * Double(bound)) }
        func happens(_ share: Double) -> Bool { random.next() < share }
        let priorities: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
        let widths = [1, 2, 4, OperationQueue.defaultMaxConcurrentOperationCount]
        var nodes: [Node] = []
        var steps: [Step] = []
        for index in 0..<count {
            let kind = Kind.allCases[pick(Kind.allCases.count)]
            let isBlocked = kind != .block && happens(0.2)
            let dependencies = index > 0 && kind != .block ? (0..<pick(4)).map { _ in pick(index) } : []
            nodes.append(
                Node(
                    kind: kind, queue: pick(2), priority: kind == .block ? .normal : priorities[pick(5)],
                    dependencies: Set(dependencies.filter { nodes[$0].kind != .block }), isBlocked: isBlocked))
            steps.append(.add(index))
            let other = pick(index + 1)
            if happens(0.1) { steps.append(.barrier(queue: nodes[index].queue)) }
            if happens(0.1), nodes[other].kind != .block { steps.append(.cancel(other)) }
            // To one that has been started already it changes nothing.
            if happens(0.15), other != index, kind != .block, nodes[other].kind != .block, !isLive || isBlocked {
                steps.append(.addDependency(of: index, on: other))
            }
            // Foundation never starts a foreign operation again from which an unfinished dependency was removed.
            if happens(0.2), kind == .succeeding, let first = nodes[index].dependencies.first {
                steps.append(.removeDependency(of: index, on: first))
            }
            if isLive, happens(0.2) { steps.append(.suspend(queue: pick(2), happens(0.5))) }
            if happens(0.1) { steps.append(.width(queue: pick(2), widths[pick(widths.count)])) }
        }
        if happens(0.2) { steps.insert(.cancelAll(queue: pick(2)), at: steps.count - pick(steps.count / 2)) }
        self.nodes = nodes
        self.steps = steps
        self.widths = (0..<2).map { _ in widths[pick(widths.count)] }
    }

    /// The most that may run at a time in a queue; `nil` if that is ever without a bound.
    func bound(of queue: Int) -> Int? {
        var all = [widths[queue]]
        for case .width(queue, let width) in steps { all.append(width) }
        return all.contains { $0 < 0 } ? nil : all.max()
    }

    /// The nodes that nobody cancels.
    var uncancelled: [Int] {
        var cancelled: Set<Int> = []
        for step in steps {
            switch step {
            case .cancel(let node): cancelled.insert(node)
            case .cancelAll(let queue): cancelled.formUnion(nodes.indices.filter { nodes[$0].queue == queue })
            default: break
            }
        }
        return nodes.indices.filter { !cancelled.contains($0) }
    }
}

/// What happened when a graph was run.
struct GraphRun {
    enum Event: Hashable {
        case began(Int)
        case ended(Int)
        /// The barrier that was the step of this number.
        case barrier(step: Int)
    }

    enum Outcome: Hashable {
        case succeeded
        case failed
        case cancelled
        case unfinished
    }

    let graph: RandomGraph
    let events: [Event]
    let outcomes: [Outcome]
    /// How many ran at a time in each queue, and of those with the limiter.
    let most: [Int]

    /// Runs a graph over queues that a closure makes.
    ///
    /// - Parameter isLive: Whether the queues run from the beginning.
    init(_ graph: RandomGraph, isLive: Bool, over makeQueue: () -> OperationQueue) async {
        self.graph = graph
        let log = GraphLog()
        let operations: [Operation?] = graph.nodes.indices.map { log.operation($0, of: graph) }
        let last = Work {}
        for (node, operation) in zip(graph.nodes, operations) {
            operation?.queuePriority = node.priority
            if node.isBlocked { operation?.addDependency(last) }
            for dependency in node.dependencies.compactMap({ operations[$0] }) { operation?.addDependency(dependency) }
        }
        let queues = graph.widths.map { width in
            let queue = makeQueue()
            queue.maxConcurrentOperationCount = width
            queue.isSuspended = !isLive
            return queue
        }
        for (number, step) in graph.steps.enumerated() {
            switch step {
            case .add(let node):
                let queue = queues[graph.nodes[node].queue]
                if let operation = operations[node] {
                    queue.addOperation(operation)
                } else {
                    queue.addOperation { log.run(node, in: graph.nodes[node].queue) }
                }
            case .barrier(let queue): queues[queue].addBarrierBlock { log.events.append(.barrier(step: number)) }
            case .addDependency(let node, let other):
                if let other = operations[other] { operations[node]?.addDependency(other) }
            case .removeDependency(let node, let other):
                if let other = operations[other] { operations[node]?.removeDependency(other) }
            case .cancel(let node): operations[node]?.cancel()
            case .cancelAll(let queue): queues[queue].cancelAllOperations()
            case .suspend(let queue, let isSuspended): queues[queue].isSuspended = isSuspended
            case .width(let queue, let width): queues[queue].maxConcurrentOperationCount = width
            }
        }
        last.start()
        for queue in queues { queue.isSuspended = false }
        for queue in queues { await queue.drained() }
        events = log.events.elements
        most = log.running.withLock { running in running.map { $0.most } }
        let ended = Set(events)
        outcomes = zip(graph.nodes.indices, operations).map { node, operation in
            Self.outcome(of: operation, hasRun: ended.contains(.ended(node)))
        }
    }

    /// The outcome of an operation; of a block if there is none.
    private static func outcome(of operation: Operation?, hasRun: Bool) -> Outcome {
        guard let operation else { return hasRun ? .succeeded : .cancelled }
        if !operation.isFinished { return .unfinished }
        if operation.isCancelled { return .cancelled }
        if case .failure = (operation as? Work<Void>)?.result { return .failed }
        if case .failure = (operation as? URLRequestOperation<Data>)?.result { return .failed }
        return .succeeded
    }

    /// What should not have happened, ``overtakenBarriers`` apart.
    var violations: [String] {
        var found: [String] = []
        for (event, times) in Dictionary(grouping: events, by: \.self) where times.count > 1 {
            found.append("\(event) \(times.count) times")
        }
        for (node, dependencies) in dependencies.enumerated() {
            for dependency in dependencies where happened(.began(node), before: .ended(dependency)) {
                found.append("\(node) before its dependency \(dependency)")
            }
        }
        for barrier in barriers {
            for node in barrier.earlier where happened(barrier.event, before: .ended(node)) {
                found.append("\(barrier.event) before \(node)")
            }
        }
        for (most, width) in zip(most, [graph.bound(of: 0), graph.bound(of: 1), GraphLog.limit]) {
            if let width, most > width { found.append("\(most) at a time, not \(width)") }
        }
        for node in graph.uncancelled {
            let expected: Outcome = graph.nodes[node].kind == .failing ? .failed : .succeeded
            if outcomes[node] != expected { found.append("\(node) \(outcomes[node]), not \(expected)") }
        }
        return found
    }

    /// What began before a barrier that was in its queue before it.
    ///
    /// A queue of Foundation's may let that happen when the last dependency of an operation, of whatever class, finishes in
    /// the moment in which the operation is added: the thread that finishes it has read that the operation is ready before
    /// the queue makes it depend on the barrier, and stores that afterwards. (Swift 6.3, once in some 40,000 such moments.)
    var overtakenBarriers: [String] {
        barriers.flatMap { barrier in
            barrier.later.filter { happened(.began($0), before: barrier.event) }.map { "\($0) before \(barrier.event)" }
        }
    }

    /// The barriers, with the nodes that were added to their queues before and after them.
    private var barriers: [(event: Event, earlier: [Int], later: [Int])] {
        graph.steps.enumerated().compactMap { number, step in
            guard case .barrier(let queue) = step else { return nil }
            func nodes(of steps: ArraySlice<RandomGraph.Step>) -> [Int] {
                steps.compactMap { step in
                    guard case .add(let node) = step, graph.nodes[node].queue == queue else { return nil }
                    return node
                }
            }
            return (.barrier(step: number), nodes(of: graph.steps[..<number]), nodes(of: graph.steps[number...]))
        }
    }

    /// Whether both happened, in this order.
    private func happened(_ earlier: Event, before later: Event) -> Bool {
        guard let first = events.firstIndex(of: earlier) else { return false }
        return events[first...].contains(later)
    }

    /// The dependencies that hold from beginning to end.
    private var dependencies: [Set<Int>] {
        var dependencies = graph.nodes.map(\.dependencies)
        for case .addDependency(let node, let other) in graph.steps { dependencies[node].insert(other) }
        for case .removeDependency(let node, let other) in graph.steps { dependencies[node].remove(other) }
        return dependencies
    }
}

/// Notes what the operations of a graph do.
private final class GraphLog: Sendable {
    let events = Collector<GraphRun.Event>()
    /// What runs in each queue, and last of what has the limiter.
    let running = Locked([(now: 0, most: 0), (now: 0, most: 0), (now: 0, most: 0)])

    static let limit = 2

    private let limiter = RequestLimiter(total: limit)

    /// The operation of a node; `nil` for a block.
    func operation(_ number: Int, of graph: RandomGraph) -> Operation? {
        let node = graph.nodes[number]
        let queue = node.queue
        switch node.kind {
        case .succeeding: return Work { self.run(number, in: queue) }
        case .failing:
            return Work {
                self.run(number, in: queue)
                throw Problem()
            }
        case .foreign: return BlockOperation { self.run(number, in: queue) }
        case .block: return nil
        case .request: return request(number, in: [queue], nil)
        case .limitedRequest: return request(number, in: [queue, 2], limiter)
        }
    }

    private func request(_ number: Int, in places: [Int], _ limiter: RequestLimiter?) -> Operation {
        let answers: [ScriptedTransport.Answer] = [
            .dynamic { _ in self.count(in: places) { .status(503) } },
            .dynamic { _ in
                self.run(number, in: places)
                return .body(Data())
            },
        ]
        var configuration = RequestConfiguration.scripted(answers)
        configuration.retryPolicy.backoff = .constant(.microseconds(100))
        configuration.limiter = limiter
        return URLRequestOperation(URL(string: "http://h\(number % 3).invalid/")!, configuration: configuration)
    }

    func run(_ node: Int, in queue: Int) {
        run(node, in: [queue])
    }

    private func run(_ node: Int, in places: [Int]) {
        count(in: places) {
            events.append(.began(node))
            sched_yield()
            events.append(.ended(node))
        }
    }

    private func count<Value>(in places: [Int], _ body: () -> Value) -> Value {
        running.withLock { running in
            for place in places {
                running[place].now += 1
                running[place].most = max(running[place].most, running[place].now)
            }
        }
        defer { running.withLock { running in for place in places { running[place].now -= 1 } } }
        return body()
    }
}
