import RequestOperations
import RequestOperationsTesting
import Testing

/// The public face: what programs elsewhere are written against, as code that must compile. A line that has to change here
/// breaks them.
@Suite(.timeLimit(.minutes(10))) struct FaceTests {
    private let url = URL(string: "http://example.invalid/users/1")!

    @Test func operations() async throws {
        let asynchronous: AsynchronousOperation<Int> = Answering(42)
        OperationQueue().addOperation(asynchronous)
        let value: Int = try await asynchronous.value
        let result: Result<Int, any Error>? = asynchronous.result
        asynchronous.whenFinished { (_: Result<Int, any Error>) in }
        let chain: RequestChain<String> = asynchronous.then { number in Answering(String(number)) }
        let own = Chain(asynchronous) { number in Answering(String(number)) }
        let foundation: Operation = chain
        #expect(!own.isFinished)
        #expect(value == 42 && result != nil && !foundation.isFinished)
    }

    @Test func queues() async throws {
        let queue = RequestQueue()
        let limiter: RequestLimiter = queue.limiter
        queue.maxConcurrentOperationCount = 2
        #expect(limiter.total == 2)
        let foundation: OperationQueue = queue
        foundation.addOperation(Answering(1))
        foundation.addBarrierBlock {}
        let operations: [Operation] = queue.allOperations
        let count: Int = queue.allOperationCount
        #expect(operations.count <= 1 && count <= 1)
        let own: RequestQueue = OwnQueue()
        own.addOperation {}
    }

    @Test func requests() async throws {
        struct User: Decodable, Sendable {
            var name: String
        }
        var configuration = RequestConfiguration()
        configuration.transport = ScriptedTransport([.body(Data(#"{"name": "Ada"}"#.utf8))])
        let request = URLRequest(url: url)
        let decoded = URLRequestOperation(request, decoder: .json(User.self), configuration: configuration)
        let plain: URLRequestOperation<Data> = URLRequestOperation(request, configuration: configuration)
        let short: URLRequestOperation<Data> = URLRequestOperation(url, configuration: configuration)
        _ = URLRequestOperation(request, decoder: .string)
        _ = URLRequestOperation(request)
        _ = URLRequestOperation(url)
        let id: RequestID = plain.id
        let attempts: [Attempt] = short.attempts
        let dates: [Date?] = [short.startDate] + attempts.map(\.startDate)
        let response: TransportResponse? = short.response
        #expect(dates == [nil] && response == nil)
        plain.retryNow()
        let queue = OperationQueue()
        queue.addOperation(decoded)
        #expect(try await decoded.value.name == "Ada")
        #expect(id == plain.id && attempts.isEmpty)
    }

    @Test func `Three styles over one result`() async throws {
        var configuration = RequestConfiguration.default
        configuration.transport = ScriptedTransport([.body(Data("once".utf8))])
        let queue = OperationQueue()
        let operation = URLRequestOperation(url, configuration: configuration)
        await withCheckedContinuation { continuation in
            operation.whenFinished { _ in continuation.resume() }
            DispatchQueue.global().async {
                queue.addOperations([operation], waitUntilFinished: true)
            }
        }
        let awaited = try await operation.value
        #expect(try operation.result?.get() == awaited)
    }

    @Test func `Override points`() async throws {
        let operation = Overriding(
            URLRequest(url: url), decoder: .string, configuration: .over(ScriptedTransport([.body(Data())])))
        OperationQueue().addOperation(operation)
        #expect(try await operation.value == "decoded")
    }

    @Test func configuration() {
        var configuration = RequestConfiguration()
        configuration.transport = URLSessionTransport()
        configuration.adapters = [
            .field("Accept", "application/json"),
            .baseURL(url),
            .bearerToken { "token" },
            RequestAdapter { $0 }.on(OperationQueue()),
        ]
        configuration.validation = .successfulStatus
        configuration.retryPolicy = RetryPolicy(maximumRetries: 5, backoff: .constant(.seconds(1)))
        configuration.trust = TrustPolicy(
            roots: .system, pinnedKeys: ["sha256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="],
            clientCertificate: nil,
            minimumTLSVersion: .tls13)
        configuration.limiter = RequestLimiter(total: 64, perHost: 8)
        configuration.redirects = RedirectPolicy()
        configuration.clock = ManualClock()
        configuration.randomSource = RandomSource(seed: 1)
        configuration.deadline = .seconds(60)
        configuration.maximumBodySize = 1 << 20
        configuration.freshness = .seconds(30)
        configuration.onEvent = { (event: RequestEvent) in
            let reason: WaitReason? = event.waitReason
            if case .waits(let delay) = event.step { print(event.id, delay, reason == .budget) }
        }
        configuration.stageTimeLimits = [UserStage.decode: .seconds(5)]
        configuration.setQueue(.main, for: .process)
        let queue: OperationQueue? = configuration.queue(for: .process)
        #expect(queue === OperationQueue.main)
        #expect(RequestConfiguration.default.limiter == nil && RequestConfiguration.default.trust == nil)
    }

    @Test func validation() {
        let validations: [ResponseValidation] = [
            .successfulStatus, .status(200..<400), .contentType(["application/json", "text/*"]),
            ResponseValidation { _ in },
        ]
        #expect(validations.count == 4)
    }

    @Test func decoders() {
        _ = ResponseDecoder<Data>.data
        _ = ResponseDecoder<String>.string
        _ = ResponseDecoder<Void>.void
        _ = ResponseDecoder<[String]>.propertyList()
        let count: ResponseDecoder<Int> = ResponseDecoder.json([Int].self).map(\.count)
        _ = count.optional()
        struct Nothing: Decodable, Sendable, EmptyRepresentable {
            static var emptyValue: Nothing { Nothing() }
        }
        _ = ResponseDecoder.json(Nothing.self)
    }

    @Test func retries() {
        let decisions: [RetryDecision] = [
            .stop,
            .retry(after: .seconds(1)),
            .retry(after: .seconds(1), or: [Observer()], restartingBackoff: true, with: URLRequest(url: url)),
            .fail(CancellationError()),
        ]
        #expect(decisions.count == 4)
        if case .retry(
            after: let delay, or: let observers, restartingBackoff: let restarts, restartingCount: let forgets,
            with: let request) = decisions[2]
        {
            let (_, _): (Duration, [any EarlyRetryObserver]) = (delay, observers)
            let (_, _, _): (Bool, Bool, URLRequest?) = (restarts, forgets, request)
        }
        let failure = AttemptFailure(
            RequestError(.timedOut, stage: .transfer), attempt: 1, request: URLRequest(url: url))
        let decision: RetryDecision = RetryPolicy().decision(after: failure, using: RandomSource(seed: 1))
        guard case .retry = decision else {
            Issue.record("a GET that timed out is retried")
            return
        }
    }

    @Test func backoffs() {
        let backoffs: [Backoff] = [
            .exponential(initial: .milliseconds(500), factor: 2, maximum: .seconds(20), jitter: .full),
            .exponential(),
            .table([.seconds(1), .seconds(3)]),
            .constant(.seconds(1)),
            .linear(initial: .seconds(1), increment: .seconds(1)),
            .decorrelated(),
            .upToSixHours,
        ]
        let delay: Duration = backoffs[3].delay(beforeRetry: 1, using: RandomSource(seed: 1))
        #expect(delay == .seconds(1))
    }

    @Test func hosts() async {
        let presets: [RetryPolicy] = [.default, .none, .aggressive, .endless]
        #expect(presets.map(\.maximumRetries) == [3, 0, 10, .max])
        let keyed: RequestAdapter = .idempotencyKey()
        let asked: Duration? = RetryAfter.delay("7", now: Date())
        #expect(asked == .seconds(7))

        var policy = RetryPolicy()
        policy.budget = RetryBudget(ratio: 0.1, minimumPerSecond: 1, window: .seconds(10), mode: .failing)
        policy.budget = .tokens(capacity: 500, cost: 5)
        policy.budget = RetryBudget()
        let hosts: HostRegistry = .shared
        let balance: Int = hosts.retriesLeft(to: url)
        let mode: RetryBudget.Mode = RetryBudget().mode
        #expect(balance >= 0 && mode == .delaying)

        let breaker = CircuitBreaker(failureRatio: 0.5, minimumThroughput: 20, openTime: .seconds(5), probes: 1)
        policy.circuitBreaker = breaker
        let state: CircuitBreaker.State = hosts.circuitState(of: url, under: breaker)
        var states = hosts.circuitStates(of: url, under: breaker).makeAsyncIterator()
        #expect(await states.next() == state)

        policy.sharesRetryAfter = true
        let left: Duration = HostRegistry(clock: ManualClock()).timeLeftAlone(url)
        #expect(left == .zero)

        let path = NetworkPath(.unreachable)
        policy.earlyRetryObservers = [
            HostRecoveryObserver(), ReachabilityObserver(), ReachabilityObserver(path: path),
        ]
        var configuration = RequestConfiguration()
        configuration.adapters = [keyed]
        configuration.hosts = HostRegistry()
        configuration.waitsForConnectivity = true
        configuration.networkPath = path
        path.update(.reachable(.wifi))
        let interface: Reachability.Interface? = path.reachability.interface
        #expect(interface == .wifi && path.reachability.isReachable)
        for await reachability in NetworkPath.shared.changes {
            #expect(reachability == NetworkPath.shared.reachability)
            break
        }
    }

    @Test func failures() {
        let error = RequestError(.timedOut, stage: .transfer)
        let code: RequestError.Code = error.code
        let stage: RequestError.Stage = error.stage
        let underlying: (any Error)? = error.underlying
        let head: ResponseHead? = error.head
        let attempts: [Attempt] = error.attempts
        #expect(code == .timedOut && stage == .transfer && underlying == nil && head == nil && attempts.isEmpty)

        let failure = AttemptFailure(error, attempt: 2, request: URLRequest(url: url))
        let cause: any Error = failure.error
        let number: Int = failure.attempt
        let request: URLRequest = failure.request
        let failedStage: RequestError.Stage = failure.stage
        let mayHaveBeenProcessed: Bool = failure.requestMayHaveBeenProcessed
        #expect(cause is RequestError && number == 2 && request.url == url && failedStage == .transfer)
        #expect(failure.head == nil && mayHaveBeenProcessed)
        #expect(TransferFailure(error, phase: .head).error is RequestError)
        let described: any CustomStringConvertible = error
        #expect(described.description.contains("timedOut") && error.problem == nil)
    }

    @Test func responses() {
        let head = ResponseHead(status: 200, url: url, fields: [(name: "Content-Type", value: "text/plain")])
        let status: Int = head.status
        let origin: URL = head.url
        let type: String? = head.field("content-type")
        let first = head.fields[0]
        let foundation: HTTPURLResponse? = head.httpURLResponse
        #expect(status == 200 && origin == url && type == first.value && first.name == "Content-Type")
        #expect(foundation?.statusCode == 200)

        let response = TransportResponse(head: head, body: Data("a".utf8))
        let body: Data = response.body
        let file: URL? = response.file
        #expect(body.count == 1 && file == nil && response.head.status == 200)
    }

    @Test func tasks() {
        let request = URLRequest(url: url)
        let tasks: [TransportTask] = [
            .data(request),
            .upload(request, from: .data(Data())),
            .download(request, to: url),
            .stream(request) { (_: Data) in },
            .custom(request) { (task: TransportTask, transport: any Transport, onHead) in
                try await transport.perform(task, onHead: onHead)
            },
        ]
        var trusting = tasks[0]
        trusting.trust = .system
        #expect(tasks.count == 5 && tasks[0].trust == nil)
    }

    #if os(Linux)
        @Test func `Curl transport`() {
            let shared: any Transport = CurlTransport.shared
            let own = CurlTransport(configuration: CurlTransport.Configuration())
            #expect(shared is CurlTransport && own !== CurlTransport.shared)
        }
    #endif

    @Test func redirects() {
        #expect(RedirectPolicy().maximum == 10)
    }

    @Test func `Scripted transport`() async throws {
        let transport = ScriptedTransport([.status(503), .error(.connectionLost), .body(Data("done".utf8))])
        let clock = ManualClock()
        var configuration = RequestConfiguration.over(transport)
        configuration.clock = clock
        configuration.retryPolicy.backoff = .constant(.seconds(60))
        let operation = URLRequestOperation(url, configuration: configuration)
        OperationQueue().addOperation(operation)
        for _ in 1...2 {
            await clock.sleepers(1)
            clock.advance(by: .seconds(60))
        }
        #expect(try await operation.value == Data("done".utf8))
        let requests: [URLRequest] = transport.requests
        #expect(requests.count == 3)
    }

    @Test func `Manual clock`() async throws {
        let clock = ManualClock()
        let value: Int = try await clock.run(Answering(1))
        let second: Int = try await clock.run(Answering(2), on: OperationQueue())
        let operation = Answering(3)
        OperationQueue().addOperation(operation)
        let outcome: ManualClock.WaitOutcome = await clock.sleepers(1, orEndOf: operation)
        #expect(value == 1 && second == 2 && outcome == .finished)
    }

    @Test func `Loopback server`() async throws {
        let server: LoopbackServer = try await LoopbackServer.start()
        let url: URL = server.url
        #expect(url.host == "127.0.0.1")
    }
}

extension RequestConfiguration {
    fileprivate static func over(_ transport: any Transport) -> RequestConfiguration {
        var configuration = RequestConfiguration()
        configuration.transport = transport
        return configuration
    }
}

/// An asynchronous operation of a program's own.
private final class Answering<Value: Sendable>: AsynchronousOperation<Value>, @unchecked Sendable {
    private let answer: Value

    init(_ answer: Value) {
        self.answer = answer
    }

    override func run() async throws -> Value { answer }
}

/// A queue of a program's own.
private final class OwnQueue: RequestQueue, @unchecked Sendable {
    override func addOperation(_ operation: Operation) {
        super.addOperation(operation)
    }
}

/// A chain of a program's own.
private final class Chain: RequestChain<String>, @unchecked Sendable {}

/// A request operation of a program's own that overrides each of the five points.
private final class Overriding: URLRequestOperation<String>, @unchecked Sendable {
    override func process(_ request: URLRequest) async throws -> URLRequest { try await super.process(request) }
    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        try await super.makeTask(for: request)
    }
    override func validate(_ head: ResponseHead) throws { try super.validate(head) }
    override func validate(_ response: TransportResponse) async throws { try await super.validate(response) }
    override func decode(_ response: TransportResponse) async throws -> String { "decoded" }
    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        await super.retryDecision(after: failure)
    }
}

/// An early-retry observer of a program's own.
private final class Observer: EarlyRetryObserver {
    func wait(after failure: AttemptFailure) async throws {}
}

/// A transport of a program's own.
private final class Forwarding: Transport {
    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        try await URLSessionTransport.shared.perform(task, onHead: onHead)
    }
}
