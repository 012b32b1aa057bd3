import Foundation
import RequestOperations
import RequestOperationsTesting

/// A random graph of leaves, groups, batches, chains and joined operations, with dependencies, conditions, keys and cancels.
///
/// Leaves and chains are numbered. What has a number waits only for smaller numbers, so there is no circle: a group depends
/// only on numbers below all of its members', and one that runs its members in turn has members whose numbers do not overlap.
struct CompositionGraph {
    /// An operation with the numbers of everything in it.
    struct Part {
        let operation: Operation
        let numbers: ClosedRange<Int>
    }

    /// An operation over a closure.
    // Unchecked as its superclass is; its own property is a constant.
    private final class Leaf: AsynchronousOperation<Int>, @unchecked Sendable {
        private let body: @Sendable () async throws -> Int

        init(_ body: @escaping @Sendable () async throws -> Int) {
            self.body = body
        }

        override func run() async throws -> Int { try await body() }
    }

    private struct Problem: Error {}

    private let random: RandomSource
    private let key = UUID().uuidString
    /// All operations that must end.
    private(set) var parts: [Part] = []
    /// Those that are not part of another one.
    private(set) var roots: [Part] = []
    private var count = 0

    init(seed: UInt64) {
        random = RandomSource(seed: seed)
        for _ in 0..<(5 + pick(6)) { addLeaf() }
        for _ in 0..<(2 + pick(5)) {
            if happens(0.3) { addChain() } else { addGroup() }
        }
    }

    func pick(_ bound: Int) -> Int { Int(random.next() * Double(bound)) }

    private func happens(_ share: Double) -> Bool { random.next() < share }

    // MARK: What has a number

    private mutating func addLeaf() {
        guard !happens(0.1) else {
            let block = BlockOperation {}
            for part in parts where happens(0.1) { block.addDependency(part.operation) }
            return addNumbered(block)
        }
        let leaf = makeLeaf()
        addPreconditions(to: leaf, below: count)
        addNumbered(leaf)
    }

    private mutating func addChain() {
        let chain: AsynchronousOperation<Int>
        let first = makeLeaf()
        addPreconditions(to: first, below: count)
        if happens(0.5) {
            chain = first.then { value in Leaf { value } }
        } else {
            let ending: ChainStep<Int> = [.skip, .stop, .fail(Problem())][pick(3)]
            let steps = StepChain<Int>({ _ in .run(first) }, { _ in ending }, { last in .run(Leaf { last ?? 0 }) })
            chain = steps.then { outcome in Leaf { outcome.value ?? 0 } }
        }
        addPreconditions(to: chain, below: count)
        addNumbered(chain)
    }

    private mutating func addNumbered(_ operation: Operation) {
        add(Part(operation: operation, numbers: count...count))
        count += 1
    }

    private func makeLeaf() -> AsynchronousOperation<Int> {
        let kind = pick(8)
        let victim = parts.isEmpty ? nil : parts[pick(parts.count)].operation
        let leaf = Leaf {
            switch kind {
            case 0: victim?.cancel()
            case 1: throw Problem()
            case 2: throw CancellationError()
            case 3, 4: for _ in 0..<5 { await Task.yield() }
            default: break
            }
            return kind
        }
        for _ in 0..<pick(3) where happens(0.4) { leaf.addMutualExclusion("\(key) \(pick(3))") }
        return leaf
    }

    /// Adds conditions, and dependencies on what has only numbers below a bound.
    private func addPreconditions<Value>(to operation: AsynchronousOperation<Value>, below bound: Int) {
        let rules: [FailedDependencyRule] = [.run, .cancel, .skip]
        let earlier = parts.filter { $0.numbers.upperBound < bound }.map(\.operation)
        for other in earlier where happens(0.15) { operation.addDependency(other, ifFails: rules[pick(3)]) }
        guard happens(0.3) else { return }
        let holds = happens(0.8)
        let condition = OperationCondition.custom("random") {
            await Task.yield()
            if !holds { throw Problem() }
        }
        switch pick(4) {
        case 0: operation.addCondition(.not(condition))
        case 1: operation.addCondition(condition, within: .seconds(600))
        case 2 where !earlier.isEmpty: operation.addCondition(.dependencySucceeded(earlier[pick(earlier.count)]))
        default: operation.addCondition(condition)
        }
    }

    // MARK: Groups

    private mutating func addGroup() {
        var members = roots.filter { _ in happens(0.4) }.sorted { $0.numbers.lowerBound < $1.numbers.lowerBound }
        switch pick(4) {
        case 0:
            members = inTurn(members)
            addGroup(of: members, members.map(\.operation).serialGroup(policy: happens(0.5) ? .failFast : .runAll))
        case 1:
            addGroup(of: members, members.map(\.operation).concurrentGroup(policy: happens(0.5) ? .failFast : .runAll))
        case 2:
            members = inTurn(members.filter { $0.operation is AsynchronousOperation<Int> })
            let policies: [RequestBatch<Int>.Policy] = [.failFast, .collectAll, .quorum(1), .quorum(100)]
            addGroup(
                of: members,
                RequestBatch(
                    members.compactMap { $0.operation as? AsynchronousOperation<Int> }, policy: policies[pick(4)],
                    maximumConcurrency: 1 + pick(4)))
        default:
            members = members.filter { $0.operation is AsynchronousOperation<Int> }
            let operations = members.compactMap { $0.operation as? AsynchronousOperation<Int> }
            guard operations.count > 1 else { return }
            addGroup(of: Array(members.prefix(2)), all(of: operations[0], operations[1]))
        }
    }

    /// Those that can run in turn.
    private func inTurn(_ members: [Part]) -> [Part] {
        members.reduce(into: []) { chosen, member in
            if chosen.last.map({ $0.numbers.upperBound < member.numbers.lowerBound }) ?? true { chosen.append(member) }
        }
    }

    private mutating func addGroup<Value>(of members: [Part], _ group: AsynchronousOperation<Value>) {
        let first = members.map(\.numbers.lowerBound).min() ?? count
        let last = members.map(\.numbers.upperBound).max() ?? count
        addPreconditions(to: group, below: first)
        let inside = Set(members.map { ObjectIdentifier($0.operation) })
        roots.removeAll { inside.contains(ObjectIdentifier($0.operation)) }
        add(Part(operation: group, numbers: first...last))
    }

    private mutating func add(_ part: Part) {
        parts.append(part)
        roots.append(part)
    }
}
