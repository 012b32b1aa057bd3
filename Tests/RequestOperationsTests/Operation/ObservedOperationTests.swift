import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct ObservedOperationTests {
    // MARK: The end

    private final class Noting: AsynchronousOperation<Int>, @unchecked Sendable {
        let ends = Collector<Bool>()
        let body: @Sendable () async throws -> Int

        init(_ body: @escaping @Sendable () async throws -> Int) {
            self.body = body
        }

        override func run() async throws -> Int { try await body() }
        override func onEnd(_ result: Result<Int, any Error>) { ends.append((try? result.get()) == 7) }
    }

    @Test func `The end is noted once before anyone is told`() async throws {
        let operation = Noting { 7 }
        let told = Collector<Int>()
        operation.whenFinished { _ in told.append(operation.ends.count) }
        _ = try await run(operation)
        await told.count(1)
        #expect(operation.ends.elements == [true] && told.elements == [1])
    }

    private final class NotingRequest: URLRequestOperation<Data>, @unchecked Sendable {
        let ends = Collector<Void>()

        override func onEnd(_ result: Result<Data, any Error>) { ends.append(()) }
    }

    @Test func `The end of a request is noted before its listeners are told`() async throws {
        let told = Collector<Int>()
        let noting = Locked<NotingRequest?>(nil)
        var configuration = RequestConfiguration.over(ScriptedTransport([.body(Data())]))
        configuration.onEvent = { event in
            if case .ended = event.step { told.append(noting.withLock { $0?.ends.count } ?? 0) }
        }
        let request = NotingRequest(anyRequest, decoder: .data, configuration: configuration)
        noting.withLock { $0 = request }
        _ = try await run(request)
        await told.count(1)
        #expect(told.elements == [1])
    }

    @Test func `The end of a failed and of a cancelled operation is noted`() async throws {
        let failed = Noting { throw Problem() }
        _ = await failure(of: failed)
        let cancelled = Noting { 7 }
        cancelled.cancel()
        _ = await failure(of: cancelled)
        #expect(failed.ends.elements == [false] && cancelled.ends.elements == [false])
    }

    // MARK: Completions

    @Test func `Completions run one at a time by default`() async throws {
        let inside = Locked((now: 0, most: 0))
        let ended = Collector<Void>()
        for _ in 0..<100 {
            let operation = ClosureOperation { 7 }
            operation.whenFinished { _ in
                inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                inside.withLock { $0.now -= 1 }
                ended.append(())
            }
            OperationQueue().addOperation(operation)
        }
        await ended.count(100)
        #expect(inside.withLock { $0.most } == 1)
    }

    // MARK: States

    @Test func `A subscription to the finish is told of success and failure`() async throws {
        let told = Collector<Void>()
        for operation in [ClosureOperation { 7 }, ClosureOperation { throw Problem() }] {
            operation.subscribe(to: .finished) { told.append(()) }
            operation.subscribe(to: .cancelled) { Issue.record("It was not cancelled.") }
            _ = try? await run(operation)
        }
        await told.count(2)
    }

    @Test func `A subscription to the cancel is told of that alone`() async throws {
        let told = Collector<Void>()
        let operation = ClosureOperation { 7 }
        operation.subscribe(to: .finished) { Issue.record("It was cancelled.") }
        operation.subscribe(to: .cancelled) { told.append(()) }
        operation.cancel()
        _ = await failure(of: operation)
        await told.count(1)
    }

    @Test func `A subscription to a state that is reached is told at once`() async throws {
        let told = Collector<Void>()
        let operation = ClosureOperation { 7 }
        _ = try await run(operation)
        operation.subscribe(to: .finished) { told.append(()) }
        await told.count(1)
    }

    @Test func `A subscription to retries is told of each wait, and at once during one`() async throws {
        let transport = ScriptedTransport([.status(503), .status(503), .body(Data())])
        let clock = ManualClock()
        var configuration = RequestConfiguration.over(transport)
        configuration.clock = clock
        configuration.hosts = clock.hosts
        configuration.retryPolicy.backoff = .constant(.seconds(10), jitter: .none)
        configuration.retryPolicy.elapsedLimit = nil
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        let (early, late) = (Collector<Void>(), Collector<Void>())
        operation.subscribe(to: .retrying) { early.append(()) }
        OperationQueue().addOperation(operation)
        await early.count(1)
        operation.subscribe(to: .retrying) { late.append(()) }
        await late.count(1)
        operation.retryNow()
        await early.count(2)
        await late.count(2)
        operation.retryNow()
        _ = try await operation.value
        #expect(early.count == 2 && late.count == 2)
    }

    @Test func `A subscription to retries misses no wait that is over at once`() async throws {
        for _ in 0..<50 {
            var configuration = RequestConfiguration.scripted([.status(503), .status(503), .status(503), .body(Data())])
            configuration.retryPolicy.backoff = .constant(.zero, jitter: .none)
            configuration.hosts = HostRegistry()
            let operation = URLRequestOperation(anyRequest, configuration: configuration)
            let told = Collector<Void>()
            operation.subscribe(to: .retrying) { told.append(()) }
            OperationQueue().addOperation(operation)
            _ = try await operation.value
            await told.count(3)
        }
    }

    @Test func `A group and a batch can be subscribed to`() async throws {
        let told = Collector<Void>()
        let group = [ClosureOperation { 7 }].serialGroup()
        let batch = RequestBatch([ClosureOperation { 7 }])
        group.subscribe(to: .finished) { told.append(()) }
        batch.subscribe(to: .finished) { told.append(()) }
        batch.subscribe(to: .retrying) { Issue.record("A batch has no attempts.") }
        try await run(group)
        _ = try await run(batch)
        await told.count(2)
    }

    // MARK: Events

    @Test func `The events of an operation come in order and end`() async throws {
        let operation = URLRequestOperation(anyRequest, configuration: .scripted([.status(204)]))
        let events = operation.events
        OperationQueue().addOperation(operation)
        var names: [String] = []
        for await event in events { names.append(event.step.name) }
        #expect(names == ["began", "attemptBegan", "head", "ended"])
    }

    @Test func `Several streams get each event, beside the listener of the configuration`() async throws {
        let seen = Collector<String>()
        var configuration = RequestConfiguration.scripted([.status(204)])
        configuration.onEvent = { seen.append($0.step.name) }
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        let streams = [operation.events, operation.events]
        OperationQueue().addOperation(operation)
        for stream in streams {
            var names: [String] = []
            for await event in stream { names.append(event.step.name) }
            await configuration.deliverEvents()
            #expect(names == seen.elements)
        }
    }

    @Test(arguments: [true, false]) func `A stream after the end has only that`(hasListener: Bool) async throws {
        var configuration = RequestConfiguration.scripted([.status(404)])
        if hasListener { configuration.onEvent = { _ in } }
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        _ = await failure(of: operation)
        for _ in 0..<2 {
            var names: [String] = []
            for await event in operation.events { names.append(event.step.name) }
            #expect(names == ["ended"])
        }
    }

    @Test func `A slow reader misses old events and never the end`() async throws {
        var configuration = RequestConfiguration.scripted([.status(503)])
        configuration.retryPolicy = RetryPolicy(maximumRetries: 100, backoff: .constant(.zero, jitter: .none))
        configuration.retryPolicy.budget = nil
        configuration.hosts = HostRegistry()
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        let events = operation.events
        _ = await failure(of: operation)
        var names: [String] = []
        for await event in events { names.append(event.step.name) }
        #expect(names.count == 256 && names.last == "ended")
    }

    @Test func `A stream that is dropped does not cancel the operation`() async throws {
        let transport = ScriptedTransport([.status(204)])
        let operation = URLRequestOperation(anyRequest, configuration: .over(transport))
        var iterator = operation.events.makeAsyncIterator()
        OperationQueue().addOperation(operation)
        _ = await iterator.next()
        #expect(try await operation.value.isEmpty)
    }

    // MARK: Decisions about values

    private final class Picky: URLRequestOperation<Data>, @unchecked Sendable {
        let decide: @Sendable (Int) -> RetryDecision?

        init(_ answers: [ScriptedTransport.Answer], _ decide: @escaping @Sendable (Int) -> RetryDecision?) {
            self.decide = decide
            super.init(anyRequest, decoder: .data, configuration: .scripted(answers))
        }

        override func retryDecision(afterSuccess value: Data, attempt: Int) async -> RetryDecision? { decide(attempt) }
    }

    @Test func `A decision about a value may ask for another attempt`() async throws {
        let operation = Picky([.body(Data("1".utf8)), .body(Data("2".utf8))]) { $0 < 2 ? .retry(after: .zero) : nil }
        #expect(try await run(operation) == Data("2".utf8) && operation.attempts.count == 2)
    }

    @Test func `A decision about a value may fail the operation`() async throws {
        let error = await failure(of: Picky([.body(Data())]) { _ in .fail(Problem()) }) as? RequestError
        #expect(error?.underlying is Problem && error?.attempts.count == 1)
        #expect((await failure(of: Picky([.body(Data())]) { _ in .stop }) as? RequestError)?.code == .valueRejected)
    }
}
