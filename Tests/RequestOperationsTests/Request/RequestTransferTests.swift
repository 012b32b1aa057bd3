import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct RequestTransferTests {
    private func redirecting(_ limiter: RequestLimiter, to location: String) -> (
        RequestConfiguration, ScriptedTransport
    ) {
        let transport = ScriptedTransport([.status(302, fields: [("Location", location)]), .body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.limiter = limiter
        return (configuration, transport)
    }

    @Test func `A redirect to the same host keeps its slot`() async throws {
        let waits = Collector<Void>()
        var (configuration, _) = redirecting(RequestLimiter(total: 1), to: "/next")
        configuration.onEvent = { if case .waitsForSlot = $0.step { waits.append(()) } }
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
        await configuration.deliverEvents()
        #expect(waits.count == 1)
    }

    @Test func `A redirect to another host keeps its slot and may exceed the bound of that host`() async throws {
        let limiter = RequestLimiter(perHost: 1)
        let occupied = limiter.hold(for: URL(string: "http://other.invalid/"))
        var (configuration, transport) = redirecting(limiter, to: "http://other.invalid/")
        let waits = Collector<Void>()
        configuration.onEvent = { if case .waitsForSlot = $0.step { waits.append(()) } }
        let held = Collector<Bool>()
        configuration.validation = ResponseValidation { _ in
            held.append(limiter.hold(for: anyRequest.url) == nil)
        }
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
        await configuration.deliverEvents()
        #expect(waits.count == 1 && held.elements == [true] && transport.requests.count == 2)
        #expect(limiter.inFlightCount == 1)
        occupied?.release()
    }

    @Test func `A redirect to another host is not overtaken by who waits for a place of the total`() async throws {
        let limiter = RequestLimiter(total: 1)
        let door = Door()
        let transport = ScriptedTransport([
            .behind(door, .status(302, fields: [("Location", "http://other.invalid/")])), .body(Data()), .body(Data()),
        ])
        var configuration = RequestConfiguration.over(transport)
        configuration.limiter = limiter
        let first = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(first)
        await transport.requests(atLeast: 1)
        let second = URLRequestOperation(
            try #require(URL(string: "http://second.invalid/")), configuration: configuration)
        OperationQueue().addOperation(second)
        await eventually { limiter.waitingCount == 1 }
        door.open()
        _ = try await first.value
        _ = try await second.value
        #expect(transport.requests.map { $0.url?.host } == ["example.invalid", "other.invalid", "second.invalid"])
        #expect(limiter.inFlightCount == 0)
    }

    @Test(arguments: [false, true])
    func `Redirects to each others hosts do not block each other`(inAQueueToo: Bool) async throws {
        let limiter = RequestLimiter(total: 2, perHost: 1)
        let (here, there) = ("http://here.invalid/", "http://there.invalid/")
        let arrived = Collector<Void>()
        let redirects = (0..<2).map { _ in
            ScriptedTransport.Answer.dynamic { request in
                // Both hold the place of their hosts, until both are redirected.
                arrived.append(())
                await arrived.count(2)
                return .status(302, fields: [("Location", request.url?.absoluteString == here ? there : here)])
            }
        }
        let transport = ScriptedTransport(redirects + [.body(Data()), .body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.limiter = limiter
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 2
        if inAQueueToo { queue.limiter.perHost = 1 }
        let operations = try [here, there].map { text in
            URLRequestOperation(try #require(URL(string: text)), configuration: configuration)
        }
        let line: OperationQueue = inAQueueToo ? queue : OperationQueue()
        for operation in operations { line.addOperation(operation) }
        for operation in operations { _ = try await operation.value }
        #expect(transport.requests.count == 4)
        await eventually { limiter.inFlightCount == 0 && queue.limiter.inFlightCount == 0 }
    }

    @Test func `The time limit of an attempt counts for all hops together`() async throws {
        let clock = ManualClock()
        let door = Door()
        let transport = ScriptedTransport([
            .behind(door, .status(302, fields: [("Location", "http://other.invalid/")])), .stall,
        ])
        var configuration = RequestConfiguration.over(transport)
        configuration.clock = clock
        configuration.attemptTimeLimit = .seconds(3)
        configuration.retryPolicy = .none
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        await transport.requests(atLeast: 1)
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        door.open()
        await transport.requests(atLeast: 2)
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(999))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .milliseconds(1))
        let error = await #expect(throws: RequestError.self) { try await operation.value }
        #expect(error?.code == .timedOut && error?.reason?.contains("3.0 seconds") == true)
    }

    @Test func `A server that redirects to the same URL once it has set state is followed`() async throws {
        let configuration = RequestConfiguration.scripted([
            .status(302, fields: [("Location", "/a")]), .status(302, fields: [("Location", "/a")]), .body(Data([1])),
        ])
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        #expect(try await operation.value == Data([1]))
    }

    private func refusing(_ answers: [ScriptedTransport.Answer]) -> (RequestConfiguration, ScriptedTransport) {
        let transport = ScriptedTransport(answers)
        var configuration = RequestConfiguration.over(transport)
        configuration.retryPolicy = .none
        return (configuration, transport)
    }

    private var expecting: URLRequest {
        var request = anyRequest
        request.httpMethod = "POST"
        request.httpBody = Data([1])
        request.setValue("100-Continue", forHTTPHeaderField: "expect")
        return request
    }

    @Test func `After 417 a request is sent once more without Expect, with its body`() async throws {
        let (configuration, transport) = refusing([.status(417), .body(Data([2]))])
        let operation = URLRequestOperation(expecting, configuration: configuration)
        OperationQueue().addOperation(operation)
        #expect(try await operation.value == Data([2]))
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "Expect") } == ["100-Continue", nil])
        #expect(transport.requests.map(\.httpMethod) == ["POST", "POST"] && operation.attempts.count == 1)
    }

    @Test(arguments: [true, false])
    func `A second 417, or one to a request that expects nothing, is the answer`(_ expects: Bool) async {
        let (configuration, transport) = refusing([.status(417), .status(417), .body(Data([2]))])
        let request = expects ? expecting : anyRequest
        let error = await failure(of: URLRequestOperation(request, configuration: configuration)) as? RequestError
        #expect(error?.head?.status == 417)
        #expect(transport.requests.count == (expects ? 2 : 1))
    }

    @Test func `A circle of redirects ends the attempt at the limit`() async {
        var configuration = RequestConfiguration.scripted([
            .status(302, fields: [("Location", "/a")]), .status(302, fields: [("Location", "/b")]),
            .status(302, fields: [("Location", "/a")]), .status(302, fields: [("Location", "/b")]),
        ])
        configuration.retryPolicy = .none
        configuration.redirects.maximum = 3
        let error = await failure(of: URLRequestOperation(anyRequest, configuration: configuration)) as? RequestError
        #expect(error?.code == .redirectLoop)
    }

    // MARK: Responses whose head nobody was shown

    /// Carries a request out without a word about its head.
    private struct Silent: Transport {
        let head: ResponseHead

        func perform(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse {
            TransportResponse(head: head, body: Data("text".utf8))
        }
    }

    /// Makes nothing of a rejected head.
    private struct Lenient: Transport {
        let head: ResponseHead

        func perform(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse {
            do { try onHead(head) } catch {}
            return TransportResponse(head: head, body: Data("text".utf8))
        }
    }

    private static func head(_ status: Int, _ fields: [(name: String, value: String)] = []) -> ResponseHead {
        // The request has a URL.
        ResponseHead(status: status, url: anyRequest.url!, fields: fields)
    }

    @Test(arguments: [Silent(head: head(404)), Lenient(head: head(404))] as [any Transport])
    func `A response is validated whatever the transport makes of its head`(transport: any Transport) async throws {
        let operation = URLRequestOperation(anyRequest, configuration: .over(transport))
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .unacceptableStatus && error.stage == .validate)
        #expect(error.head?.status == 404 && error.bodyPrefix == Data("text".utf8))
        #expect(operation.attempts.map(\.status) == [404] && operation.attempts.map(\.bodySize) == [4])
    }

    @Test func `A head that nobody showed is judged once and told`() async throws {
        let told = Collector<Int>()
        var configuration = RequestConfiguration.over(Silent(head: Self.head(200)))
        configuration.onEvent = { if case .head(let head) = $0.step { told.append(head.status) } }
        let operation = Staged(configuration)
        #expect(try await run(operation) == 4)
        #expect(operation.calls.elements == ["process", "makeTask", "validate 200", "validate 4 bytes", "decode 4"])
        await configuration.deliverEvents()
        #expect(told.elements == [200] && operation.attempts.map(\.status) == [200])
    }

    @Test func `A redirect that nobody showed is followed`() async throws {
        let requests = Collector<String>()
        let operation = Custom(.scripted([.body(Data())])) { task, _, _ in
            requests.append(task.request.url?.path ?? "")
            let isFirst = requests.count == 1
            return TransportResponse(head: Self.head(isFirst ? 302 : 200, isFirst ? [("Location", "/next")] : []))
        }
        _ = try await run(operation)
        #expect(requests.elements == ["/path", "/next"])
    }

    @Test func `A response of a custom task that shows no head is validated`() async {
        let operation = Custom(.scripted([.status(500)])) { task, transport, _ in
            try await transport.perform(task) { _ in }
        }
        let error = await failure(of: operation) as? RequestError
        #expect(error?.code == .unacceptableStatus && error?.head?.status == 500)
    }

    @Test func `A head that a custom task changed is not judged again`() async throws {
        let operation = Custom(.scripted([.status(404)])) { task, transport, onHead in
            try await transport.perform(task) { _ in try onHead(Self.head(200)) }
        }
        #expect(try await run(operation).isEmpty)
    }

    // MARK: HEAD

    @Test(
        arguments: [("HEAD", nil, true), ("GET", nil, false), ("HEAD", "text/html", false)]
            as [(String, String?, Bool)])
    func `A response to HEAD needs no content type`(method: String, type: String?, isAccepted: Bool) async {
        let fields = type.map { [(name: "Content-Type", value: $0)] } ?? []
        var configuration = RequestConfiguration.scripted([.status(200, fields: fields)])
        configuration.validation = .successfulStatus.and(.contentType(["application/json"]))
        var request = anyRequest
        request.httpMethod = method
        let error = await failure(of: URLRequestOperation(request, configuration: configuration)) as? RequestError
        #expect(error?.code == (isAccepted ? nil : .unacceptableContentType))
    }
}

/// Has its task carried out by a closure.
private final class Custom: URLRequestOperation<Data>, @unchecked Sendable {
    typealias Perform =
        @Sendable (
            TransportTask, any Transport, @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse

    private let perform: Perform

    init(_ configuration: RequestConfiguration, perform: @escaping Perform) {
        self.perform = perform
        var configuration = configuration
        configuration.retryPolicy = .none
        super.init(anyRequest, decoder: .data, configuration: configuration)
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        .custom(request, perform: perform)
    }
}
