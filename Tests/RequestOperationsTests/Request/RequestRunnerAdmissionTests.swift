import RequestOperationsTesting
import Testing

@testable import RequestOperations

/// What waits for a limiter keeps to what a host asks meanwhile.
@Suite(.timeLimit(.minutes(15))) struct RequestRunnerAdmissionTests {
    private let clock = ManualClock()
    private let table: KnownSilences
    private let limiter = RequestLimiter(total: 1)
    private let door = Door()
    private let transport = ScriptedTransport((0..<20).map { _ in .body(Data()) })

    init() {
        table = KnownSilences(clock: clock)
    }

    private func configuration(_ transport: ScriptedTransport) -> RequestConfiguration {
        var configuration = RequestConfiguration.over(transport)
        configuration.clock = clock
        configuration.limiter = limiter
        configuration.randomSource = RandomSource(seed: 3)
        configuration.retryPolicy = .none
        configuration.retryPolicy.budget = nil
        configuration.use(table)
        return configuration
    }

    private func url(_ text: String) -> URL {
        URL(string: text)!  // Literals that are URLs.
    }

    private var busy: URL { url("http://busy.invalid/") }

    /// Starts a request that has the only slot, and is told to wait for 100 s when the door opens.
    private func startTold(in queue: OperationQueue = OperationQueue()) async -> URLRequestOperation<Data> {
        let transport = ScriptedTransport([.behind(door, .status(503, fields: [("Retry-After", "100")]))])
        let told = URLRequestOperation(busy, configuration: configuration(transport))
        queue.addOperation(told)
        await transport.requests(atLeast: 1)
        return told
    }

    /// Has an operation wait for the limiter.
    private func lineUp(_ operation: URLRequestOperation<Data>) async {
        let former = limiter.waitingCount
        OperationQueue().addOperation(operation)
        await eventually { limiter.waitingCount == former + 1 }
    }

    private func waiting(_ url: URL, _ edit: (inout RequestConfiguration) -> Void = { _ in }) async
        -> URLRequestOperation<Data>
    {
        var configuration = configuration(transport)
        edit(&configuration)
        let operation = URLRequestOperation(url, configuration: configuration)
        await lineUp(operation)
        return operation
    }

    @Test func `It keeps to what the one before it was told`() async throws {
        _ = await startTold()
        var operations: [URLRequestOperation<Data>] = []
        for _ in 0..<3 { operations.append(await waiting(busy)) }
        door.open()
        await clock.sleepers(3)
        await eventually { limiter.inFlightCount == 0 && limiter.waitingCount == 0 }
        clock.advance(by: .milliseconds(99_999))
        #expect(transport.requests.isEmpty)
        clock.advance(by: .milliseconds(3_001))
        for operation in operations { _ = try await operation.value }
        #expect(operations.allSatisfy { $0.attempts.count == 1 } && transport.requests.count == 3)
    }

    /// Asks a table when it gets the slot.
    private final class Asking: SlotWaiter {
        let left = Locked<Duration?>(nil)
        private let ask: @Sendable () -> Duration

        init(_ ask: @escaping @Sendable () -> Duration) {
            self.ask = ask
        }

        func wasAdmitted() {
            left.withLock { $0 = ask() }
        }
    }

    @Test func `What a response asks is noted before its slot is given back`() async throws {
        let told = await startTold()
        let asking = Asking { [table, busy] in table.timeLeft(for: busy) }
        #expect(limiter.enter(nil, at: limiter.newPlace(), asking) == .waits)
        door.open()
        await #expect(throws: RequestError.self) { try await told.value }
        #expect(asking.left.withLock { $0 } == .seconds(100))
        RequestLimiter.Slot(of: limiter, for: nil).release()
    }

    @Test func `The slot that it gives back goes to a request to another host`() async throws {
        _ = await startTold()
        let first = await waiting(busy)
        let second = await waiting(url("http://free.invalid/"))
        door.open()
        _ = try await second.value
        #expect(transport.requests.map { $0.url?.host } == ["free.invalid"] && !first.isFinished)
        await clock.sleepers(1)
        clock.advance(by: .seconds(103))
        _ = try await first.value
    }

    @Test func `All keep their positions`() async throws {
        _ = await startTold()
        var operations: [URLRequestOperation<Data>] = []
        for number in 0..<8 { operations.append(await waiting(url("http://busy.invalid/\(number)"))) }
        door.open()
        await clock.sleepers(8)
        let occupied = limiter.slotAtOnce(for: Origin(nil))
        // Their waits end in another order than they came.
        clock.advance(by: .seconds(103))
        await eventually { limiter.waitingCount == 8 }
        occupied?.release()
        for operation in operations { _ = try await operation.value }
        #expect(transport.requests.map { $0.url?.path } == (0..<8).map { "/\($0)" })
    }

    @Test func `It waits once and does not ask without end`() async throws {
        let steps = Collector<String>()
        _ = await startTold()
        let operation = await waiting(busy) { configuration in
            configuration.onEvent = { event in
                switch event.step {
                case .waitsForSlot: steps.append("waits for a slot")
                case .gotSlot: steps.append("gets a slot")
                case .waits: steps.append("waits")
                default: break
                }
            }
        }
        door.open()
        await clock.sleepers(1)
        clock.advance(by: .seconds(103))
        _ = try await operation.value
        let (wait, slot) = ("waits for a slot", "gets a slot")
        await operation.configuration.deliverEvents()
        #expect(steps.elements == [wait, slot, "waits", wait, slot])
    }

    @Test func `Who is cancelled meanwhile leaves and holds nothing`() async {
        _ = await startTold()
        let operation = await waiting(busy)
        door.open()
        await clock.sleepers(1)
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
        await eventually { clock.sleeperCount == 0 }
        #expect(limiter.inFlightCount == 0 && limiter.waitingCount == 0 && transport.requests.isEmpty)
    }

    @Test func `Retry now sends it all the same`() async throws {
        _ = await startTold()
        let operation = await waiting(busy)
        door.open()
        await clock.sleepers(1)
        operation.retryNow()
        _ = try await operation.value
    }

    @Test func `Its deadline fails it at once if it comes first`() async {
        _ = await startTold()
        let operation = await waiting(busy) { $0.deadline = .seconds(50) }
        door.open()
        let error = await #expect(throws: RequestError.self) { try await operation.value }
        #expect(error?.code == .retryAfterTooLong && transport.requests.isEmpty)
        await eventually { limiter.inFlightCount == 0 && limiter.waitingCount == 0 }
    }

    @Test func `It is processed again if the wait was long`() async throws {
        let processed = Collector<Void>()
        _ = await startTold()
        let operation = await waiting(busy) { configuration in
            configuration.adapters = [
                RequestAdapter { request in
                    processed.append(())
                    return request
                }
            ]
        }
        door.open()
        await clock.sleepers(1)
        clock.advance(by: .seconds(103))
        _ = try await operation.value
        #expect(processed.count == 2)
    }

    @Test func `It gives the slots of both limiters back`() async throws {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 1
        _ = await startTold(in: queue)
        let operation = URLRequestOperation(busy, configuration: configuration(transport))
        queue.addOperation(operation)
        await eventually { queue.limiter.waitingCount == 1 }
        door.open()
        await clock.sleepers(1)
        await eventually { limiter.inFlightCount == 0 && queue.limiter.inFlightCount == 0 }
        #expect(limiter.waitingCount == 0 && queue.limiter.waitingCount == 0 && transport.requests.isEmpty)
        clock.advance(by: .seconds(103))
        _ = try await operation.value
    }

    @Test func `A decision of ones own holds during the wait too`() async throws {
        let transport = ScriptedTransport([.status(503, fields: [("Retry-After", "100")]), .body(Data())])
        let operation = Staged(configuration(transport), to: busy)
        operation.decisions = { _ in .retry(after: .zero) }
        _ = try await run(operation)
        #expect(table.timeLeft(for: busy) == .seconds(100))
    }
}
