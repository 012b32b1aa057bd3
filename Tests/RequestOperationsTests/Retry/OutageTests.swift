import RequestOperations
import RequestOperationsTesting
import Testing

/// What becomes of many requests to a host that fails for a while, with everything that spares it.
@Suite(.timeLimit(.minutes(15))) struct OutageTests {
    @Test func `An outage ends without a herd`() async throws {
        let outage = Outage()
        let operations = (0..<1000).map { _ in outage.operation(to: "down") }
        let others = (0..<10).map { _ in outage.operation(to: "other") }
        outage.start(operations + others)
        await outage.clock.sleepers(1010)
        outage.clock.advance(by: Outage.backoff)
        // The budget: a hundred go on after their backoff, and fail again. The others wait for room, one after another.
        await outage.waits.count(2 * 1010)
        await outage.clock.sleepers(1010)
        let postponed = outage.waits.elements.filter { $0 != Outage.backoff }.sorted()
        #expect((890...900).contains(postponed.count))
        #expect(zip(postponed, postponed.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(99) })

        // Each success releases two, whether they had a retry or waited for one, while the clock stands still.
        outage.isUp.withLock { $0 = true }
        _ = try await run(outage.operation(to: "down"))
        await outage.finished.count(1001)
        #expect(operations.allSatisfy { (try? $0.result?.get()) != nil && $0.attempts.count <= 3 })
        #expect(operations.allSatisfy { $0.attempts.last?.wokenBy == .observer("HostRecoveryObserver") })
        #expect(others.allSatisfy { $0.attempts.count == 2 })

        outage.clock.advance(by: .seconds(300))
        await outage.finished.count(1011)
        #expect(others.allSatisfy { (try? $0.result?.get()) != nil && $0.attempts.count == 3 })
        #expect(outage.mostInFlight <= Outage.perHost)
    }
}

/// A host that is down, and all that the requests to it share.
private final class Outage: Sendable {
    static let perHost = 8
    static let backoff = Duration.seconds(5)

    let clock = ManualClock()
    let isUp = Locked(false)
    let waits = Collector<Duration>()
    let finished = Collector<Void>()
    /// At the host that is down.
    private let inFlight = Locked((now: 0, most: 0))
    private let configuration: RequestConfiguration

    var mostInFlight: Int { inFlight.withLock { $0.most } }

    init() {
        let (isUp, inFlight, waits) = (isUp, inFlight, waits)
        var configuration = RequestConfiguration.scripted([
            .dynamic { request in
                let counts = request.url?.host == "down.outage.invalid" ? 1 : 0
                inFlight.withLock { $0 = ($0.now + counts, max($0.most, $0.now + counts)) }
                await Task.yield()
                inFlight.withLock { $0.now -= counts }
                return isUp.withLock { $0 } ? .body(Data()) : .status(503)
            }
        ])
        configuration.clock = clock
        configuration.hosts = clock.hosts
        configuration.limiter = RequestLimiter(perHost: Self.perHost)
        configuration.retryPolicy = RetryPolicy(backoff: .constant(Self.backoff))
        configuration.onEvent = { event in
            if case .waits(let delay) = event.step { waits.append(delay) }
        }
        self.configuration = configuration
    }

    func operation(to host: String) -> URLRequestOperation<Data> {
        let operation = URLRequestOperation(
            URL(string: "http://\(host).outage.invalid/")!,  // Names of hosts make a URL.
            configuration: configuration)
        operation.whenFinished { [finished] _ in finished.append(()) }
        return operation
    }

    func start(_ operations: [Operation]) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = operations.count
        queue.addOperations(operations, waitUntilFinished: false)
    }
}
