import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ManualClockTests {
    private let clock = ManualClock()

    /// A Task that sleeps on the clock.
    private func sleeper(for duration: Duration, then body: @escaping @Sendable () -> Void = {}) -> Task<
        Void, any Error
    > {
        Task { [clock] in
            try await clock.sleep(for: duration)
            body()
        }
    }

    @Test func `It stands still until it is advanced`() {
        let before = clock.now
        #expect(clock.now == before && before.offset == .zero)
        clock.advance(by: .milliseconds(1500))
        #expect(before.duration(to: clock.now) == .milliseconds(1500))
    }

    @Test func `A sleeper wakes when its time has come`() async throws {
        let sleeper = sleeper(for: .seconds(5))
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        try await sleeper.value
    }

    @Test func `A sleeper whose time has not come sleeps on`() async throws {
        let sleeper = sleeper(for: .seconds(5))
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(4999))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .milliseconds(1))
        try await sleeper.value
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `Who need not sleep returns at once`(duration: Duration) async throws {
        try await clock.sleep(for: duration)
    }

    @Test func `One advance wakes all whose time has come`() async throws {
        let sleepers = (1...100).map { sleeper(for: .seconds($0)) }
        await clock.sleepers(100)
        clock.advance(by: .seconds(60))
        #expect(clock.sleeperCount == 40)
        clock.advance(by: .seconds(40))
        for sleeper in sleepers { try await sleeper.value }
    }

    @Test func `A cancelled sleeper wakes with a cancellation error and leaves`() async {
        let sleeper = sleeper(for: .seconds(5))
        await clock.sleepers(1)
        sleeper.cancel()
        #expect(clock.sleeperCount == 0)
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test func `Who is cancelled already does not sleep`() async {
        let begin = Door()
        let sleeper = Task { [clock] in
            await begin.pass()
            try await clock.sleep(for: .seconds(5))
        }
        sleeper.cancel()
        begin.open()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `Waiting for sleepers returns at once if there are enough`() async {
        await clock.sleepers(0)
        let sleeper = sleeper(for: .seconds(5))
        await clock.sleepers(1)
        await clock.sleepers(1)
        sleeper.cancel()
    }

    @Test func `A wait for sleepers ends when its task is cancelled`() async {
        let wait = Task { [clock] in await clock.sleepers(1) }
        wait.cancel()
        await wait.value
        // It may also have been waiting by then.
        let begun = Door()
        let another = Task { [clock] in
            async let waits: Void = clock.sleepers(1)
            begun.open()
            await waits
        }
        await begun.pass()
        another.cancel()
        await another.value
    }

    @Test func `Sleepers that have left do not count`() async {
        let first = sleeper(for: .seconds(1))
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        _ = await first.result
        let both = Task { [clock] in await clock.sleepers(2) }
        let second = sleeper(for: .seconds(5))
        await clock.sleepers(1)
        #expect(clock.sleeperCount == 1)
        let third = sleeper(for: .seconds(5))
        await both.value
        second.cancel()
        third.cancel()
    }

    // MARK: Sleepers, or the end of an operation

    /// An operation on the clock with answers from a script.
    private func operation(_ answers: ScriptedTransport.Answer...) -> URLRequestOperation<Data> {
        var configuration = RequestConfiguration()
        configuration.transport = ScriptedTransport(answers)
        configuration.clock = clock
        return URLRequestOperation(URL(string: "http://example.invalid")!, configuration: configuration)
    }

    @Test func `A wait for sleepers of an operation ends when it sleeps`() async {
        let operation = operation(.status(503))
        OperationQueue().addOperation(operation)
        #expect(await clock.sleepers(1, orEndOf: operation) == .asleep)
        operation.cancel()
    }

    @Test func `A wait for sleepers ends when the operation finishes without them`() async {
        let operation = operation(.status(200))
        async let outcome = clock.sleepers(1, orEndOf: operation)
        OperationQueue().addOperation(operation)
        #expect(await outcome == .finished)
    }

    @Test func `A wait for more sleepers than there will be ends with the operation`() async {
        let operation = operation(.status(503))
        OperationQueue().addOperation(operation)
        async let outcome = clock.sleepers(2, orEndOf: operation)
        await clock.sleepers(1)
        operation.cancel()
        #expect(await outcome == .finished)
    }

    @Test func `A wait for sleepers of a finished operation returns at once`() async throws {
        let operation = operation(.status(200))
        OperationQueue().addOperation(operation)
        _ = try await operation.value
        #expect(await clock.sleepers(1, orEndOf: operation) == .finished)
    }

    @Test func `A wait for sleepers of an operation ends when its task is cancelled`() async {
        let operation = operation(.status(200))
        let wait = Task { [clock] in await clock.sleepers(1, orEndOf: operation) }
        wait.cancel()
        #expect(await wait.value == .cancelled)
    }

    @Test func `Advancing backwards stops the process`() async {
        await #expect(processExitsWith: .failure) { ManualClock().advance(by: .seconds(-1)) }
    }
}
