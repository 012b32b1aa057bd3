import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct RequestRunnerTests {
    private static let failure = AttemptFailure(Problem(), request: anyRequest, stage: .validate)

    private func runner(_ configuration: RequestConfiguration = RequestConfiguration()) -> RequestRunner {
        RequestRunner(anyRequest, configuration: configuration)
    }

    /// A runner with a deadline on a clock.
    private func runner(on clock: ManualClock, deadline: Duration) -> RequestRunner {
        var configuration = RequestConfiguration()
        configuration.clock = clock
        configuration.deadline = deadline
        return runner(configuration)
    }

    private func hearing(_ steps: Collector<String>) -> RequestConfiguration {
        var configuration = RequestConfiguration()
        configuration.onEvent = { steps.append($0.step.name) }
        return configuration
    }

    // MARK: Beginning and end

    @Test func `A deadline that passes is told with the attempt that ran`() async throws {
        let clock = ManualClock()
        let runner = runner(on: clock, deadline: .seconds(5))
        let errors = Collector<RequestError>()
        try runner.begin(on: nil, until: .seconds(5)) { errors.append($0) }
        _ = try runner.beginAttempt()
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        await errors.count(1)
        #expect(errors.elements[0].code == .timedOut && errors.elements[0].attempts.map(\.ended) == [.seconds(5)])
    }

    @Test func `The alarm of a deadline is cancelled at the end`() async throws {
        let clock = ManualClock()
        let runner = runner(on: clock, deadline: .seconds(5))
        try runner.begin(on: nil, until: .seconds(5)) { _ in Issue.record("The deadline came after the end.") }
        await clock.sleepers(1)
        runner.ended(nil)
        await clock.sleepers(0)
        clock.advance(by: .seconds(5))
    }

    @Test func `The alarm of a request that was stopped is not kept`() async throws {
        let clock = ManualClock()
        let runner = runner(on: clock, deadline: .seconds(5))
        runner.stop()
        try runner.begin(on: nil, until: .seconds(5)) { _ in Issue.record("The deadline came after the end.") }
        await clock.sleepers(0)
        clock.advance(by: .seconds(5))
    }

    @Test func `A deadline that passed before the beginning fails at once`() throws {
        let clock = ManualClock()
        let runner = runner(on: clock, deadline: .seconds(5))
        runner.becameReady()
        clock.advance(by: .seconds(5))
        let error = #expect(throws: RequestError.self) { try runner.begin(on: nil, until: .seconds(5)) { _ in } }
        #expect(error?.code == .timedOut)
    }

    @Test func `A cancellation is never wrapped`() {
        let runner = runner()
        for error in [CancellationError(), URLError(.cancelled)] as [any Error] {
            #expect(runner.ending(error, in: .process) is CancellationError)
        }
        #expect(
            runner.ending(TransferFailure(CancellationError(), phase: .head), in: .transfer) is CancellationError)
        #expect(runner.ending(Problem(), in: .process) is RequestError)
    }

    @Test func `Nothing is told after the end`() async {
        let steps = Collector<String>()
        let runner = runner(hearing(steps))
        runner.emit(.began)
        runner.ended(nil)
        runner.emit(.began)
        await runner.configuration.deliverEvents()
        #expect(steps.elements == ["began", "ended"])
    }

    @Test func `An abandoned request is told and its slot given back`() async throws {
        let steps = Collector<String>()
        let limiter = RequestLimiter(total: 1)
        var configuration = hearing(steps)
        let isInFlight = Door()
        configuration.limiter = limiter
        configuration.transport = ScriptedTransport([
            .dynamic { _ in
                isInFlight.open()
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                return .body(Data())
            }
        ])
        let runner = runner(configuration)
        let attempt = try runner.beginAttempt()
        Task {
            let admitted = try #require(try await runner.admit(.data(runner.original), in: attempt))
            _ = try await runner.transfer(admitted, stages: PlainStages())
        }
        await isInFlight.pass()
        #expect(limiter.inFlightCount == 1)
        runner.wasAbandoned()
        await configuration.deliverEvents()
        #expect(limiter.inFlightCount == 0 && steps.elements.last == "abandoned")
    }

    @Test func `What is drawn for a retry that is not sent is given back`() throws {
        let budget = KnownBudget.tokens()
        var configuration = RequestConfiguration()
        configuration.use(budget)
        let runner = runner(configuration)
        _ = try runner.beginAttempt()
        let failure = runner.fail(RequestError(.timedOut, stage: .transfer))
        _ = try runner.beginWait(.retry(after: .zero), after: failure)
        var wake = Wake(waited: .zero, reason: .backoff, knownEnd: .zero)
        #expect(try runner.goOn(after: &wake) == nil)
        #expect(budget.balance(of: try #require(anyRequest.url)) == 490)
        runner.ended(CancellationError())
        #expect(budget.balance(of: try #require(anyRequest.url)) == 500)
    }

    @Test(arguments: [true, false])
    func `A stage that two leave behind is told once`(operationIsFirst: Bool) async throws {
        let steps = Collector<String>()
        let runner = runner(hearing(steps))
        _ = try runner.beginAttempt()
        try runner.advance { $0.enter(UserStage.decode) }
        let watch = runner.stageRunner
        runner.stop()
        if operationIsFirst { runner.wasAbandoned() }
        watch.onAbandoned(.decode)
        if !operationIsFirst { runner.wasAbandoned() }
        await runner.configuration.deliverEvents()
        #expect(steps.elements.filter { $0 == "abandoned" }.count == 1)
    }

    @Test func `Stages that are left behind one after another are all told`() async throws {
        let steps = Collector<String>()
        let runner = runner(hearing(steps))
        _ = try runner.beginAttempt()
        runner.stageRunner.onAbandoned(.process)
        runner.stageRunner.onAbandoned(.retryDecision)
        runner.stop()
        runner.wasAbandoned()
        await runner.configuration.deliverEvents()
        #expect(steps.elements.filter { $0 == "abandoned" }.count == 3)
    }

    // MARK: Decisions

    @Test func `A decision to stop throws the error of the attempt`() {
        let error = #expect(throws: RequestError.self) { try runner().beginWait(.stop, after: Self.failure) }
        #expect(error?.underlying is Problem && error?.stage == .validate)
    }

    @Test func `A decision to fail throws its own error`() {
        let error = #expect(throws: RequestError.self) {
            try runner().beginWait(.fail(RequestError(.init("mine"), stage: .wait)), after: Self.failure)
        }
        #expect(error?.code == .init("mine"))
    }

    @Test func `A decision to fail as cancelled throws a cancellation`() {
        #expect(throws: CancellationError.self) {
            try runner().beginWait(.fail(CancellationError()), after: Self.failure)
        }
    }

    @Test func `A decision to retry replaces the request`() throws {
        let runner = runner()
        var other = anyRequest
        other.httpMethod = "PUT"
        _ = try runner.beginWait(.retry(after: .seconds(3), with: other), after: Self.failure)
        #expect(runner.original == other)
    }

    @Test func `A stopped request takes no decision`() {
        let runner = runner()
        runner.stop()
        #expect(throws: CancellationError.self) { try runner.beginWait(.retry(after: .zero), after: Self.failure) }
    }

    // MARK: Stages

    @Test func `A stopped request enters no stage`() async throws {
        let runner = runner()
        _ = try runner.beginAttempt()
        runner.stop()
        await #expect(throws: CancellationError.self) {
            try await runner.stage(.process) { Issue.record("The stage ran.") }
        }
    }

    @Test func `A stopped request begins no attempt`() {
        let runner = runner()
        runner.stop()
        #expect(throws: CancellationError.self) { try runner.beginAttempt() }
    }

    // MARK: Admission

    @Test func `A slot that came with the cancel is given back`() async throws {
        let limiter = RequestLimiter(total: 1)
        var configuration = RequestConfiguration()
        configuration.limiter = limiter
        let runner = runner(configuration)
        let attempt = try runner.beginAttempt()
        // In a Task of its own: the test's own Task must not be cancelled.
        let waiting = Task {
            // The stage that waits for the slot is entered after the cancel.
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await runner.admit(.data(anyRequest), in: attempt)
        }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        runner.ended(CancellationError())
        #expect(limiter.inFlightCount == 0 && limiter.waitingCount == 0)
    }

    @Test func `A slot that comes to an attempt that was left behind is given back and not told`() async throws {
        let steps = Collector<String>()
        let limiter = RequestLimiter(total: 1)
        let occupied = try await limiter.slot(for: Origin(anyRequest.url), at: limiter.newPlace())
        let waits = Door()
        var configuration = hearing(steps)
        configuration.limiter = limiter
        configuration.onEvent = { [told = configuration.onEvent] event in
            told?(event)
            if case .waitsForSlot = event.step { waits.open() }
        }
        let runner = runner(configuration)
        let first = try runner.beginAttempt()
        let leftBehind = Task { _ = try await runner.admit(.data(anyRequest), in: first) }
        await waits.pass()
        _ = runner.fail(Problem())
        _ = try runner.beginAttempt()
        occupied.release()
        await #expect(throws: CancellationError.self) { try await leftBehind.value }
        await configuration.deliverEvents()
        #expect(limiter.inFlightCount == 0 && !steps.elements.contains("gotSlot"))
        #expect(runner.fail(Problem()).stage == .process)
    }

    @Test func `An attempt that was left behind waits for no slot`() async throws {
        let steps = Collector<String>()
        var configuration = hearing(steps)
        configuration.limiter = RequestLimiter()
        let runner = runner(configuration)
        let first = try runner.beginAttempt()
        _ = runner.fail(Problem())
        _ = try runner.beginAttempt()
        await #expect(throws: CancellationError.self) { _ = try await runner.admit(.data(anyRequest), in: first) }
        await configuration.deliverEvents()
        #expect(!steps.elements.contains("waitsForSlot"))
        #expect(runner.fail(Problem()).stage == .process)
    }
}

/// The stages of a request that overrides nothing.
private struct PlainStages: RequestStages {
    var participant: (any RequestParticipant)? { nil }
    var isProcessedByAdapters: Bool { true }

    func process(_ request: URLRequest) async throws -> URLRequest { request }

    func makeTask(for request: URLRequest) async throws -> TransportTask { .data(request) }

    func validate(_ head: ResponseHead) throws {}
}

extension RequestRunner {
    fileprivate func beginAttempt() throws -> Int {
        try beginAttempt(after: nil, priority: .normal, on: nil).number
    }
}
