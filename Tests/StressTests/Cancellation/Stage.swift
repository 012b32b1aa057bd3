import RequestOperations
import RequestOperationsTesting

/// The code at the point where a request is cancelled.
final class Stage: Sendable {
    /// Opens when the code is running.
    let isReached = Door()
    private let cell: CancellationCell
    private let mayAnswer = Door()
    private let isOver = Door()

    init(_ cell: CancellationCell) {
        self.cell = cell
    }

    /// Lets code answer that ignored the cancel.
    func letGo() {
        mayAnswer.open()
    }

    /// All has been judged: code that never answered may go, and what it holds with it.
    func end() {
        isOver.open()
    }

    /// The code of one point, which does nothing if it is not the one of the cell.
    func pass(_ point: CancellationCell.Point) async throws {
        guard point == cell.point else { return }
        isReached.open()
        switch cell.conduct {
        // A clock that nobody moves.
        case .obeys: try await ManualClock().sleep(for: .seconds(1))
        case .ignores: await mayAnswer.pass()
        case .neverAnswers: await isOver.pass()
        }
    }
}

/// A request whose code has the conduct of the cell at the cell's point.
final class StagedOperation: URLRequestOperation<Data>, @unchecked Sendable {
    /// Opens when nothing holds the operation any more, so that nothing can act in its name.
    let isFreed = Door()
    private let stage: Stage
    private let point: CancellationCell.Point

    init(_ url: URL, _ stage: Stage, _ point: CancellationCell.Point, _ configuration: RequestConfiguration) {
        self.stage = stage
        self.point = point
        super.init(URLRequest(url: url), decoder: .data, configuration: configuration)
    }

    deinit {
        isFreed.open()
    }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        try await stage.pass(.process)
        return request
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        if point == .consumer { return .stream(request) { [stage] _ in try await stage.pass(.consumer) } }
        return .custom(request) { [stage, point] task, transport, onHead in
            do {
                return try await transport.perform(task) { head in
                    try onHead(head)
                    if point == .body { stage.isReached.open() }
                }
            } catch {
                // The code around the transfer, which the cancel of the Task has ended.
                if [.slot, .inFlight, .body].contains(point) { try await stage.pass(point) }
                throw error
            }
        }
    }

    override func decode(_ response: TransportResponse) async throws -> Data {
        try await stage.pass(.decode)
        return response.body
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        // The stage cannot throw; what it answers after a cancel is dropped, even a retry at once.
        do { try await stage.pass(.decision) } catch { return .retry(after: .zero) }
        return await super.retryDecision(after: failure)
    }
}

/// An operation that others wait for.
final class StagedDependency: AsynchronousOperation<Void>, @unchecked Sendable {
    private let stage: Stage

    init(_ stage: Stage) {
        self.stage = stage
    }

    override func run() async throws {
        try await stage.pass(.beforeStart)
    }
}

/// An observer that would end the wait.
struct StagedObserver: EarlyRetryObserver {
    let stage: Stage

    func wait(after failure: AttemptFailure) async throws {
        try await stage.pass(.wait)
    }
}
