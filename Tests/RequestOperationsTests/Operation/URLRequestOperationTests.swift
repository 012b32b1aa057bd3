import RequestOperations
import RequestOperationsTesting
import Testing

@Suite struct URLRequestOperationTests {
    // MARK: Stages

    @Test func theStagesRunInTheirOrder() async throws {
        let operation = Staged(.scripted([.body(Data("x".utf8))]))
        _ = try await run(operation)
        #expect(operation.calls.elements == ["process", "makeTask", "validate 200", "decode 1"])
    }

    @Test func afterAFailedAttemptTheDecisionIsAskedAndAllStagesRunAgain() async throws {
        let operation = Staged(.scripted([.status(503), .body(Data("x".utf8))]))
        operation.decisions = { _ in .retry(after: .zero) }
        _ = try await run(operation)
        #expect(
            operation.calls.elements == [
                "process", "makeTask", "validate 503", "decide 1", "process", "makeTask", "validate 200", "decode 1",
            ])
    }

    @Test func everyAttemptIsProcessedFromTheOriginalRequest() async throws {
        let transport = ScriptedTransport([.status(503), .status(503), .body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.adapters = [.edit { $0.addValue("once", forHTTPHeaderField: "X-Added") }]
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "X-Added") } == ["once", "once", "once"])
    }

    @Test func aTokenIsFreshAtEveryAttempt() async throws {
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

    @Test func adaptersRunInTheirOrder() async throws {
        let transport = ScriptedTransport([.body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.adapters = ["a", "b", "c"].map { letter in
            .edit { $0.setValue(($0.value(forHTTPHeaderField: "X") ?? "") + letter, forHTTPHeaderField: "X") }
        }
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
        #expect(transport.requests.first?.value(forHTTPHeaderField: "X") == "abc")
    }

    @Test func aDependentOperationTakesItsInputInProcess() async throws {
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

    @Test func aCustomTaskIsCarriedOutByItsClosure() async throws {
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

    // MARK: Errors

    @Test func anErrorOfAStageIsWrappedOnceAndKept() async throws {
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.adapters = [RequestAdapter { _ in throw Problem() }]
        let error = try #require(
            await failure(of: URLRequestOperation(anyRequest, configuration: configuration)) as? RequestError)
        #expect(error.code == .stageFailed && error.stage == .process)
        #expect(error.underlying is Problem)
        #expect(error.attempts.count == 1)
    }

    @Test func anAdapterThatThrowsIsNotRetriedUnlessThePolicyListsItsError() async throws {
        let calls = Locked(0)
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.adapters = [
            RequestAdapter { _ in
                calls.withLock { $0 += 1 }
                throw Problem()
            }
        ]
        configuration.retryPolicy.backoff = .constant(.zero)
        _ = await failure(of: URLRequestOperation(anyRequest, configuration: configuration))
        #expect(calls.withLock { $0 } == 1)
        configuration.retryPolicy.isTransient = { $0 is Problem }
        _ = await failure(of: URLRequestOperation(anyRequest, configuration: configuration))
        #expect(calls.withLock { $0 } == 5)
    }

    @Test func aRequestErrorOutOfAStageKeepsItsCode() async throws {
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.adapters = [RequestAdapter { _ in throw RequestError(.init("noToken"), stage: .process) }]
        let error = await failure(of: URLRequestOperation(anyRequest, configuration: configuration)) as? RequestError
        #expect(error?.code == .init("noToken"))
    }

    @Test func aRejectedStatusKeepsHeadAndBodyPrefix() async throws {
        let body = Data(repeating: 7, count: 10_000)
        let configuration = RequestConfiguration.scripted([.status(404, fields: [("X-Why", "gone")], body: body)])
        let error = try #require(
            await failure(of: URLRequestOperation(anyRequest, configuration: configuration)) as? RequestError)
        #expect(error.code == .unacceptableStatus)
        #expect(error.head?.status == 404 && error.head?.field("x-why") == "gone")
        #expect(error.bodyPrefix == body.prefix(4096))
    }

    @Test func aFailedDecodingKeepsStatusHeadAndBodyPrefix() async throws {
        let body = Data("<html>".utf8) + Data(repeating: 0x20, count: 5000)
        let configuration = RequestConfiguration.scripted([.status(201, fields: [("X-A", "1")], body: body)])
        let operation = URLRequestOperation(anyRequest, decoder: .json([String].self), configuration: configuration)
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .undecodable && error.stage == .decode)
        #expect(error.head?.status == 201 && error.head?.field("X-A") == "1")
        #expect(error.bodyPrefix == body.prefix(4096))
        #expect(error.underlying is DecodingError)
    }

    @Test func aFailedTransferKeepsItsHead() async throws {
        let head = ResponseHead(status: 200, url: anyRequest.url!, fields: [("X-A", "1")])
        var configuration = RequestConfiguration.scripted([
            .failure(TransferFailure(RequestError(.truncatedBody, stage: .transfer), head: head, phase: .body))
        ])
        configuration.retryPolicy = .none
        let error = await failure(of: URLRequestOperation(anyRequest, configuration: configuration)) as? RequestError
        #expect(error?.code == .truncatedBody && error?.head?.field("X-A") == "1")
    }

    @Test func theErrorTellsEveryAttempt() async throws {
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted([.status(503), .error(.connectionLost), .status(500)])
        configuration.clock = clock
        configuration.retryPolicy = RetryPolicy(maximumRetries: 2, backoff: .constant(.seconds(5)))
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        for _ in 1...2 {
            await clock.sleepers(1)
            clock.advance(by: .seconds(5))
        }
        let error = try #require(await #expect(throws: RequestError.self) { try await operation.value })
        #expect(error.attempts.map(\.number) == [1, 2, 3])
        #expect(error.attempts.map(\.began) == [.zero, .seconds(5), .seconds(10)])
        #expect(error.attempts.map(\.waited) == [.zero, .seconds(5), .seconds(5)])
        #expect(error.attempts.map(\.wokenBy) == [nil, .backoff, .backoff])
        #expect(error.attempts.map(\.status) == [503, nil, 500])
        #expect(error.attempts.allSatisfy { $0.error is RequestError && $0.ended != nil })
        #expect(operation.attempts.count == 3)
    }

    @Test func theDescriptionNamesNoQueryFieldOrBody() async throws {
        let configuration = RequestConfiguration.scripted([
            .status(404, fields: [("X-Token", "hush")], body: Data("hush".utf8))
        ])
        let error = try #require(await failure(of: URLRequestOperation(anyRequest, configuration: configuration)))
        #expect(!"\(error)".contains("hush") && !"\(error)".contains("secret"))
        #expect(!"\(error)".contains("\n"))
    }

    // MARK: Decisions

    @Test func aPostThatMayHaveBeenProcessedIsNotSentAgain() async throws {
        var request = anyRequest
        request.httpMethod = "POST"
        let transport = ScriptedTransport([.error(.connectionLost), .body(Data())])
        _ = await failure(of: URLRequestOperation(request, configuration: .over(transport)))
        #expect(transport.requests.count == 1)
    }

    @Test func aPostThatSurelyWasNotSentIsSentAgain() async throws {
        var request = anyRequest
        request.httpMethod = "POST"
        let transport = ScriptedTransport([.error(.cannotConnect), .body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.retryPolicy.backoff = .constant(.zero)
        _ = try await run(URLRequestOperation(request, configuration: configuration))
        #expect(transport.requests.count == 2)
    }

    @Test func aBodyStreamThatCannotBeReopenedIsNotRetriedAndSaysSo() async throws {
        var request = anyRequest
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        let error = await failure(of: URLRequestOperation(request, configuration: .scripted([.status(503)])))
        #expect((error as? RequestError)?.code == .bodyNotReplayable)
        #expect(((error as? RequestError)?.underlying as? RequestError)?.code == .unacceptableStatus)
    }

    @Test func aDecisionCanReplaceTheError() async throws {
        let operation = Staged(.scripted([.status(404)]))
        operation.decisions = { _ in .fail(RequestError(.init("mine"), stage: .validate)) }
        let error = await failure(of: operation) as? RequestError
        #expect(error?.code == .init("mine") && error?.attempts.count == 1)
    }

    @Test func aDecisionCanReplaceTheRequest() async throws {
        let transport = ScriptedTransport([.status(401), .body(Data())])
        let operation = Staged(.over(transport))
        operation.decisions = { failure in
            var request = failure.request
            request.url = URL(string: "http://other.invalid/")
            return .retry(after: .zero, with: request)
        }
        _ = try await run(operation)
        #expect(transport.requests.last?.url?.host == "other.invalid")
        #expect(operation.request.url?.host == "other.invalid")
    }

    @Test func aDecisionCanRestartTheBackoff() async throws {
        let steps = Collector<Int>()
        let operation = Staged(.scripted([.status(500), .status(500), .status(500), .body(Data("x".utf8))]))
        operation.decisions = { failure in
            steps.append(failure.backoffStep)
            return .retry(after: .zero, restartingBackoff: failure.attempt == 2)
        }
        _ = try await run(operation)
        #expect(steps.elements == [1, 2, 1])
    }

    @Test func theDecisionSeesWhatFailed() async throws {
        let failures = Collector<AttemptFailure>()
        let operation = Staged(.scripted([.status(429, fields: [("Retry-After", "7")]), .body(Data("x".utf8))]))
        operation.decisions = { failure in
            failures.append(failure)
            return .retry(after: .zero)
        }
        _ = try await run(operation)
        let failure = try #require(failures.elements.first)
        #expect(failure.code == .unacceptableStatus && failure.stage == .validate && failure.attempt == 1)
        #expect(failure.head?.status == 429 && failure.requestMayHaveBeenProcessed && failure.request == anyRequest)
        #expect(failure.retryAfter == .seconds(7))
    }

    @Test func retryNowEndsTheWait() async throws {
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted([.status(503), .body(Data("x".utf8))])
        configuration.clock = clock
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        operation.retryNow()
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        operation.retryNow()
        _ = try await operation.value
        #expect(operation.attempts.last?.wokenBy == .retryNow)
    }

    @Test func anEarlyRetryObserverEndsTheWait() async throws {
        struct Immediate: EarlyRetryObserver {
            func wait(after failure: AttemptFailure) async throws {}
        }
        var configuration = RequestConfiguration.scripted([.status(503), .body(Data())])
        configuration.clock = ManualClock()
        configuration.retryPolicy.earlyRetryObservers = [Immediate()]
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        _ = try await run(operation)
        #expect(operation.attempts.last?.wokenBy == .observer("Immediate"))
    }

    @Test func anObserverThatThrowsLeavesTheRace() async throws {
        struct Broken: EarlyRetryObserver {
            func wait(after failure: AttemptFailure) async throws { throw Problem() }
        }
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted([.status(503), .body(Data())])
        configuration.clock = clock
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(9)))
        configuration.retryPolicy.earlyRetryObservers = [Broken()]
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        clock.advance(by: .seconds(9))
        _ = try await operation.value
        #expect(operation.attempts.last?.wokenBy == .backoff)
    }

    @Test func retryAfterTakesThePlaceOfTheBackoff() async throws {
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted([
            .status(503, fields: [("Retry-After", "120")]), .body(Data()),
        ])
        configuration.clock = clock
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        clock.advance(by: .seconds(119))
        #expect(operation.attempts.count == 1)
        clock.advance(by: .seconds(1))
        _ = try await operation.value
        #expect(operation.attempts.last?.waited == .seconds(120))
    }

    // MARK: Redirects

    @Test func aRedirectIsFollowedAndOnlyTheLastHeadIsValidated() async throws {
        let transport = ScriptedTransport([
            .status(302, fields: [("Location", "/next?a=1")]), .body(Data("x".utf8)),
        ])
        let operation = Staged(.over(transport))
        _ = try await run(operation)
        #expect(
            transport.requests.map { $0.url?.absoluteString } == [
                "http://example.invalid/path?secret=1", "http://example.invalid/next?a=1",
            ])
        #expect(operation.calls.elements == ["process", "makeTask", "validate 200", "decode 1"])
        #expect(operation.attempts.first?.redirects.map(\.absoluteString) == ["http://example.invalid/next?a=1"])
    }

    @Test func aPostThatWasRedirectedIsNotSentAgainWhenTheNextHopFails() async throws {
        var request = anyRequest
        request.httpMethod = "POST"
        let transport = ScriptedTransport([.status(303, fields: [("Location", "/next")]), .error(.cannotConnect)])
        let error = await failure(of: URLRequestOperation(request, configuration: .over(transport))) as? RequestError
        #expect(error?.code == .cannotConnect)
        #expect(transport.requests.map(\.httpMethod) == ["POST", "GET"])
    }

    @Test func aTransferThatOutlivesItsLimitTouchesNoLaterAttempt() async throws {
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
        configuration.retryPolicy.backoff = .constant(.seconds(10))
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        for delay in [1, 10] {
            await clock.sleepers(1)
            clock.advance(by: .seconds(delay))
        }
        await eventually { operation.attempts.count == 2 && operation.attempts[1].ended != nil }
        late.open()
        await clock.sleepers(1)
        clock.advance(by: .seconds(10))
        _ = try await operation.value
        #expect(operation.attempts.allSatisfy { $0.redirects.isEmpty })
        #expect(transport.requests.count == 3)
    }

    @Test func aDeadlineThatPassedInTheQueueFailsWithoutSending() async throws {
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

    @Test func theDeadlineBeginsWhenTheDependenciesHaveFinished() async throws {
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

    @Test func credentialsAreNotSentToAnotherOrigin() async throws {
        let transport = ScriptedTransport([
            .status(307, fields: [("Location", "http://other.invalid/")]), .body(Data()),
        ])
        var request = anyRequest
        for field in ["Authorization", "Cookie", "Proxy-Authorization", "X-Kept"] {
            request.setValue("secret", forHTTPHeaderField: field)
        }
        _ = try await run(URLRequestOperation(request, configuration: .over(transport)))
        #expect(transport.requests.last?.allHTTPHeaderFields == ["X-Kept": "secret"])
    }

    @Test func aPolicyWithoutRedirectsTakesThemAsResponses() async throws {
        var configuration = RequestConfiguration.scripted([.status(302, fields: [("Location", "/next")])])
        configuration.redirects = .none
        let error = await failure(of: URLRequestOperation(anyRequest, configuration: configuration)) as? RequestError
        #expect(error?.code == .unacceptableStatus && error?.head?.status == 302)
    }

    // MARK: Limits

    @Test func aRequestInBackoffHoldsNoSlot() async throws {
        let clock = ManualClock()
        let limiter = RequestLimiter(total: 1)
        var waiting = RequestConfiguration.scripted([.status(503), .body(Data())])
        waiting.clock = clock
        waiting.limiter = limiter
        let first = URLRequestOperation(anyRequest, configuration: waiting)
        OperationQueue().addOperation(first)
        await clock.sleepers(1)
        #expect(limiter.inFlightCount == 0)
        var others = RequestConfiguration.scripted([.body(Data())])
        others.limiter = limiter
        for _ in 1...20 { _ = try await run(URLRequestOperation(anyRequest, configuration: others)) }
        clock.advance(by: .seconds(60))
        _ = try await first.value
    }

    @Test func theDecoderHoldsNoSlot() async throws {
        let limiter = RequestLimiter(total: 1)
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.limiter = limiter
        let count = try await run(
            URLRequestOperation(
                anyRequest, decoder: ResponseDecoder { _ in limiter.inFlightCount }, configuration: configuration))
        #expect(count == 0)
    }

    @Test func aRedirectToAnotherHostNeverHoldsTwoSlots() async throws {
        let limiter = RequestLimiter(total: 1)
        var configuration = RequestConfiguration.scripted([
            .status(302, fields: [("Location", "http://other.invalid/")]), .body(Data("x".utf8)),
        ])
        configuration.limiter = limiter
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
        #expect(limiter.inFlightCount == 0)
    }

    @Test func aRequestThatWaitedTooLongForItsSlotIsProcessedAgain() async throws {
        let clock = ManualClock()
        let limiter = RequestLimiter(total: 1)
        let answer = Door()
        var slow = RequestConfiguration.scripted([
            .dynamic { _ in
                await answer.pass()
                return .body(Data())
            }
        ])
        slow.limiter = limiter
        let first = URLRequestOperation(anyRequest, configuration: slow)
        OperationQueue().addOperation(first)
        await eventually { limiter.inFlightCount == 1 }

        let transport = ScriptedTransport([.body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.limiter = limiter
        configuration.clock = clock
        let tokens = Locked(0)
        configuration.adapters = [
            .bearerToken {
                tokens.withLock { token in
                    token += 1
                    return "\(token)"
                }
            }
        ]
        let second = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(second)
        await eventually { limiter.waitingCount == 1 }
        clock.advance(by: .seconds(31))
        answer.open()
        _ = try await second.value
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "Authorization") } == ["Bearer 2"])
    }

    @Test func anAttemptLongerThanItsLimitFailsAndIsRetried() async throws {
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

    @Test(arguments: [RequestError.Stage.process, .makeTask, .decode, .retryDecision])
    func aStageThatNeverAnswersFailsAtItsLimit(_ stage: RequestError.Stage) async throws {
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted(
            stage == .retryDecision ? [.status(500)] : [.body(Data("x".utf8))])
        configuration.clock = clock
        configuration.stageTimeLimits = [stage: .seconds(2)]
        configuration.retryPolicy = .none
        let operation = Unresponsive(stage, configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        let error = try #require(await #expect(throws: RequestError.self) { try await operation.value })
        #expect(error.code == .timedOut && error.stage == stage)
    }

    @Test func theDeadlineEndsWaitsAndAllElse() async throws {
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted([.status(503), .stall])
        configuration.clock = clock
        configuration.deadline = .seconds(10)
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(4)))
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(2)
        clock.advance(by: .seconds(4))
        await eventually { operation.attempts.count == 2 }
        clock.advance(by: .seconds(6))
        let error = try #require(await #expect(throws: RequestError.self) { try await operation.value })
        #expect(error.code == .timedOut && error.attempts.count == 2)
        #expect(!operation.isCancelled)
    }

    @Test func aRetryThatCouldOnlyBeginAfterTheDeadlineIsNotWaitedFor() async throws {
        var configuration = RequestConfiguration.scripted([.status(503)])
        configuration.clock = ManualClock()
        configuration.deadline = .seconds(10)
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(10)))
        let error = await failure(of: URLRequestOperation(anyRequest, configuration: configuration)) as? RequestError
        #expect(error?.code == .unacceptableStatus)
    }

    // MARK: Queues of stages

    @Test(arguments: [RequestError.Stage.process, .retryDecision])
    func aStageRunsOnItsQueueOverriddenOrNot(_ stage: RequestError.Stage) async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        var configuration = RequestConfiguration.scripted([.status(503), .body(Data("x".utf8))])
        configuration.setQueue(queue, for: stage)
        let operation = Staged(configuration)
        operation.decisions = { _ in .retry(after: .zero) }
        _ = try await run(operation)
        #expect(operation.queues.withLock { $0[stage] } === queue)
    }

    @Test func aQueueThatDropsTheWorkEndsTheOperationAsCancelled() async throws {
        final class Dropping: OperationQueue, @unchecked Sendable {
            override func addOperation(_ operation: Operation) {}
        }
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.setQueue(Dropping(), for: .process)
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        await #expect(throws: CancellationError.self) { try await run(operation) }
        #expect(operation.isCancelled)
    }

    @Test func theOperationsOwnQueueOfWidthOneCanRunItsStages() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        var configuration = RequestConfiguration.scripted([.body(Data("x".utf8))])
        configuration.setQueue(queue, for: .process)
        configuration.adapters = [RequestAdapter { $0 }.on(queue)]
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        queue.addOperation(operation)
        _ = try await operation.value
    }

    // MARK: Events

    @Test func eventsTellEveryStepInOrder() async throws {
        let events = Collector<String>()
        var configuration = RequestConfiguration.scripted([
            .status(302, fields: [("Location", "/next")]), .status(503), .body(Data("x".utf8)),
        ])
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.limiter = RequestLimiter(total: 1)
        configuration.onEvent = { events.append(String("\($0.step)".prefix { $0 != "(" })) }
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
        #expect(
            events.elements == [
                "began", "attemptBegan", "waitsForSlot", "gotSlot", "redirected", "head", "attemptFailed", "decided",
                "waits", "woke", "attemptBegan", "waitsForSlot", "gotSlot", "head", "ended",
            ])
    }

    @Test func theIdentityIsTheSameForAllAttemptsAndForNoOtherRequest() async throws {
        let ids = Collector<RequestID>()
        var configuration = RequestConfiguration.scripted([.status(503), .body(Data())])
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.onEvent = { ids.append($0.id) }
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        _ = try await run(operation)
        #expect(Set(ids.elements) == [operation.id])
        #expect(URLRequestOperation(anyRequest).id != operation.id)
    }

    // MARK: Task-local values

    @Test func taskLocalValuesOfTheInitHoldInEveryStage() async throws {
        let operation = Place.$name.withValue("init") { Staged(.scripted([.status(500), .body(Data("x".utf8))])) }
        operation.decisions = { _ in .retry(after: .zero) }
        _ = try await run(operation)
        #expect(Set(operation.places.elements) == ["init"])
    }
}

