import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct URLRequestOperationTimeLimitTests {
    @Test func `A transfer that outlives its limit touches no later attempt`() async throws {
        let clock = ManualClock()
        let late = Door()
        let transport = ScriptedTransport([
            .dynamic { _ in
                await late.pass()
                return .status(302, fields: [("Location", "/late")])
            },
            .status(503), .body(Data("x".utf8)),
        ])
        var configuration = RequestConfiguration.over(transport)
        configuration.clock = clock
        configuration.attemptTimeLimit = .seconds(1)
        let failures = Collector<Void>()
        configuration.onEvent = { if case .attemptFailed = $0.step { failures.append(()) } }
        configuration.retryPolicy.backoff = .constant(.seconds(10))
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        for delay in [1, 10] {
            await clock.sleepers(1)
            clock.advance(by: .seconds(delay))
        }
        await failures.count(2)
        late.open()
        await clock.sleepers(1)
        clock.advance(by: .seconds(10))
        _ = try await operation.value
        #expect(operation.attempts.allSatisfy { $0.redirects.isEmpty })
        #expect(transport.requests.count == 3)
    }

    @Test func `The limits of an attempt and of an operation are kept to fractions of a second`() async throws {
        for limit in [\RequestConfiguration.attemptTimeLimit, \.deadline] {
            let clock = ManualClock()
            var configuration = RequestConfiguration.scripted([.stall])
            configuration.clock = clock
            configuration.retryPolicy = .none
            configuration[keyPath: limit] = .milliseconds(300)
            let operation = URLRequestOperation(anyRequest, configuration: configuration)
            let error = await #expect(throws: RequestError.self) { try await clock.run(operation) }
            #expect(error?.code == .timedOut && clock.now.offset == .milliseconds(300))
        }
    }

    @Test func `A deadline that passed in the queue fails without sending`() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.clock = clock
        configuration.deadline = .seconds(5)
        let queue = OperationQueue()
        queue.isSuspended = true
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        queue.addOperation(operation)
        clock.advance(by: .seconds(6))
        queue.isSuspended = false
        let error = try #require(await #expect(throws: RequestError.self) { try await operation.value })
        #expect(error.code == .timedOut && transport.requests.isEmpty)
    }

    @Test func `The deadline begins when the dependencies have finished`() async throws {
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted([.body(Data("x".utf8))])
        configuration.clock = clock
        configuration.deadline = .seconds(5)
        let finished = Work { 1 }
        _ = try await run(finished)
        let door = Door()
        let slow = Work { await door.pass() }
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        operation.addDependency(finished)
        operation.addDependency(slow)
        let queue = OperationQueue()
        queue.addOperation(operation)
        queue.addOperation(slow)
        clock.advance(by: .seconds(60))
        door.open()
        _ = try await operation.value
    }

    @Test func `Who reads the readiness of an operation in no queue starts the time of its deadline`() async {
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted([.body(Data("x".utf8))])
        configuration.clock = clock
        configuration.deadline = .seconds(5)
        let read = URLRequestOperation(anyRequest, configuration: configuration)
        let unread = URLRequestOperation(anyRequest, configuration: configuration)
        #expect(read.isReady)
        clock.advance(by: .seconds(5))
        #expect((await failure(of: read) as? RequestError)?.code == .timedOut)
        #expect(await failure(of: unread) == nil)
    }

    /// `nil` stands for the transfer.
    @Test(arguments: [UserStage.process, .makeTask, .validate, .decode, nil])
    func `A limited stage that ignores a cancel is told once`(stage: UserStage?) async throws {
        let told = Collector<RequestID>()
        let ended = Collector<RequestID>()
        let deaf = Deaf()
        var configuration = RequestConfiguration.over(deaf)
        if stage != nil { configuration.transport = ScriptedTransport([.body(Data("x".utf8))]) }
        if let stage { configuration.stageTimeLimits[stage] = .seconds(600) }
        configuration.attemptTimeLimit = stage == nil ? .seconds(600) : nil
        configuration.onEvent = { event in
            switch event.step {
            case .head where stage == nil: told.append(event.id)
            case .abandoned: told.append(event.id)
            case .ended: ended.append(event.id)
            default: break
            }
        }
        let operations = (0..<20).map { _ in Unresponsive(in: stage, configuration) }
        let queue = OperationQueue()
        for operation in operations { queue.addOperation(operation) }
        if stage == nil {
            await deaf.reached.count(20)
        } else {
            for operation in operations { await operation.reached.pass() }
        }
        for operation in operations { operation.cancel() }
        for operation in operations { await #expect(throws: CancellationError.self) { try await operation.value } }
        // Events can be told a little later than the value.
        await ended.count(20)
        let each = Dictionary(grouping: told.elements) { $0 }.mapValues(\.count)
        #expect(each.count == 20 && each.values.allSatisfy { $0 == (stage == nil ? 2 : 1) })
    }

    @Test func `An attempt longer than its limit fails and is retried`() async throws {
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted([.stall, .body(Data("x".utf8))])
        configuration.clock = clock
        configuration.attemptTimeLimit = .seconds(3)
        configuration.retryPolicy.backoff = .constant(.zero)
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        clock.advance(by: .seconds(3))
        _ = try await operation.value
        #expect((operation.attempts.first?.error as? RequestError)?.code == .timedOut)
    }

    @Test(arguments: UserStage.allCases)
    func `A stage that never answers fails at its limit`(_ stage: UserStage) async throws {
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted(
            stage == .retryDecision ? [.status(500)] : [.body(Data("x".utf8))])
        configuration.clock = clock
        configuration.stageTimeLimits = [stage: .seconds(2)]
        configuration.retryPolicy = .none
        let operation = Unresponsive(in: stage, configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        let error = try #require(await #expect(throws: RequestError.self) { try await operation.value })
        #expect(error.code == .timedOut && error.stage.rawValue == stage.rawValue)
    }

    @Test func `The deadline ends waits and all else`() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(503), .stall])
        var configuration = RequestConfiguration.over(transport)
        configuration.clock = clock
        configuration.deadline = .seconds(10)
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(4)))
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(2)
        clock.advance(by: .seconds(4))
        await transport.requests(atLeast: 2)
        clock.advance(by: .seconds(6))
        let error = try #require(await #expect(throws: RequestError.self) { try await operation.value })
        #expect(error.code == .timedOut && error.attempts.count == 2)
        #expect(!operation.isCancelled)
    }

    @Test func `A dependency that a request gets while it is held back restarts its deadline`() async throws {
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.clock = clock
        configuration.deadline = .seconds(5)
        let (first, second) = (Door(), Door())
        let queue = RequestQueue()
        queue.addOperation(Work { await first.pass() })
        queue.addBarrierBlock {}
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        #expect(operation.isReady)
        queue.addOperation(operation)
        let dependency = Work { await second.pass() }
        operation.addDependency(dependency)
        OperationQueue().addOperation(dependency)
        clock.advance(by: .seconds(10))
        first.open()
        second.open()
        _ = try await operation.value
    }

    @Test func `A retry that could only begin after the deadline is not waited for`() async throws {
        var configuration = RequestConfiguration.scripted([.status(503)])
        configuration.clock = ManualClock()
        configuration.deadline = .seconds(10)
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(10)))
        let error = await failure(of: URLRequestOperation(anyRequest, configuration: configuration)) as? RequestError
        #expect(error?.code == .unacceptableStatus)
    }
}

/// Never answers after the head, whatever happens.
private struct Deaf: Transport {
    /// Grows with each transfer that hears nothing any more.
    let reached = Collector<Void>()

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        // The request has a URL.
        try onHead(ResponseHead(status: 200, url: anyRequest.url!))
        reached.append(())
        return await withUnsafeContinuation { (_: UnsafeContinuation<TransportResponse, Never>) in }
    }
}
