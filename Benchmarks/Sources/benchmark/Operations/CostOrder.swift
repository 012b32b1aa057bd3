import CLimit
import Foundation
import RequestOperations
import RequestOperationsTesting

/// What an operation costs, without a network.
struct CostOrder: Codable, Sendable {
    /// What kind of operation.
    enum Kind: String, Codable {
        /// An asynchronous operation that finishes from a dispatch queue.
        case bare
        /// A `URLRequestOperation` over a transport that answers at once.
        case immediate
        /// The same with a closure for `onEvent` that does nothing.
        case heard
        /// A `URLRequestOperation` over a `ScriptedTransport`.
        case scripted
    }

    /// The kind that is compared with the bare one.
    var kind: Kind
    /// How many are in the queue at a time.
    var operations: Int
    /// How often so many of each kind are made and run.
    var batches: Int

    /// How many operations run at a time.
    static let width = 64

    /// Makes, runs and releases the operations, in turn with bare ones, so that whatever else the machine does meets both.
    func carryOut() -> Sample {
        let (factory, bare) = (OperationFactory(kind), OperationFactory(.bare))
        var sample = Sample()
        // The first batch, which finds no memory that an earlier one has left, is measured for its memory: to ask for that
        // takes time of the processor. A small one would tell of the size of pages.
        let bytes = memoryOfBatch(operations, factory)
        sample.values[.bytes] = operations >= 100_000 ? bytes : nil
        sample.values[.peak] = ProcessStatus.peak / 1e6
        var (costs, bareCosts) = (Costs(), Costs())
        let turns = min(batches, 10)
        for _ in 0..<turns {
            bareCosts.add(runBatches(batches / turns, bare))
            costs.add(runBatches(batches / turns, factory))
        }
        let count = Double(operations * turns * (batches / turns))
        sample.values[.cpu] = costs.cpuSeconds / count * 1e6
        sample.values[.bareCPU] = bareCosts.cpuSeconds / count * 1e6
        sample.values[.cpuAboveBare] = (costs.cpuSeconds - bareCosts.cpuSeconds) / count * 1e6
        sample.values[.rate] = count / costs.seconds
        return sample
    }

    /// Makes, runs and releases batches of operations; returns what that took. Each begins with an empty heap: what others
    /// have left of it, of the other kind or as many as it has itself, would tell.
    private func runBatches(_ batches: Int, _ factory: OperationFactory) -> Costs {
        var costs = Costs()
        for _ in 0..<batches {
            climit_trim()
            let before = Usage()
            runBatch(operations, factory)
            let after = Usage()
            costs.add(Costs(cpuSeconds: after.cpuSeconds(since: before), seconds: after.seconds(since: before)))
        }
        return costs
    }

    /// Runs a number of operations; returns the bytes of memory that each took in the queue.
    private func memoryOfBatch(_ count: Int, _ factory: OperationFactory) -> Double {
        runBatch(1000, factory)
        let empty = ProcessStatus.resident
        var full = empty
        runBatch(count, factory) { full = ProcessStatus.resident }
        return (full - empty) / Double(count)
    }

    /// Makes, runs and releases a number of operations; calls a function when all are in the queue.
    private func runBatch(_ count: Int, _ factory: OperationFactory, whenQueued: () -> Void = {}) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = Self.width
        queue.isSuspended = true
        for _ in 0..<count { queue.addOperation(factory.make()) }
        whenQueued()
        factory.countDown.expect(count)
        queue.isSuspended = false
        factory.countDown.wait()
        // Those that were counted last are about to finish.
        queue.waitUntilAllOperationsAreFinished()
    }
}

/// What batches of operations took.
private struct Costs {
    var cpuSeconds = 0.0
    var seconds = 0.0

    mutating func add(_ other: Costs) {
        cpuSeconds += other.cpuSeconds
        seconds += other.seconds
    }
}

/// Makes the operations of one kind.
struct OperationFactory {
    /// Counts those that ran.
    let countDown = CountDown()
    private let kind: CostOrder.Kind
    private let configuration: RequestConfiguration
    // A good URL.
    private let url = URL(string: "http://example.com/items?page=2")!

    init(_ kind: CostOrder.Kind) {
        self.kind = kind
        var configuration = RequestConfiguration.default
        configuration.adapters = [.field("Accept", "application/json")]
        let transport: any Transport =
            kind == .scripted
            ? ScriptedTransport([.body(Data("ready".utf8))], recordsRequests: false)
            : ImmediateTransport(body: Data("ready".utf8))
        configuration.transport = CountingTransport(base: transport, countDown: countDown)
        if kind == .heard { configuration.onEvent = { _ in } }
        self.configuration = configuration
    }

    func make() -> Operation {
        let request = URLRequest(url: url)
        return kind == .bare
            ? DispatchedOperation(request, countDown) : URLRequestOperation(request, configuration: configuration)
    }
}

/// An asynchronous operation that finishes from a dispatch queue.
// Unchecked as its superclass is: its own state never changes.
private final class DispatchedOperation: BareOperation, @unchecked Sendable {
    private let request: URLRequest
    private let countDown: CountDown

    init(_ request: URLRequest, _ countDown: CountDown) {
        self.request = request
        self.countDown = countDown
    }

    override func begin() {
        DispatchQueue.global().async { [self] in
            countDown.countOne()
            finish()
        }
    }
}