/// Records its stages.
final class Staged: URLRequestOperation<Int>, @unchecked Sendable {
    let calls = Collector<String>()
    let places = Collector<String>()
    let queues = Locked<[RequestError.Stage: OperationQueue]>([:])
    var decisions: (@Sendable (AttemptFailure) -> RetryDecision)?

    init(_ configuration: RequestConfiguration) {
        super.init(
            anyRequest, decoder: ResponseDecoder { $0.body.count }, configuration: configuration)
    }

    private func note(_ call: String, _ stage: RequestError.Stage) {
        calls.append(call)
        places.append(Place.name)
        if let queue = OperationQueue.current { queues.withLock { $0[stage] = queue } }
    }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        note("process", .process)
        return try await super.process(request)
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        note("makeTask", .makeTask)
        return try await super.makeTask(for: request)
    }

    override func validate(_ head: ResponseHead) throws {
        note("validate \(head.status)", .validate)
        try super.validate(head)
    }

    override func decode(_ response: TransportResponse) async throws -> Int {
        note("decode \(response.body.count)", .decode)
        return try await super.decode(response)
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        note("decide \(failure.attempt)", .retryDecision)
        if let decisions { return decisions(failure) }
        return await super.retryDecision(after: failure)
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

/// Never answers in one stage, whatever happens.
final class Unresponsive: URLRequestOperation<Data>, @unchecked Sendable {
    private let stage: RequestError.Stage
    let reached = Door()

    init(_ stage: RequestError.Stage, _ configuration: RequestConfiguration) {
        self.stage = stage
        super.init(anyRequest, decoder: .data, configuration: configuration)
    }

    private func hang(in stage: RequestError.Stage) async {
        guard stage == self.stage else { return }
        reached.open()
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        await hang(in: .process)
        return try await super.process(request)
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        await hang(in: .makeTask)
        return try await super.makeTask(for: request)
    }

    override func decode(_ response: TransportResponse) async throws -> Data {
        await hang(in: .decode)
        return try await super.decode(response)
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        await hang(in: .retryDecision)
        return await super.retryDecision(after: failure)
    }
}
