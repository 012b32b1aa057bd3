import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.serialized, .timeLimit(.minutes(15))) struct CancellationTests {
    @Test(arguments: CancellationCell.all)
    func `A cancelled request ends once closes its connection and sends nothing afterwards`(_ cell: CancellationCell)
        async throws
    {
        var measured: [CancellationScene.Measured] = []
        // A crowd that is cancelled at one time would measure the crowd.
        let (rounds, width) = Stress.isFull ? (100, 10) : (1, 10)
        for _ in 0..<rounds {
            let scenes = try await concurrently(0..<width) { _ in try await CancellationScene(cell) }
            _ = try await concurrently(scenes) { try await $0.begin() }
            measured += try await concurrently(scenes) { try await $0.cancel() }
            _ = try await concurrently(scenes) { try await $0.conclude() }
        }
        try expectPrompt(measured.map(\.end), "The end, \(cell.testDescription)")
        if cell.wire != .scripted, cell.point.hasConnection {
            try expectPrompt(
                measured.compactMap(\.connection), "The connection, \(cell.testDescription)",
                isClosedByFoundation: cell.wire == .urlSession)
        }
    }

    /// Beside the rest of the suite an operation waits for the machine, not for its cancel: the bounds of 100 ms for 99 of a
    /// hundred and of one second for all hold where this runs alone. The time is that of the Task that cancels, from before
    /// it does so until it goes on with the result. That Task waits for a thread like any other, and under ThreadSanitizer,
    /// on two cores, one or two of a thousand wait for a few hundred milliseconds. Foundation, which may take 70 ms to close a
    /// connection as it is, takes twice as long there, and has no such bounds then.
    private func expectPrompt(_ durations: [Duration], _ name: String, isClosedByFoundation: Bool = false) throws {
        let latencies = Latencies(durations)
        let isBounded = Stress.isFull && !(isClosedByFoundation && Stress.isSanitized)
        let (most, all): (Duration, Duration) =
            isBounded ? (.milliseconds(100), .seconds(1)) : (.seconds(5), .seconds(5))
        #expect(latencies.percentile99 <= most, "\(name): \(latencies)")
        #expect(latencies.longest <= all, "\(name): \(latencies)")
        if Stress.isFull { print("\(name): \(latencies)") }
    }

    /// A request whose first two attempts fail has fifteen steps. At each another thread is told to cancel it, and meets
    /// whatever it does next; after the last there is nothing left to cancel.
    @Test(arguments: 1...15)
    func `A cancel that races with any step ends the request once`(step: Int) async throws {
        for _ in 0..<Stress.rounds(1000, shortened: 8) {
            let race = CancellationRace(at: step)
            let isFreed = await race.run()
            await isFreed.pass()
            await race.completions.drain()
            #expect(race.results.count == 1)
        }
    }
}

/// A request and a cancel that is made by another thread at one of its steps.
private struct CancellationRace {
    let completions = DispatchQueue(label: "CancellationRace")
    let results = Collector<Void>()
    private let step: Int

    init(at step: Int) {
        self.step = step
    }

    /// Returns when the operation has ended; what then opens says that nothing holds it any more.
    func run() async -> Door {
        var configuration = RequestConfiguration.over(
            ScriptedTransport([.status(503), .error(.connectionLost), .body(Data())]))
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.retryPolicy.budget = nil
        configuration.completionQueue = completions
        let steps = Collector<Void>()
        let isCancelTime = Door()
        configuration.onEvent = { [step] _ in
            if steps.count(appending: ()) == step { isCancelTime.open() }
        }
        let operation = Raced(
            URLRequest(url: URL(string: "http://example.invalid/")!), decoder: .data, configuration: configuration)
        operation.whenFinished { [results] _ in results.append(()) }
        async let cancelling: Void = {
            await isCancelTime.pass()
            operation.cancel()
        }()
        OperationQueue().addOperation(operation)
        do {
            _ = try await operation.value
            await cancelling
            #expect(!operation.isCancelled)
        } catch {
            await cancelling
            #expect(error is CancellationError && operation.isCancelled)
        }
        return operation.isFreed
    }
}

private final class Raced: URLRequestOperation<Data>, @unchecked Sendable {
    /// Opens when nothing holds the operation any more.
    let isFreed = Door()

    deinit {
        isFreed.open()
    }
}
