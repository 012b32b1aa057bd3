import RequestOperations
import RequestOperationsTesting
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(15))) struct InputOperationTests {
    private let steps = RecordedSteps()

    @Test func `An attempt that waits for its place was not begun`() async throws {
        let transport = ScriptedTransport([.stall])
        let queue = OperationQueue()
        let first = try operation(1, over: transport, limiter: limiter)
        queue.addOperation(first)
        await transport.requests(atLeast: 1)
        let second = try operation(2, over: transport, limiter: limiter)
        queue.addOperation(second)
        // Its attempt goes on to the line at the limiter, where it stays.
        await steps.attempts.count(2)
        // The one that waits first: the end of the other would give it the place.
        for operation in [second, first] {
            operation.cancel()
            await #expect(throws: CancellationError.self) { try await operation.value }
        }
        #expect([first, second].map(\.begunAttempts) == [1, 0])
    }

    @Test func `A redirect to another host is no attempt of its own`() async throws {
        let transport = ScriptedTransport([
            .status(302, fields: [("Location", "http://b.example/")]), .body(Data("there".utf8)),
        ])
        let operation = try operation(1, over: transport, limiter: limiter)
        OperationQueue().addOperation(operation)
        #expect(try await operation.value == 5)
        #expect(operation.begunAttempts == 1)
    }

    @Test func `The end is noted before anybody reads the result`() async throws {
        let reader = DispatchQueue(label: "a reader that is slow")
        reader.suspend()
        let operation = try operation(
            1, over: ScriptedTransport([.body(Data())]), limiter: limiter, completionQueue: reader)
        let reads = Collector<ContinuousClock.Instant?>()
        operation.whenFinished { [weak operation] _ in reads.append(operation?.end) }
        OperationQueue().addOperation(operation)
        await steps.ends.count(1)
        let end = ContinuousClock.now
        reader.resume()
        await reads.count(1)
        let noted = try #require(reads.elements.compactMap { $0 }.first)
        #expect(noted <= end)
    }

    private let limiter = RequestLimiter(total: 1)

    private func operation(
        _ id: Int, over transport: ScriptedTransport, limiter: RequestLimiter,
        completionQueue: DispatchQueue = .global()
    ) throws -> InputOperation {
        var configuration = RequestConfiguration()
        configuration.transport = transport
        configuration.limiter = limiter
        configuration.completionQueue = completionQueue
        return InputOperation(
            try RequestTemplate().request(fromURL: "http://a.example/", id: id), configuration: configuration,
            savingIn: nil, observer: steps)
    }
}

private final class RecordedSteps: InputOperation.Observer {
    let attempts = Collector<Int>()
    let ends = Collector<Int>()

    func beganWaiting(_ input: InputRequest) {}
    func beganRetry() {}

    func beganAttempt(_ input: InputRequest) {
        attempts.append(input.id)
    }

    func ended(_ input: InputRequest) {
        ends.append(input.id)
    }
}
