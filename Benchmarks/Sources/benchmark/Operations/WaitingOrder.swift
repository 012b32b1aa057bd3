import Foundation
import RequestOperations
import Synchronization

/// Operations in a `RequestQueue` that were answered with 503 and all wait for their second attempt at once, with both observers
/// of the library.
struct WaitingOrder: Codable, Sendable {
    /// How many.
    var operations: Int
    /// How many of them are cancelled while all wait.
    var cancelled: Int
    /// Over how many seconds the second attempts are spread, at least; so long is the shortest wait.
    var spread: Double

    /// How many operations tell how long it takes until all wait, as a share of the number.
    private static let pilotShare = 20
    /// How many times as long as all need to begin their wait the shortest one is at least.
    private static let margin = 3.0

    /// Measures their memory, how long it takes to cancel some, and how late the others wake.
    func carryOut() throws -> Sample {
        let pilot = WaitingCrowd(operations / Self.pilotShare, waits: 100...200)
        let entry = pilot.enter() * Double(Self.pilotShare)
        _ = cancel(pilot.operations[...])
        let shortest = max(spread, Self.margin * entry)

        let crowd = WaitingCrowd(operations, waits: shortest...2 * shortest)
        // Beyond the operations themselves.
        let empty = ProcessStatus.residentAfterTrim
        _ = crowd.enter()
        // The decisions that follow the last failures.
        usleep(500_000)
        let full = ProcessStatus.residentAfterTrim
        guard crowd.observations.latenesses.withLock({ $0.isEmpty }) else {
            throw BenchmarkError("the machine is too slow: some operations woke before the others waited")
        }
        let cancelTime = cancel(crowd.operations.prefix(cancelled))
        crowd.queue.waitUntilAllOperationsAreFinished()
        let latenesses = crowd.observations.latenesses.withLock { $0.sorted() }
        guard latenesses.count == operations - cancelled else {
            throw BenchmarkError("\(latenesses.count) of \(operations - cancelled) operations had a second attempt")
        }
        var sample = Sample()
        sample.values[.bytes] = (full - empty) / Double(operations)
        sample.values[.lateness] = latenesses.quantile(0.5) * 1e3
        sample.values[.latenessOfMost] = latenesses.quantile(0.99) * 1e3
        sample.values[.delay] = cancelTime * 1e3
        return sample
    }

    /// The seconds until operations that are cancelled have all ended.
    private func cancel(_ operations: ArraySlice<WaitingOperation>) -> Double {
        let ended = CountDown()
        ended.expect(operations.count)
        for operation in operations { operation.whenFinished { _ in ended.countOne() } }
        let start = ContinuousClock.now
        for operation in operations { operation.cancel() }
        ended.wait()
        return start.duration(to: .now) / .seconds(1)
    }
}

/// Operations in a queue of their own, each of which fails once and then waits.
private struct WaitingCrowd {
    let operations: [WaitingOperation]
    let observations: WaitingObservations
    let queue = RequestQueue()

    /// Makes them.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - waits: The shortest and the longest wait in seconds, of which the one is half of the other.
    init(_ count: Int, waits: ClosedRange<Double>) {
        let observations = WaitingObservations(capacity: count)
        var configuration = RequestConfiguration.default
        configuration.transport = RefusingTransport(countDown: observations.waiting)
        configuration.retryPolicy.earlyRetryObservers = [HostRecoveryObserver(), ReachabilityObserver()]
        configuration.retryPolicy.backoff = .constant(.seconds(waits.upperBound), jitter: .equal)
        // All fail at once with one host, which is what the budget is against; here they are to wait.
        configuration.retryPolicy.budget = nil
        // A good URL.
        let url = URL(string: "http://example.com/")!
        operations = (0..<count).map { _ in
            WaitingOperation(URLRequest(url: url), configuration: configuration, observations)
        }
        self.observations = observations
        queue.maxConcurrentOperationCount = CostOrder.width
    }

    /// Starts them, and returns the seconds until all have failed once.
    func enter() -> Double {
        let start = ContinuousClock.now
        observations.waiting.expect(operations.count)
        for operation in operations { queue.addOperation(operation) }
        observations.waiting.wait()
        return start.duration(to: .now) / .seconds(1)
    }
}

/// What was seen of waiting operations.
private final class WaitingObservations: Sendable {
    let waiting = CountDown()
    /// The seconds between the time at which a second attempt was due and its beginning.
    let latenesses: Mutex<[Double]>

    init(capacity: Int) {
        var empty: [Double] = []
        empty.reserveCapacity(capacity)
        latenesses = Mutex(empty)
    }
}

/// An operation that sees how late it wakes.
// Unchecked as its superclass is: the rest of its state is in `due`.
private final class WaitingOperation: URLRequestOperation<Data>, @unchecked Sendable {
    private let observations: WaitingObservations
    private let due = Mutex(ContinuousClock.Instant?.none)

    init(_ request: URLRequest, configuration: RequestConfiguration, _ observations: WaitingObservations) {
        self.observations = observations
        super.init(request, decoder: .data, configuration: configuration)
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        let decision = await super.retryDecision(after: failure)
        if case .retry(let delay, _, _, _, _) = decision { due.withLock { $0 = .now + delay } }
        return decision
    }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        guard let due = due.withLock({ $0 }) else { return try await super.process(request) }
        let lateness = due.duration(to: .now) / .seconds(1)
        observations.latenesses.withLock { $0.append(lateness) }
        var second = try await super.process(request)
        second.setValue("2", forHTTPHeaderField: RefusingTransport.field)
        return second
    }
}

/// Refuses every first attempt for now and every second one for good: a success would wake all others.
private struct RefusingTransport: Transport {
    /// The field of a second attempt.
    static let field = "Attempt"

    let countDown: CountDown

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        let isSecond = task.request.value(forHTTPHeaderField: Self.field) != nil
        if !isSecond { countDown.countOne() }
        // The benchmark makes no request without a URL.
        let head = ResponseHead(status: isSecond ? 404 : 503, url: task.request.url!)
        do {
            try onHead(head)
        } catch {
            throw TransferFailure(error, head: head, phase: .head)
        }
        return TransportResponse(head: head, body: Data())
    }
}
