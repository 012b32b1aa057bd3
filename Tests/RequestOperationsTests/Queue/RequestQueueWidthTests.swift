import RequestOperations
import RequestOperationsTesting
import Testing

/// How many run at a time, and what of: the attempts of requests, and everything else as long as it executes.
@Suite(.timeLimit(.minutes(15))) struct RequestQueueWidthTests {
    private static func queue(width: Int) -> RequestQueue {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = width
        return queue
    }

    private static func request(
        _ configuration: RequestConfiguration, to host: String = "example"
    ) -> URLRequestOperation<Data> {
        URLRequestOperation(URL(string: "http://\(host).invalid/")!, configuration: configuration)
    }

    // MARK: The bound

    @Test func `The bound is the total of the limiter`() {
        let queue = RequestQueue()
        #expect(queue.maxConcurrentOperationCount == OperationQueue.defaultMaxConcurrentOperationCount)
        #expect(queue.limiter.total == nil)
        queue.maxConcurrentOperationCount = 3
        #expect(queue.limiter.total == 3 && queue.maxConcurrentOperationCount == 3)
        queue.limiter.total = 5
        #expect(queue.maxConcurrentOperationCount == 5)
        queue.maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
        #expect(queue.limiter.total == nil)
    }

    @Test func `A bound below zero is a programmers error`() async {
        await #expect(processExitsWith: .failure) { RequestQueue().maxConcurrentOperationCount = -2 }
    }

    @Test func `A bound of zero admits nothing until it is raised`() async throws {
        let queue = Self.queue(width: 0)
        let transport = ScriptedTransport([.body(Data())])
        let request = Self.request(.over(transport))
        let work = Work { 1 }
        queue.addOperation(request)
        queue.addOperation(work)
        await eventually { queue.limiter.waitingCount == 2 }
        #expect(transport.requests.isEmpty && !work.isExecuting)
        queue.maxConcurrentOperationCount = 1
        _ = try await request.value
        #expect(try await work.value == 1)
    }

    // MARK: Requests

    @Test func `While one request waits for its next attempt a thousand others complete`() async throws {
        let clock = ManualClock()
        let queue = Self.queue(width: 1)
        var waiting = RequestConfiguration.scripted([.status(503), .body(Data())])
        waiting.clock = clock
        waiting.retryPolicy.backoff = .constant(.seconds(60), jitter: .none)
        let first = Self.request(waiting)
        queue.addOperation(first)
        await clock.sleepers(1)
        let others = RequestConfiguration.scripted([.body(Data())])
        let thousand = (0..<1000).map { _ in Self.request(others) }
        for request in thousand { queue.addOperation(request) }
        for request in thousand { _ = try await request.value }
        #expect(!first.isFinished && queue.limiter.inFlightCount == 0)
        clock.advance(by: .seconds(60))
        _ = try await first.value
    }

    @Test func `As many attempts are in flight as the bound says`() async throws {
        let queue = Self.queue(width: 3)
        let running = Locked((now: 0, most: 0))
        let configuration = RequestConfiguration.scripted([
            .dynamic { _ in
                running.withLock { running in
                    running.now += 1
                    running.most = max(running.most, running.now)
                }
                await Task.yield()
                running.withLock { $0.now -= 1 }
                return .body(Data())
            }
        ])
        let requests = (0..<200).map { _ in Self.request(configuration) }
        for request in requests { queue.addOperation(request) }
        for request in requests { _ = try await request.value }
        #expect(running.withLock { $0.most } <= 3)
        #expect(queue.limiter.inFlightCount == 0 && queue.limiter.waitingCount == 0)
    }

    @Test func `Requests line up in the order of their adding`() async throws {
        let queue = Self.queue(width: 0)
        let transport = ScriptedTransport([.body(Data())])
        let names = (0..<100).map { "host\($0)" }
        let requests = names.map { Self.request(.over(transport), to: $0) }
        for request in requests { queue.addOperation(request) }
        await eventually { queue.limiter.waitingCount == 100 }
        queue.maxConcurrentOperationCount = 1
        for request in requests { _ = try await request.value }
        #expect(transport.requests.map { $0.url?.host } == names.map { "\($0).invalid" })
    }

    @Test func `A request with a limiter of its own holds no place while it waits for that`() async throws {
        let queue = Self.queue(width: 2)
        var configuration = RequestConfiguration.scripted([.stall])
        configuration.limiter = RequestLimiter(perHost: 1)
        let transport = ScriptedTransport([.stall])
        configuration.transport = transport
        let inFlight = Self.request(configuration, to: "full")
        queue.addOperation(inFlight)
        await transport.requests(atLeast: 1)
        let waiting = Self.request(configuration, to: "full")
        queue.addOperation(waiting)
        await eventually { configuration.limiter?.waitingCount == 1 }
        configuration.transport = ScriptedTransport([.body(Data())])
        let other = Self.request(configuration, to: "other")
        queue.addOperation(other)
        _ = try await other.value
        inFlight.cancel()
        waiting.cancel()
        await queue.drained()
        #expect(queue.limiter.inFlightCount == 0 && configuration.limiter?.inFlightCount == 0)
    }

    @Test func `A request that brings the limiter of the queue takes one place`() async throws {
        let queue = Self.queue(width: 1)
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.limiter = queue.limiter
        let request = Self.request(configuration)
        queue.addOperation(request)
        _ = try await request.value
    }

    @Test func `The links of a chain hold the places and the chain does not`() async throws {
        let queue = Self.queue(width: 1)
        let seen = Collector<Int>()
        let configuration = RequestConfiguration.scripted([
            .dynamic { [limiter = queue.limiter] _ in
                seen.append(limiter.inFlightCount)
                return .body(Data())
            }
        ])
        let chain = Self.request(configuration).then { _ in Self.request(configuration) }
        queue.addOperation(chain)
        _ = try await chain.value
        #expect(seen.elements == [1, 1])
    }

    @Test func `A redirect to another host keeps to the bound`() async throws {
        let queue = Self.queue(width: 1)
        let configuration = RequestConfiguration.scripted([
            .status(302, fields: [("Location", "http://other.invalid/")]), .body(Data("x".utf8)),
        ])
        let request = Self.request(configuration)
        queue.addOperation(request)
        _ = try await request.value
        #expect(queue.limiter.inFlightCount == 0)
    }

    // MARK: Everything else

    @Test func `Blocks and foreign operations and ours run one at a time`() async {
        let queue = Self.queue(width: 1)
        let running = Locked((now: 0, most: 0))
        let count = Collector<Int>()
        @Sendable func run() {
            running.withLock { running in
                running.now += 1
                running.most = max(running.most, running.now)
            }
            // Gives other threads the chance to run beside this one.
            for _ in 0..<100 { sched_yield() }
            running.withLock { $0.now -= 1 }
            count.append(1)
        }
        for _ in 0..<30 {
            queue.addOperation { run() }
            queue.addOperation(BlockOperation { run() })
            queue.addOperation(Work { run() })
        }
        await queue.drained()
        #expect(count.count == 90 && running.withLock { $0.most } == 1)
        #expect(queue.limiter.inFlightCount == 0)
    }

    @Test func `A foreign operation and an attempt share the bound`() async throws {
        let queue = Self.queue(width: 1)
        let door = DispatchSemaphore(value: 0)
        let began = Door()
        queue.addOperation(
            BlockOperation {
                began.open()
                door.wait()
            })
        await began.pass()
        let transport = ScriptedTransport([.body(Data())])
        let request = Self.request(.over(transport))
        queue.addOperation(request)
        await eventually { queue.limiter.waitingCount == 1 }
        #expect(transport.requests.isEmpty)
        door.signal()
        _ = try await request.value
    }

    @Test func `The bound for each host holds for requests only`() async throws {
        let queue = Self.queue(width: 2)
        queue.limiter.perHost = 1
        let (one, other) = (Door(), Door())
        let operations = [(one, other), (other, one)].map { mine, others in
            Work {
                mine.open()
                await others.pass()
            }
        }
        for operation in operations { queue.addOperation(operation) }
        for operation in operations { try await operation.value }
    }

    @Test func `An operation that is not ready holds no place`() async throws {
        let queue = Self.queue(width: 1)
        let first = Work { 1 }
        let foreign = BlockOperation {}
        let second = Work { 2 }
        foreign.addDependency(first)
        second.addDependency(foreign)
        queue.addOperation(second)
        queue.addOperation(foreign)
        queue.addOperation(first)
        #expect(try await second.value == 2)
    }

    @Test func `A dependency added during the wait for a place is waited for`() async throws {
        let queue = Self.queue(width: 0)
        let order = Collector<Int>()
        let first = Work { order.append(1) }
        let ours = Work { order.append(2) }
        let foreign = BlockOperation { order.append(3) }
        queue.addOperation(ours)
        queue.addOperation(foreign)
        ours.addDependency(first)
        foreign.addDependency(ours)
        queue.maxConcurrentOperationCount = 1
        queue.addOperation(first)
        await queue.drained()
        #expect(order.elements == [1, 2, 3])
    }

    @Test func `Those of a higher priority come first`() async {
        let queue = Self.queue(width: 0)
        let order = Collector<String>()
        for (name, priority) in [
            ("low", Operation.QueuePriority.low), ("a", .normal), ("high", .veryHigh), ("b", .normal),
        ] {
            let operation = BlockOperation { order.append(name) }
            operation.queuePriority = priority
            queue.addOperation(operation)
        }
        queue.maxConcurrentOperationCount = 1
        await queue.drained()
        #expect(order.elements == ["high", "a", "b", "low"])
    }

    @Test func `Requests and other operations share one line`() async throws {
        let queue = Self.queue(width: 0)
        let order = Collector<String>()
        for number in 0..<20 {
            if number.isMultiple(of: 2) {
                queue.addOperation { order.append("\(number)") }
            } else {
                let configuration = RequestConfiguration.scripted([
                    .dynamic { _ in
                        order.append("\(number)")
                        return .body(Data())
                    }
                ])
                queue.addOperation(Self.request(configuration))
            }
        }
        #expect(queue.limiter.waitingCount == 20)
        queue.maxConcurrentOperationCount = 1
        await queue.drained()
        #expect(order.elements == (0..<20).map(String.init))
    }

    @Test func `A higher priority comes first also of those who came later`() async throws {
        let queue = Self.queue(width: 0)
        let order = Collector<String>()
        let low = BlockOperation { order.append("low") }
        low.queuePriority = .low
        queue.addOperation(low)
        let configuration = RequestConfiguration.scripted([
            .dynamic { _ in
                order.append("request")
                return .body(Data())
            }
        ])
        queue.addOperation(Self.request(configuration))
        await eventually { queue.limiter.waitingCount == 2 }
        let high = Work { order.append("high") }
        high.queuePriority = .high
        queue.addOperation(high)
        queue.maxConcurrentOperationCount = 1
        await queue.drained()
        #expect(order.elements == ["high", "request", "low"])
    }

    @Test func `A bound that is set while the queue is suspended holds for what is in it`() async {
        let queue = RequestQueue()
        queue.isSuspended = true
        let running = Locked((now: 0, most: 0))
        @Sendable func run() {
            running.withLock { running in
                running.now += 1
                running.most = max(running.most, running.now)
            }
            // Gives other threads the chance to run beside this one.
            for _ in 0..<100 { sched_yield() }
            running.withLock { $0.now -= 1 }
        }
        for _ in 0..<20 {
            queue.addOperation { run() }
            queue.addOperation(BlockOperation { run() })
            queue.addOperation(Work { run() })
        }
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = false
        await queue.drained()
        #expect(running.withLock { $0.most } == 1)
    }

    @Test func `The line of a queue rejects nobody`() async throws {
        let queue = Self.queue(width: 0)
        queue.limiter.maximumWaiting = 0
        let request = Self.request(.scripted([.body(Data())]))
        let work = Work { 1 }
        queue.addOperation(request)
        queue.addOperation(work)
        queue.maxConcurrentOperationCount = 1
        _ = try await request.value
        #expect(try await work.value == 1)
    }

    @Test func `Whom a full line of a limiter rejects gives its place back`() async throws {
        let queue = Self.queue(width: 1)
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.retryPolicy = .none
        let limiter = RequestLimiter(total: 1, maximumWaiting: 0)
        configuration.limiter = limiter
        let held = limiter.hold()
        let rejected = Self.request(configuration)
        queue.addOperation(rejected)
        let error = await #expect(throws: RequestError.self) { _ = try await rejected.value }
        #expect(error?.code == .slotRejected && queue.limiter.inFlightCount == 0)
        held?.release()
    }

    @Test func `An operation that is cancelled while it waits for a place finishes at once`() async throws {
        let queue = Self.queue(width: 0)
        let operation = Work {}
        queue.addOperation(operation)
        operation.cancel()
        await queue.drained()
        #expect(operation.isFinished)
    }

    @Test func `Taking the bound away admits all who wait`() async {
        let queue = Self.queue(width: 0)
        let count = Collector<Int>()
        for number in 0..<100 { queue.addOperation(Work { count.append(number) }) }
        queue.maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
        await queue.drained()
        #expect(count.count == 100)
    }
}
