import Foundation
import RequestOperations
import Synchronization

/// Operations that all wait for their second attempt at once.
struct WaitingOrder: Codable, Sendable {
    /// How many.
    var operations: Int
    /// How many of them are cancelled while all wait.
    var cancelled: Int
    /// The longest wait in seconds; the shortest is half of it, and the others lie evenly between.
    var longestWait: Double

    /// Measures their memory, how long it takes to cancel some, and how late the others wake.
    func carryOut() throws -> Sample {
        let observations = WaitingObservations(capacity: operations)
        var configuration = RequestConfiguration.default
        configuration.transport = FailingOnceTransport(countDown: observations.waiting)
        configuration.retryPolicy.backoff = .constant(.seconds(longestWait), jitter: .equal)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = operations
        observations.waiting.expect(operations)
        let empty = ProcessStatus.residentAfterTrim
        // A good URL.
        let url = URL(string: "http://example.com/")!
        let all = (0..<operations).map { _ in
            WaitingOperation(URLRequest(url: url), configuration: configuration, observations)
        }
        for operation in all { queue.addOperation(operation) }
        observations.waiting.wait()
        // The decisions that follow the last failures, before the first wait ends.
        usleep(UInt32(longestWait / 10 * 1e6))
        let full = ProcessStatus.residentAfterTrim
        guard observations.latenesses.withLock({ $0.isEmpty }) else {
            throw BenchmarkError("the machine is too slow: some operations woke before the others waited")
        }
        let cancelTime = cancel(all.prefix(cancelled))
        queue.waitUntilAllOperationsAreFinished()
        let latenesses = observations.latenesses.withLock { $0.sorted() }
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
    private func cancel(_ operations: some Collection<WaitingOperation>) -> Double {
        let ended = CountDown()
        ended.expect(operations.count)
        for operation in operations { operation.whenFinished { _ in ended.countOne() } }
        let start = ContinuousClock.now
        for operation in operations { operation.cancel() }
        ended.wait()
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
        if case .retry(let delay, _, _, _) = decision { due.withLock { $0 = .now + delay } }
        return decision
    }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        guard let due = due.withLock({ $0 }) else { return try await super.process(request) }
        let lateness = due.duration(to: .now) / .seconds(1)
        observations.latenesses.withLock { $0.append(lateness) }
        var second = try await super.process(request)
        second.setValue("2", forHTTPHeaderField: FailingOnceTransport.field)
        return second
    }
}

/// Loses the connection of every first attempt.
private struct FailingOnceTransport: Transport {
    /// The field of a second attempt.
    static let field = "Attempt"

    let countDown: CountDown

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        guard task.request.value(forHTTPHeaderField: Self.field) != nil else {
            countDown.countOne()
            throw TransferFailure(RequestError(.connectionLost, stage: .transfer), phase: .head)
        }
        return try await ImmediateTransport(body: Data()).perform(task, onHead: onHead)
    }
}
