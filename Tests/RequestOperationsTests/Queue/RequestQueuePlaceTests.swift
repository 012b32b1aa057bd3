import RequestOperationsTesting
import Testing

@testable import RequestOperations

/// When a request is started, and which place it runs on.
@Suite(.timeLimit(.minutes(15))) struct RequestQueuePlaceTests {
    private let queue = RequestQueue()

    private func request(
        _ configuration: RequestConfiguration, to url: String = "http://example.invalid/"
    ) -> URLRequestOperation<Data> {
        URLRequestOperation(URL(string: url)!, configuration: configuration)  // Literals that are URLs.
    }

    // MARK: One at a time

    @Test func `At a width of one requests are sent in the order of their adding`() async throws {
        for _ in 0..<100 {
            let queue = RequestQueue()
            queue.maxConcurrentOperationCount = 1
            let transport = ScriptedTransport([.body(Data())])
            let requests = (0..<20).map { request(.over(transport), to: "http://host\($0 % 3).invalid/\($0)") }
            for request in requests { queue.addOperation(request) }
            for request in requests { _ = try await request.value }
            #expect(transport.requests.map { $0.url?.path } == (0..<20).map { "/\($0)" })
        }
    }

    @Test func `What has no place is not processed`() async throws {
        queue.maxConcurrentOperationCount = 1
        let door = Door()
        let processed = Collector<Void>()
        let transport = ScriptedTransport([.behind(door, .body(Data())), .body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.adapters = [
            RequestAdapter { request in
                processed.append(())
                return request
            }
        ]
        let requests = (0..<1000).map { _ in request(configuration) }
        for request in requests { queue.addOperation(request) }
        await transport.requests(atLeast: 1)
        #expect(processed.count == 1 && requests[1...].allSatisfy { !$0.isExecuting })
        #expect(queue.limiter.waitingCount == 999)
        door.open()
        for request in requests { _ = try await request.value }
        #expect(processed.count == 1000)
    }

    @Test func `A retry comes before what was added later`() async throws {
        queue.maxConcurrentOperationCount = 1
        let clock = ManualClock()
        let order = Collector<String>()
        let door = Door()
        func configuration(_ name: String, _ answers: [ScriptedTransport.Answer]) -> RequestConfiguration {
            let noted = answers.map { answer in
                ScriptedTransport.Answer.dynamic { _ in
                    order.append(name)
                    return answer
                }
            }
            var configuration = RequestConfiguration.over(ScriptedTransport(noted))
            configuration.clock = clock
            return configuration
        }
        let first = request(configuration("first", [.status(503), .body(Data())]))
        let second = request(configuration("second", [.behind(door, .body(Data()))]))
        let third = request(configuration("third", [.body(Data())]))
        for request in [first, second, third] { queue.addOperation(request) }
        await clock.sleepers(1)
        await eventually { second.isExecuting }
        clock.advance(by: .seconds(60))
        await eventually { queue.limiter.waitingCount == 2 }
        door.open()
        for request in [first, second, third] { _ = try await request.value }
        #expect(order.elements == ["first", "second", "first", "third"])
    }

    // MARK: Hosts

    @Test func `Requests wait in the queues of their hosts`() async throws {
        queue.limiter.perHost = 1
        let door = Door()
        let transport = ScriptedTransport([
            .dynamic { request in
                if request.url?.host == "slow.invalid" { await door.pass() }
                return .body(Data())
            }
        ])
        let slow = (0..<2).map { _ in request(.over(transport), to: "http://slow.invalid/") }
        let other = request(.over(transport), to: "http://other.invalid/")
        for request in slow + [other] { queue.addOperation(request) }
        _ = try await other.value
        #expect(!slow[1].isExecuting)
        door.open()
        for request in slow { _ = try await request.value }
    }

    @Test func `A process that leads to another host exchanges the place of the host`() async throws {
        queue.maxConcurrentOperationCount = 1
        queue.limiter.perHost = 1
        let counts = Collector<Bool>()
        var configuration = RequestConfiguration.scripted([
            .dynamic { [limiter = queue.limiter] _ in
                // That of the host which it left is free, but for the total.
                limiter.total = 2
                counts.append(limiter.slotAtOnce(for: Origin(URL(string: "http://example.invalid/"))) != nil)
                counts.append(limiter.slotAtOnce(for: Origin(URL(string: "http://other.invalid/"))) != nil)
                return .body(Data())
            }
        ])
        configuration.adapters = [.baseURL(URL(string: "http://other.invalid/")!)]  // A literal that is a URL.
        let operation = URLRequestOperation(URL(string: "/path")!, configuration: configuration)  // So is this.
        let rewriting = Rewriting(configuration)
        for request in [operation, rewriting] {
            queue.addOperation(request)
            _ = try await request.value
            queue.limiter.total = 1
        }
        #expect(counts.elements == [true, false, true, false] && queue.limiter.inFlightCount == 0)
    }

    /// Sends its request to another host.
    private final class Rewriting: URLRequestOperation<Data>, @unchecked Sendable {
        init(_ configuration: RequestConfiguration) {
            super.init(anyRequest, decoder: .data, configuration: configuration)
        }

        override func process(_ request: URLRequest) async throws -> URLRequest {
            URLRequest(url: URL(string: "http://other.invalid/")!)  // A literal that is a URL.
        }
    }

    @Test func `A redirect keeps its place of the total`() async throws {
        queue.maxConcurrentOperationCount = 1
        let order = Collector<String>()
        let transport = ScriptedTransport([
            .dynamic { request in
                order.append(request.url?.absoluteString ?? "")
                return request.url?.path == "/from"
                    ? .status(302, fields: [("Location", "http://other.invalid/to")]) : .body(Data())
            }
        ])
        let first = request(.over(transport), to: "http://example.invalid/from")
        let second = request(.over(transport), to: "http://example.invalid/second")
        for request in [first, second] { queue.addOperation(request) }
        for request in [first, second] { _ = try await request.value }
        #expect(
            order.elements == [
                "http://example.invalid/from", "http://other.invalid/to", "http://example.invalid/second",
            ])
    }

    // MARK: Suspension

    @Test func `A suspended queue sends nothing`() async throws {
        queue.maxConcurrentOperationCount = 2
        queue.isSuspended = true
        let transport = ScriptedTransport([.body(Data())])
        let requests = (0..<10).map { _ in request(.over(transport)) }
        for request in requests { queue.addOperation(request) }
        #expect(requests.allSatisfy { !$0.isExecuting } && queue.limiter.inFlightCount == 0)
        queue.isSuspended = false
        for request in requests { _ = try await request.value }
        #expect(transport.requests.count == 10)
    }

    @Test func `What is processed when the queue is suspended is sent only after that`() async throws {
        queue.maxConcurrentOperationCount = 1
        let (isProcessed, door) = (Door(), Door())
        let transport = ScriptedTransport([.body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.adapters = [
            RequestAdapter { request in
                isProcessed.open()
                await door.pass()
                return request
            }
        ]
        let operation = request(configuration)
        queue.addOperation(operation)
        await isProcessed.pass()
        queue.isSuspended = true
        door.open()
        await eventually { queue.limiter.waitingCount == 1 }
        #expect(queue.limiter.inFlightCount == 0 && transport.requests.isEmpty)
        queue.isSuspended = false
        _ = try await operation.value
    }

    @Test func `A request that was sent goes on in a suspended queue`() async throws {
        queue.maxConcurrentOperationCount = 1
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted([.status(503), .body(Data())])
        configuration.clock = clock
        let operation = request(configuration)
        queue.addOperation(operation)
        await clock.sleepers(1)
        queue.isSuspended = true
        clock.advance(by: .seconds(60))
        _ = try await operation.value
    }

    // MARK: The deadline

    @Test func `The deadline runs while a request waits for a place`() async throws {
        queue.maxConcurrentOperationCount = 0
        let clock = ManualClock()
        let transport = ScriptedTransport([.body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.clock = clock
        configuration.deadline = .seconds(5)
        let operation = request(configuration)
        queue.addOperation(operation)
        clock.advance(by: .seconds(5))
        queue.maxConcurrentOperationCount = 1
        let error = await #expect(throws: RequestError.self) { _ = try await operation.value }
        #expect(error?.code == .timedOut && transport.requests.isEmpty)
    }

    // MARK: What waits holds no place

    @Test func `A request that waits for a network holds no place`() async throws {
        queue.maxConcurrentOperationCount = 1
        let path = NetworkPath(.unreachable)
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.waitsForConnectivity = true
        configuration.networkPath = path
        let waiting = request(configuration)
        queue.addOperation(waiting)
        await eventually { waiting.isExecuting && queue.limiter.inFlightCount == 0 }
        let other = request(.scripted([.body(Data())]))
        queue.addOperation(other)
        _ = try await other.value
        path.update(.reachable(.wired))
        _ = try await waiting.value
    }

    @Test func `A request that is cancelled gives its place to the next`() async throws {
        queue.maxConcurrentOperationCount = 1
        let transport = ScriptedTransport([.stall])
        let stalled = request(.over(transport))
        let next = request(.scripted([.body(Data())]))
        for request in [stalled, next] { queue.addOperation(request) }
        await transport.requests(atLeast: 1)
        stalled.cancel()
        _ = try await next.value
        await queue.drained()
        #expect(queue.limiter.inFlightCount == 0)
    }

    // MARK: The place of another one

    /// Fetches a token by the queue of the request.
    private func withToken(_ token: @escaping @Sendable () -> Operation) -> RequestConfiguration {
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.adapters = [
            RequestAdapter { [queue] request in
                let operation = token()
                await withCheckedContinuation { continuation in
                    operation.announceFinish { continuation.resume() }
                    queue.addOperation(operation)
                }
                return request
            }
        ]
        return configuration
    }

    @Test(arguments: ["request", "work", "block", "chain", "nested", "retrying"])
    func `What a stage adds to its queue runs on its place`(kind: String) async throws {
        queue.maxConcurrentOperationCount = 1
        let clock = ManualClock()
        var retrying = RequestConfiguration.scripted([.status(503), .body(Data())])
        retrying.clock = clock
        let nested = withToken { [self] in request(.scripted([.body(Data())])) }
        let operation = request(
            withToken { [self, retrying] in
                switch kind {
                case "request": request(.scripted([.body(Data())]))
                case "work": Work {}
                case "block": BlockOperation {}
                case "chain":
                    request(.scripted([.body(Data())])).then { _ in request(.scripted([.body(Data())])) }
                case "nested": request(nested)
                default: request(retrying)
                }
            })
        queue.addOperation(operation)
        if kind == "retrying" {
            await clock.sleepers(1)
            clock.advance(by: .seconds(60))
        }
        _ = try await operation.value
        await queue.drained()
        #expect(queue.limiter.inFlightCount == 0)
    }

    @Test func `What a decoder adds takes a place of its own`() async throws {
        queue.maxConcurrentOperationCount = 1
        let counts = Collector<Int>()
        let inner = request(
            .scripted([
                .dynamic { [limiter = queue.limiter] _ in
                    counts.append(limiter.inFlightCount)
                    return .body(Data())
                }
            ]))
        let outer = URLRequestOperation(
            anyRequest,
            decoder: ResponseDecoder<Data> { [queue] _ async throws in
                queue.addOperation(inner)
                return try await inner.value
            }, configuration: .scripted([.body(Data())]))
        queue.addOperation(outer)
        _ = try await outer.value
        #expect(counts.elements == [1])
    }

    @Test func `A place through which nothing was sent does not count for the rate`() throws {
        let limiter = RequestLimiter(total: 2, rate: .perSecond(0.1), per: .host, clock: ManualClock())
        let queue = RequestQueue(limiter: limiter)
        let origin = Origin(anyRequest.url)
        let slot = try #require(limiter.slotAtOnce(for: origin))
        // The request was cancelled after its start, and before its first attempt.
        queue.finished(QueuePlace(of: limiter, at: limiter.newPlace(), holding: slot), wasExecuting: true)
        #expect(limiter.slotAtOnce(for: origin) != nil)
    }
}
