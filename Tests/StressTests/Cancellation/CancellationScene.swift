import RequestOperations
import RequestOperationsTesting
import Testing

/// One request that is cancelled on its way.
///
/// Played in three acts, so that many can be at their point, then be cancelled, then be over at the same time: what the
/// others do before and after does not count as the time that a cancel takes.
final class CancellationScene: Sendable {
    private let cell: CancellationCell
    private let site: any Site
    private let stage: Stage
    private let clock = ManualClock()
    private let limiter: RequestLimiter?
    private let queue = OperationQueue()
    /// What the request waits for before it starts or for its slot.
    private let obstacle: Operation?
    private let completions = DispatchQueue(label: "CancellationScene")
    private let results = Collector<String>()
    private let steps = Collector<String>()
    /// Opens when the listener has heard of the end.
    private let hasEnded = Door()
    private let waitsForSlot = Door()
    /// The request, until it is cancelled.
    private let actor = Locked<StagedOperation?>(nil)

    /// How long the operation took to end after the cancel, and its connection.
    struct Measured: Sendable {
        let end: Duration
        let connection: Duration?
    }

    init(_ cell: CancellationCell) async throws {
        self.cell = cell
        site = try await cell.wire.site(for: cell.point)
        stage = Stage(cell)
        limiter = cell.point == .slot ? RequestLimiter(total: 1) : nil
        var configuration = RequestConfiguration.over(site.transport)
        configuration.limiter = limiter
        obstacle =
            switch cell.point {
            case .beforeStart: StagedDependency(stage)
            case .slot: StagedOperation(site.url("/occupant"), stage, .slot, configuration)
            default: nil
            }
    }

    /// The first act: the request comes to its point.
    func begin() async throws {
        let operation = makeOperation()
        actor.withLock { $0 = operation }
        try await reachPoint(with: operation)
    }

    /// The second: it is cancelled, and ends as it should, its connection too, while code that ignores the cancel still runs.
    func cancel() async throws -> Measured {
        let operation = try #require(actor.withLock { $0 })
        let instant = ContinuousClock.now
        operation.cancel()
        let result = await Result { try await operation.value }
        let end = instant.duration(to: .now)
        #expect(result.failure is CancellationError)
        // Who awaits one that waited for its start does not wait for that if it takes too long.
        await results.count(1)
        #expect(operation.isCancelled && operation.isFinished && !operation.isExecuting)
        let connection = cell.point.hasConnection ? try await site.firstConnectionEnded() : nil
        return Measured(end: end, connection: connection.map(instant.duration))
    }

    /// The third: all is let go, and it turns out that the request ended once and sent nothing afterwards.
    func conclude() async throws {
        let isFreed = releaseOperation()
        stage.letGo()
        obstacle?.cancel()
        clock.advance(by: .seconds(3600))
        // Code that never answers keeps its operation, and is not about to send anything.
        let isKept = cell.conduct == .neverAnswers && obstacle == nil
        if !isKept { await isFreed?.pass() }
        await completions.drain()
        var configuration = RequestConfiguration.over(site.transport)
        configuration.limiter = limiter
        _ = try await run(URLRequestOperation(site.url("/sentinel"), configuration: configuration))
        #expect(site.requestedPaths == requestsExpected + ["/sentinel"])
        #expect(results.elements == ["cancelled"])
        await hasEnded.pass()
        #expect(steps.elements.filter { $0 == "ended" }.count == 1 && steps.elements.last == "ended")
        stage.end()
        await isFreed?.pass()
    }

    /// Lets go of the operation; what opens says that everybody else has, too.
    private func releaseOperation() -> Door? {
        let operation = actor.withLock { actor in
            defer { actor = nil }
            return actor
        }
        return operation?.isFreed
    }

    private var requestsExpected: [String] {
        switch cell.point {
        case .beforeStart, .process: []
        case .slot: ["/occupant"]
        case .inFlight, .body, .consumer, .decode, .decision, .wait: ["/work"]
        }
    }

    private func makeOperation() -> StagedOperation {
        var configuration = RequestConfiguration.over(site.transport)
        configuration.limiter = limiter
        configuration.clock = clock
        configuration.completionQueue = completions
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(60)))
        // Thousands of operations with one host: the one that waits must wait for its backoff and its observers.
        configuration.retryPolicy.budget = nil
        if cell.point == .wait { configuration.retryPolicy.earlyRetryObservers = [StagedObserver(stage: stage)] }
        configuration.onEvent = { [steps, waitsForSlot, hasEnded] event in
            steps.append(event.step.name)
            if case .waitsForSlot = event.step { waitsForSlot.open() }
            if case .ended = event.step { hasEnded.open() }
        }
        let operation = StagedOperation(site.url("/work"), stage, cell.point, configuration)
        operation.whenFinished { [results] result in
            results.append(result.failure is CancellationError ? "cancelled" : "\(result)")
        }
        return operation
    }

    private func reachPoint(with operation: StagedOperation) async throws {
        switch cell.point {
        case .beforeStart:
            obstacle.map(operation.addDependency)
            obstacle.map(queue.addOperation)
            queue.addOperation(operation)
            await stage.isReached.pass()
        case .slot:
            obstacle.map(queue.addOperation)
            try await site.requests(atLeast: 1)
            queue.addOperation(operation)
            await waitsForSlot.pass()
        case .inFlight:
            queue.addOperation(operation)
            try await site.requests(atLeast: 1)
        case .process, .body, .consumer, .decode, .decision, .wait:
            queue.addOperation(operation)
            await stage.isReached.pass()
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
