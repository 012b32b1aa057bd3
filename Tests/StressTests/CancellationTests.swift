import RequestOperations
import RequestOperationsTesting
import Testing

/// Cancelling at each point of a request's way, with code that obeys, that ignores it, and that never answers.
@Suite(.serialized) struct CancellationTests {
    enum Point: String, CaseIterable, Sendable {
        case beforeStart, slot, process, inFlight, body, decode, decision, wait
    }

    enum Conduct: String, CaseIterable, Sendable {
        case obeys, ignores, neverAnswers
    }

    @Test(arguments: Point.allCases, Conduct.allCases)
    func cancellingEndsOncePromptlyAndSendsNothingAfterwards(at point: Point, code conduct: Conduct) async throws {
        var latencies: [Duration] = []
        for _ in 0..<Stress.rounds(50, shortened: 1) {
            latencies += try await withThrowingTaskGroup { group in
                for _ in 0..<20 { group.addTask { try await self.cancel(at: point, code: conduct) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        // Beside the rest of the suite an operation waits for the machine, not for its cancel: the bound holds where it runs
        // alone.
        if Stress.isFull { #expect(latencies.sorted()[latencies.count / 2] < .milliseconds(100)) }
    }

    /// One cancel; returns how long the operation took to end.
    private func cancel(at point: Point, code conduct: Conduct) async throws -> Duration {
        let scene = Scene(point, conduct)
        await scene.play()
        let began = ContinuousClock.now
        scene.operation.cancel()
        await #expect(throws: CancellationError.self) { try await scene.operation.value }
        let latency = ContinuousClock.now - began
        #expect(scene.operation.isCancelled && scene.operation.isFinished && !scene.operation.isExecuting)
        let sent = scene.transport.sentCount
        scene.letGo()
        await scene.finishes.count(1)
        // Whatever was let go has had its turn when later work of the same kind has.
        _ = try await URLRequestOperation(Scene.request, configuration: .over(Prompt())).runOnAQueue()
        #expect(scene.transport.sentCount == sent)
        #expect(scene.finishes.elements == ["cancelled"])
        return latency
    }

    @Test func cancellingAtARandomMomentEndsOnceWhateverTheMoment() async throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<Stress.rounds(20_000, shortened: 400) {
            let ends = Counter()
            var configuration = RequestConfiguration.over(
                ScriptedTransport([.status(503), .error(.connectionLost), .body(Data())]))
            configuration.retryPolicy.backoff = .constant(.zero)
            let operation = URLRequestOperation(Scene.request, configuration: configuration)
            operation.whenFinished { _ in ends.increment() }
            let pause = Int.random(in: 0..<2_000, using: &random)
            async let cancelling: Void = {
                for _ in 0..<pause { await Task.yield() }
                operation.cancel()
            }()
            OperationQueue().addOperation(operation)
            let result = await Result { try await operation.value }
            await cancelling
            if case .failure(let error) = result {
                #expect(error is CancellationError)
                #expect(operation.isCancelled)
            } else {
                #expect(!operation.isCancelled)
            }
            await ends.reaches(1)
            #expect(ends.value == 1)
        }
    }
}

/// A request on its way to the point where it is cancelled.
private final class Scene: Sendable {
    static let request = URLRequest(url: URL(string: "http://example.invalid/")!)

    let operation: StagedOperation
    let transport: StagedTransport
    let finishes = Log()
    private let point: CancellationTests.Point
    private let stage: Stage
    private let clock = ManualClock()
    private let limiter = RequestLimiter(total: 1)
    private let occupant: URLRequestOperation<Data>
    private let queue = OperationQueue()

    init(_ point: CancellationTests.Point, _ conduct: CancellationTests.Conduct) {
        self.point = point
        stage = Stage(point, conduct)
        transport = StagedTransport(stage, failing: point == .decision || point == .wait)
        var configuration = RequestConfiguration.over(transport)
        configuration.clock = clock
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(60)))
        configuration.retryPolicy.earlyRetryObservers = point == .wait ? [StagedObserver(stage: stage)] : []
        if point == .slot { configuration.limiter = limiter }
        operation = StagedOperation(stage, configuration)
        operation.whenFinished { [finishes] result in
            if case .failure(let error) = result, error is CancellationError {
                finishes.append("cancelled")
            } else {
                finishes.append("\(result)")
            }
        }
        var occupying = RequestConfiguration.over(ScriptedTransport([.stall]))
        occupying.limiter = limiter
        occupant = URLRequestOperation(Self.request, configuration: occupying)
    }

    func play() async {
        switch point {
        case .beforeStart:
            queue.isSuspended = true
            queue.addOperation(operation)
            operation.cancel()
            queue.isSuspended = false
        case .slot:
            queue.addOperation(occupant)
            await until { self.limiter.inFlightCount == 1 }
            queue.addOperation(operation)
            await until { self.limiter.waitingCount == 1 }
        default:
            queue.addOperation(operation)
            await stage.isReached.count(1)
        }
    }

    /// Lets go whatever ignored the cancel, and whoever else waits.
    func letGo() {
        stage.letGo()
        occupant.cancel()
        clock.advance(by: .seconds(3600))
    }

    private func until(_ condition: @Sendable () -> Bool) async {
        while !condition() { await Task.yield() }
    }
}

/// The code at the point.
private final class Stage: Sendable {
    let point: CancellationTests.Point
    let conduct: CancellationTests.Conduct
    let isReached = Log()
    private let released = Log()

    init(_ point: CancellationTests.Point, _ conduct: CancellationTests.Conduct) {
        self.point = point
        self.conduct = conduct
    }

    func letGo() {
        released.append("released")
    }

    func pass(_ point: CancellationTests.Point) async throws {
        guard point == self.point else { return }
        isReached.append("reached")
        switch conduct {
        case .obeys: try await ManualClock().sleep(for: .seconds(1))
        case .ignores: await released.count(1)
        case .neverAnswers: await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
    }
}

private final class StagedOperation: URLRequestOperation<Data>, @unchecked Sendable {
    private let stage: Stage

    init(_ stage: Stage, _ configuration: RequestConfiguration) {
        self.stage = stage
        super.init(Scene.request, decoder: .data, configuration: configuration)
    }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        try await stage.pass(.process)
        return request
    }

    override func decode(_ response: TransportResponse) async throws -> Data {
        try await stage.pass(.decode)
        return response.body
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        do { try await stage.pass(.decision) } catch { return .retry(after: .zero) }
        return await super.retryDecision(after: failure)
    }
}

private struct StagedObserver: EarlyRetryObserver {
    let stage: Stage

    func wait(after failure: AttemptFailure) async throws {
        try await stage.pass(.wait)
    }
}

/// Counts what it is asked to send, and stops before the head or in the body.
private final class StagedTransport: Transport {
    private let stage: Stage
    private let isFailing: Bool
    private let sent = Counter()

    init(_ stage: Stage, failing isFailing: Bool) {
        self.stage = stage
        self.isFailing = isFailing
    }

    var sentCount: Int { sent.value }

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        sent.increment()
        try await stage.pass(.inFlight)
        if isFailing { throw TransferFailure(RequestError(.connectionLost, stage: .transfer), phase: .head) }
        let head = ResponseHead(status: 200, url: task.request.url!)
        try onHead(head)
        try await stage.pass(.body)
        return TransportResponse(head: head)
    }
}

private struct Prompt: Transport {
    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        let head = ResponseHead(status: 200, url: task.request.url!)
        try onHead(head)
        return TransportResponse(head: head)
    }
}
