import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ManualClockRunTests {
    private let clock = ManualClock()
    private let url = URL(string: "http://example.invalid")!

    /// An operation on the clock, with answers from a script and a backoff of one minute.
    private func operation(
        _ answers: ScriptedTransport.Answer..., edit: (inout RequestConfiguration) -> Void = { _ in }
    ) -> URLRequestOperation<Data> {
        var configuration = RequestConfiguration()
        configuration.transport = ScriptedTransport(answers)
        configuration.clock = clock
        configuration.retryPolicy.backoff = .constant(.seconds(60))
        edit(&configuration)
        return URLRequestOperation(url, configuration: configuration)
    }

    /// An answer that comes when so many have lain down on the clock, and some time later.
    private func answer(afterSleepers count: Int) -> ScriptedTransport.Answer {
        .dynamic { [clock] _ in
            await clock.sleepers(count)
            for _ in 1...100 { await Task.yield() }
            return .body(Data("late".utf8))
        }
    }

    @Test func `It returns the value that comes after waits`() async throws {
        let operation = operation(.status(503), .error(.connectionLost), .body(Data("done".utf8)))
        #expect(try await clock.run(operation) == Data("done".utf8))
    }

    @Test func `It moves the clock by the waits and no further`() async throws {
        _ = try await clock.run(operation(.status(503), .status(503), .status(200)))
        #expect(clock.now.offset == .seconds(120))
    }

    @Test func `It throws the failure of the operation`() async throws {
        let error = await #expect(throws: RequestError.self) { try await clock.run(operation(.status(503))) }
        #expect(error?.code == .unacceptableStatus && error?.attempts.count == 4)
    }

    @Test func `It returns without moving the clock if nobody waits`() async throws {
        _ = try await clock.run(operation(.status(200)))
        #expect(clock.now.offset == .zero)
    }

    @Test func `It stands still while an operation with a deadline works`() async throws {
        _ = try await clock.run(operation(answer(afterSleepers: 1)) { $0.deadline = .seconds(600) })
        #expect(clock.now.offset == .zero)
    }

    @Test func `It stands still while an attempt with a time limit works`() async throws {
        _ = try await clock.run(operation(answer(afterSleepers: 1)) { $0.attemptTimeLimit = .seconds(30) })
        #expect(clock.now.offset == .zero)
    }

    @Test func `It stands still while a stage with a time limit works`() async throws {
        let operation = operation(.status(200)) { [clock] configuration in
            configuration.stageTimeLimits[.retryDecision] = .seconds(30)
            configuration.stageTimeLimits[.process] = .seconds(30)
            configuration.adapters = [
                RequestAdapter { request in
                    await clock.sleepers(1)
                    for _ in 1...100 { await Task.yield() }
                    return request
                }
            ]
        }
        _ = try await clock.run(operation)
        #expect(clock.now.offset == .zero)
    }

    @Test func `It ends the waits of an operation with a deadline`() async throws {
        _ = try await clock.run(operation(.status(503), .status(200)) { $0.deadline = .seconds(600) })
        #expect(clock.now.offset == .seconds(60))
    }

    @Test func `It reaches the deadline of a request that stalls`() async throws {
        let operation = operation(.stall) { $0.deadline = .seconds(600) }
        let error = await #expect(throws: RequestError.self) { try await clock.run(operation) }
        #expect(error?.code == .timedOut)
    }

    @Test func `It reaches the time limit of an attempt that stalls`() async throws {
        let operation = operation(.stallBody(), .body(Data("done".utf8))) { $0.attemptTimeLimit = .seconds(30) }
        #expect(try await clock.run(operation) == Data("done".utf8))
    }

    @Test func `It reaches the delay of a hedge`() async throws {
        let operation = operation(.stall, .body(Data("hedge".utf8))) { $0.hedging = Hedging(delay: .seconds(2)) }
        #expect(try await clock.run(operation) == Data("hedge".utf8))
    }

    @Test func `It gives an answer that is delayed on the clock`() async throws {
        _ = try await clock.run(operation(.delayed(.seconds(5), on: clock, .status(200))))
        #expect(clock.now.offset == .seconds(5))
    }

    @Test func `It runs an operation of another kind`() async throws {
        #expect(try await clock.run(Sleeping(on: clock)) == .seconds(7))
    }

    @Test func `It adds the operation to the given queue`() async throws {
        let queue = RecordingQueue()
        let operation = operation(.status(200))
        _ = try await clock.run(operation, on: queue)
        #expect(queue.added.elements == [ObjectIdentifier(operation)])
    }

    @Test func `A cancelled run cancels its operation`() async {
        let operation = operation(.stall)
        let run = Task { [clock] in try await clock.run(operation) }
        await clock.sleepers(1)
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(operation.isCancelled)
    }

    @Test func `It runs a function whose requests wait`() async throws {
        let configuration = RequestConfiguration.default.with {
            $0.transport = ScriptedTransport([.status(503), .status(503), .body(Data("done".utf8))])
            $0.clock = clock
            $0.retryPolicy.backoff = .constant(.seconds(60))
        }
        let client = RequestClient(baseURL: url, configuration: configuration)
        #expect(try await clock.run { try await client.get("a", as: String.self) } == "done")
        #expect(clock.now.offset == .seconds(120))
    }
}

/// An operation that sleeps twice, and tells for how long.
private final class Sleeping: AsynchronousOperation<Duration>, @unchecked Sendable {
    private let clock: ManualClock

    init(on clock: ManualClock) {
        self.clock = clock
        super.init()
    }

    override func run() async throws -> Duration {
        let start = clock.now
        try await clock.sleep(for: .seconds(3))
        try await clock.sleep(for: .seconds(4))
        return start.duration(to: clock.now)
    }
}

/// A queue that records what is added to it.
private final class RecordingQueue: OperationQueue, @unchecked Sendable {
    let added = Collector<ObjectIdentifier>()

    override func addOperation(_ operation: Operation) {
        added.append(ObjectIdentifier(operation))
        super.addOperation(operation)
    }
}
