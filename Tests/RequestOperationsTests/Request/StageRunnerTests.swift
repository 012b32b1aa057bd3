import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct StageRunnerTests {
    private let clock = ManualClock()
    private let abandoned = Collector<RequestError.Stage>()

    private var runner: StageRunner {
        StageRunner(clock: RequestClock(clock)) { [abandoned] in abandoned.append($0) }
    }

    // MARK: Without a limit

    @Test func `Without queue and limit the stage runs on the task of the caller`() async throws {
        let value = try await Place.$name.withValue("here") {
            try await runner.run(.process, limit: nil) { Place.name }
        }
        #expect(value == "here")
    }

    @Test func `The error of a stage comes out as it is`() async {
        await #expect(throws: Problem.self) { try await runner.run(.process, limit: nil) { throw Problem() } }
        await #expect(throws: Problem.self) { try await runner.run(.process, limit: .seconds(1)) { throw Problem() } }
    }

    @Test(arguments: [nil, Duration.seconds(1)])
    func `A stage with a queue runs on it`(limit: Duration?) async throws {
        let queue = OperationQueue()
        let current = try await runner.run(.process, on: queue, limit: limit) { OperationQueue.current }
        #expect(current === queue)
    }

    // MARK: With a limit

    @Test func `A stage that answers in time leaves no sleeper`() async throws {
        #expect(try await runner.run(.decode, limit: .seconds(1)) { 7 } == 7)
        // Whoever sleeps next is alone.
        let sleeper = Task { try await clock.sleep(for: .seconds(5)) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        try await sleeper.value
        #expect(clock.sleeperCount == 0)
    }

    @Test func `The task local values of the caller hold in a limited stage`() async throws {
        let value = try await Place.$name.withValue("here") {
            try await runner.run(.process, limit: .seconds(1)) { Place.name }
        }
        #expect(value == "here")
    }

    @Test func `A stage that takes longer than its limit fails as timed out of that stage`() async {
        let limited = Task { [runner] in
            try await runner.run(.makeTask, limit: .seconds(2)) { try await ManualClock().sleep(for: .seconds(1)) }
        }
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        let error = await #expect(throws: RequestError.self) { try await limited.value }
        #expect(error?.code == .timedOut && error?.stage == .makeTask)
    }

    @Test func `What a transfer knows outlives the limit that stops it`() async {
        var runner = runner
        runner.grace = .seconds(60)
        let limited = Task { [runner] in
            try await runner.run(.transfer, limit: .seconds(2)) {
                do { try await ManualClock().sleep(for: .seconds(1)) } catch {
                    throw TransferFailure(error, bodySize: 7, phase: .connect)
                }
            }
        }
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        let failure = await #expect(throws: TransferFailure.self) { try await limited.value }
        #expect((failure?.error as? RequestError)?.code == .timedOut)
        #expect(failure?.requestMayHaveBeenProcessed == false && failure?.bodySize == 7)
    }

    @Test func `A stage that never answers is abandoned at its limit`() async {
        let limited = Task { [runner] in
            try await runner.run(.decode, limit: .seconds(2)) {
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
        }
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        let error = await #expect(throws: RequestError.self) { try await limited.value }
        #expect(error?.code == .timedOut)
        #expect(abandoned.elements == [.decode])
    }

    @Test func `A cancelled stage that ignores it is abandoned and its answer dropped`() async {
        let begun = Door()
        let mayAnswer = Door()
        let answered = Door()
        let limited = Task { [runner] in
            try await runner.run(.process, limit: .seconds(2)) {
                begun.open()
                await mayAnswer.pass()
                answered.open()
                return 7
            }
        }
        await begun.pass()
        limited.cancel()
        await #expect(throws: CancellationError.self) { try await limited.value }
        #expect(abandoned.elements == [.process])
        mayAnswer.open()
        await answered.pass()
    }

    @Test func `A stage that answers a cancel with a value is cancelled all the same`() async {
        let begun = Door()
        let limited = Task { [runner] in
            try await runner.run(.process, limit: .seconds(2)) {
                begun.open()
                try? await ManualClock().sleep(for: .seconds(1))
                return 7
            }
        }
        await begun.pass()
        limited.cancel()
        await #expect(throws: CancellationError.self) { try await limited.value }
    }
}
