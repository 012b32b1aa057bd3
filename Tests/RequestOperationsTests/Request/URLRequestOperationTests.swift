import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct URLRequestOperationTests {
    // MARK: Stages

    @Test func `The stages run in their order`() async throws {
        let operation = Staged(.scripted([.body(Data("x".utf8))]))
        _ = try await run(operation)
        #expect(operation.calls.elements == ["process", "makeTask", "validate 200", "validate 1 bytes", "decode 1"])
    }

    @Test func `After a failed attempt the decision is asked and all stages run again`() async throws {
        let operation = Staged(.scripted([.status(503), .body(Data("x".utf8))]))
        operation.decisions = { _ in .retry(after: .zero) }
        _ = try await run(operation)
        #expect(
            operation.calls.elements == [
                "process", "makeTask", "validate 503", "decide 1", "process", "makeTask", "validate 200",
                "validate 1 bytes", "decode 1",
            ])
    }

    @Test func `Every attempt is processed from the original request`() async throws {
        let transport = ScriptedTransport([.status(503), .status(503), .body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.adapters = [.edit { $0.addValue("once", forHTTPHeaderField: "X-Added") }]
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "X-Added") } == ["once", "once", "once"])
    }

    @Test func `A token is fresh at every attempt`() async throws {
        let transport = ScriptedTransport([.status(503), .body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.retryPolicy.backoff = .constant(.zero)
        let tokens = Locked(0)
        configuration.adapters = [
            .bearerToken {
                tokens.withLock { token in
                    token += 1
                    return "t\(token)"
                }
            }
        ]
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "Authorization") } == ["Bearer t1", "Bearer t2"])
    }

    @Test func `Adapters run in their order`() async throws {
        let transport = ScriptedTransport([.body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.adapters = ["a", "b", "c"].map { letter in
            .edit { $0.setValue(($0.value(forHTTPHeaderField: "X") ?? "") + letter, forHTTPHeaderField: "X") }
        }
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
        #expect(transport.requests.first?.value(forHTTPHeaderField: "X") == "abc")
    }

    @Test func `A dependent operation takes its input in process`() async throws {
        let transport = ScriptedTransport([.body(Data("42".utf8)), .body(Data())])
        let first = URLRequestOperation(anyRequest, decoder: .string, configuration: .over(transport))
        let second = Dependent(first, configuration: .over(transport))
        second.addDependency(first)
        let queue = OperationQueue()
        queue.addOperation(second)
        queue.addOperation(first)
        _ = try await second.value
        #expect(transport.requests.last?.url?.lastPathComponent == "42")
    }

    @Test func `A custom task is carried out by its closure`() async throws {
        final class Custom: URLRequestOperation<Data>, @unchecked Sendable {
            override func makeTask(for request: URLRequest) async throws -> TransportTask {
                .custom(request) { task, transport, onHead in
                    var changed = task
                    changed.request.setValue("custom", forHTTPHeaderField: "X-Sent-By")
                    return try await transport.perform(changed, onHead: onHead)
                }
            }
        }
        let transport = ScriptedTransport([.body(Data("x".utf8))])
        _ = try await run(Custom(anyRequest, decoder: .data, configuration: .over(transport)))
        #expect(transport.requests.first?.value(forHTTPHeaderField: "X-Sent-By") == "custom")
    }

    // MARK: Queues of stages

    @Test(arguments: UserStage.allCases)
    func `A stage runs on its queue overridden or not`(_ stage: UserStage) async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        var configuration = RequestConfiguration.scripted([.status(503), .body(Data("x".utf8))])
        configuration.setQueue(queue, for: stage)
        let operation = Staged(configuration)
        operation.decisions = { _ in .retry(after: .zero) }
        _ = try await run(operation)
        #expect(operation.queues.withLock { $0.first { $0.key.rawValue == stage.rawValue } }?.value === queue)
    }

    @Test func `The decision about a value runs on the queue of the decision`() async throws {
        let queue = OperationQueue()
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.setQueue(queue, for: .retryDecision)
        let operation = Judging(configuration) { OperationQueue.current === queue ? nil : .stop }
        _ = try await run(operation)
    }

    @Test func `The decision about a value has the time limit of the decision`() async throws {
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.clock = clock
        configuration.stageTimeLimits[.retryDecision] = .seconds(2)
        let operation = Judging(configuration) {
            await blockedUntilCancelled()
            return nil
        }
        let error = await #expect(throws: RequestError.self) { try await clock.run(operation) }
        #expect(error?.code == .timedOut && error?.stage == .retryDecision && operation.attempts.count == 1)
    }

    /// Decides about its value.
    private final class Judging: URLRequestOperation<Data>, @unchecked Sendable {
        private let decide: @Sendable () async -> RetryDecision?

        init(_ configuration: RequestConfiguration, _ decide: @escaping @Sendable () async -> RetryDecision?) {
            self.decide = decide
            super.init(anyRequest, decoder: .data, configuration: configuration)
        }

        override func retryDecision(afterSuccess value: Data, attempt: Int) async -> RetryDecision? { await decide() }
    }

    @Test func `A queue that drops the work ends the operation as cancelled`() async throws {
        final class Dropping: OperationQueue, @unchecked Sendable {
            override func addOperation(_ operation: Operation) {}
        }
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.setQueue(Dropping(), for: .process)
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        await #expect(throws: CancellationError.self) { try await run(operation) }
        #expect(operation.isCancelled)
    }

    @Test func `The operations own queue of width one can run its stages`() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        var configuration = RequestConfiguration.scripted([.body(Data("x".utf8))])
        configuration.setQueue(queue, for: .process)
        configuration.adapters = [RequestAdapter { $0 }.on(queue)]
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        queue.addOperation(operation)
        _ = try await operation.value
    }

    @Test func `The operations own queue of width one can run what its transport runs on it`() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        var configuration = RequestConfiguration.default
        configuration.transport = QueueTransport(queue: queue)
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        queue.addOperation(operation)
        _ = try await operation.value
    }

    @Test func `An operation made in another one has no place in the queue of that`() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let seen = Locked<OperationQueue?>(nil)
        let outer = Work {
            var configuration = RequestConfiguration.scripted([.body(Data("x".utf8))])
            configuration.adapters = [.edit { _ in seen.withLock { $0 = .current } }.on(queue)]
            return URLRequestOperation(anyRequest, configuration: configuration)
        }
        queue.addOperation(outer)
        let inner = try await outer.value
        inner.start()
        _ = try await inner.value
        #expect(seen.withLock { $0 } === queue)
    }

    // MARK: Events

    @Test func `Events tell every step in order`() async throws {
        let events = Collector<String>()
        var configuration = RequestConfiguration.scripted([
            .status(302, fields: [("Location", "/next")]), .status(503), .body(Data("x".utf8)),
        ])
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.limiter = RequestLimiter(total: 1)
        configuration.onEvent = { events.append($0.step.name) }
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
        await events.count(15)
        #expect(
            events.elements == [
                "began", "attemptBegan", "waitsForSlot", "gotSlot", "redirected", "head", "attemptFailed", "decided",
                "waits", "woke", "attemptBegan", "waitsForSlot", "gotSlot", "head", "ended",
            ])
    }

    @Test func `A request that is processed again tells of both its waits for a slot`() async throws {
        let events = Collector<String>()
        var configuration = RequestConfiguration.scripted([.body(Data("x".utf8))])
        configuration.limiter = RequestLimiter(total: 1)
        configuration.freshness = .zero
        configuration.onEvent = { events.append($0.step.name) }
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
        await events.count(8)
        #expect(
            events.elements == [
                "began", "attemptBegan", "waitsForSlot", "gotSlot", "waitsForSlot", "gotSlot", "head", "ended",
            ])
    }

    @Test func `The identity is the same for all attempts and for no other request`() async throws {
        let ids = Collector<RequestID>()
        var configuration = RequestConfiguration.scripted([.status(503), .body(Data())])
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.onEvent = { ids.append($0.id) }
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        _ = try await run(operation)
        await configuration.deliverEvents()
        #expect(Set(ids.elements) == [operation.id])
        #expect(URLRequestOperation(anyRequest).id != operation.id)
    }

    // MARK: Task-local values

    @Test func `Task local values of the init hold in every stage`() async throws {
        let operation = Place.$name.withValue("init") { Staged(.scripted([.status(500), .body(Data("x".utf8))])) }
        operation.decisions = { _ in .retry(after: .zero) }
        _ = try await run(operation)
        #expect(Set(operation.places.elements) == ["init"])
    }
}

/// Takes its path from an operation that it depends on.
private final class Dependent: URLRequestOperation<Data>, @unchecked Sendable {
    private let first: URLRequestOperation<String>

    init(_ first: URLRequestOperation<String>, configuration: RequestConfiguration) {
        self.first = first
        super.init(anyRequest, decoder: .data, configuration: configuration)
    }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        var request = try await super.process(request)
        if case .success(let name) = first.result { request.url?.appendPathComponent(name) }
        return request
    }
}

/// Adapts requests on a queue before it answers them.
private struct QueueTransport: Transport {
    let queue: OperationQueue
    let answers = ScriptedTransport([.body(Data("x".utf8))])

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        var adapted = task
        adapted.request = try await RequestAdapter { $0 }.on(queue).adapt(task.request)
        return try await answers.perform(adapted, onHead: onHead)
    }
}
