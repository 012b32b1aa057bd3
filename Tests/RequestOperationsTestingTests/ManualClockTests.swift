import RequestOperations
import RequestOperationsTesting
import Testing

@Suite struct ManualClockTests {
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

    @Test func itStandsStillUntilItIsAdvanced() {
        let before = clock.now
        #expect(clock.now == before && before.offset == .zero)
        clock.advance(by: .milliseconds(1500))
        #expect(before.duration(to: clock.now) == .milliseconds(1500))
    }

    @Test func aSleeperWakesWhenItsTimeHasCome() async throws {
        let sleeper = sleeper(for: .seconds(5))
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        try await sleeper.value
    }

    @Test func aSleeperWhoseTimeHasNotComeSleepsOn() async throws {
        let sleeper = sleeper(for: .seconds(5))
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(4999))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .milliseconds(1))
        try await sleeper.value
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func whoNeedNotSleepReturnsAtOnce(duration: Duration) async throws {
        try await clock.sleep(for: duration)
    }

    @Test func oneAdvanceWakesAllWhoseTimeHasCome() async throws {
        let sleepers = (1...100).map { sleeper(for: .seconds($0)) }
        await clock.sleepers(100)
        clock.advance(by: .seconds(60))
        #expect(clock.sleeperCount == 40)
        clock.advance(by: .seconds(40))
        for sleeper in sleepers { try await sleeper.value }
    }

    @Test func aCancelledSleeperWakesWithACancellationErrorAndLeaves() async {
        let sleeper = sleeper(for: .seconds(5))
        await clock.sleepers(1)
        sleeper.cancel()
        #expect(clock.sleeperCount == 0)
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test func whoIsCancelledAlreadyDoesNotSleep() async {
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

    @Test func waitingForSleepersReturnsAtOnceIfThereAreEnough() async {
        await clock.sleepers(0)
        let sleeper = sleeper(for: .seconds(5))
        await clock.sleepers(1)
        await clock.sleepers(1)
        sleeper.cancel()
    }

    @Test func aWaitForSleepersEndsWhenItsTaskIsCancelled() async {
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

    @Test func sleepersThatHaveLeftDoNotCount() async {
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

    @Test func aWaitForSleepersOfAnOperationEndsWhenItSleeps() async {
        let operation = operation(.status(503))
        OperationQueue().addOperation(operation)
        #expect(await clock.sleepers(1, orEndOf: operation) == .asleep)
        operation.cancel()
    }

    @Test func aWaitForSleepersEndsWhenTheOperationFinishesWithoutThem() async {
        let operation = operation(.status(200))
        async let outcome = clock.sleepers(1, orEndOf: operation)
        OperationQueue().addOperation(operation)
        #expect(await outcome == .finished)
    }

    @Test func aWaitForMoreSleepersThanThereWillBeEndsWithTheOperation() async {
        let operation = operation(.status(503))
        OperationQueue().addOperation(operation)
        async let outcome = clock.sleepers(2, orEndOf: operation)
        await clock.sleepers(1)
        operation.cancel()
        #expect(await outcome == .finished)
    }

    @Test func aWaitForSleepersOfAFinishedOperationReturnsAtOnce() async throws {
        let operation = operation(.status(200))
        OperationQueue().addOperation(operation)
        _ = try await operation.value
        #expect(await clock.sleepers(1, orEndOf: operation) == .finished)
    }

    @Test func aWaitForSleepersOfAnOperationEndsWhenItsTaskIsCancelled() async {
        let operation = operation(.status(200))
        let wait = Task { [clock] in await clock.sleepers(1, orEndOf: operation) }
        wait.cancel()
        #expect(await wait.value == .cancelled)
    }

    @Test func advancingBackwardsStopsTheProcess() async {
        await #expect(processExitsWith: .failure) { ManualClock().advance(by: .seconds(-1)) }
    }
}
