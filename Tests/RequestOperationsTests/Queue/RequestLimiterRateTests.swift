import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct RequestLimiterRateTests {
    private static let url = URL(string: "http://a.example/")!  // It is one.
    private static let other = URL(string: "http://b.example/")!  // It is one.

    /// Operations over a transport that answers at once, on a clock of their own.
    private struct Trial {
        let clock = ManualClock()
        let transport: ScriptedTransport
        let queue = OperationQueue()
        var configuration = RequestConfiguration()

        init(
            rate: RequestLimiter.Rate?, per scope: RequestLimiter.RateScope = .host, total: Int? = nil,
            _ script: [ScriptedTransport.Answer]
        ) {
            transport = ScriptedTransport(script)
            configuration.transport = transport
            configuration.clock = clock
            configuration.limiter = RequestLimiter(total: total, rate: rate, per: scope, clock: clock)
        }

        func add(_ url: URL = RequestLimiterRateTests.url) -> URLRequestOperation<Data> {
            let operation = URLRequestOperation(url, configuration: configuration)
            queue.addOperation(operation)
            return operation
        }
    }

    private static func answers(_ count: Int) -> [ScriptedTransport.Answer] {
        Array(repeating: .body(Data("x".utf8)), count: count)
    }

    @Test func `Ten requests at ten a second take nine tenths of a second`() async throws {
        let trial = Trial(rate: .perSecond(10), Self.answers(10))
        let operations = (1...10).map { _ in trial.add() }
        // The queue starts them on several threads, so any of them may take the first turn.
        await eventually { trial.transport.requests.count == 1 }
        for number in 1...9 {
            await trial.clock.sleepers(1)
            await eventually { trial.configuration.limiter?.waitingCount == 10 - number }
            trial.clock.advance(by: .milliseconds(99))
            #expect(trial.transport.requests.count == number)
            trial.clock.advance(by: .milliseconds(1))
            await eventually { trial.transport.requests.count == number + 1 }
        }
        for operation in operations { _ = try await operation.value }
        #expect(trial.clock.now.offset == .milliseconds(900))
    }

    @Test func `A rate per host keeps no request to another host waiting`() async throws {
        let trial = Trial(rate: .perSecond(1), Self.answers(2))
        _ = try await trial.add().value
        let waiting = trial.add()
        await eventually { trial.configuration.limiter?.waitingCount == 1 }
        _ = try await trial.add(Self.other).value
        #expect(!waiting.isFinished)
        waiting.cancel()
    }

    @Test func `A rate for all bounds the requests to all hosts together`() async throws {
        let trial = Trial(rate: .perSecond(1), per: .all, Self.answers(2))
        _ = try await trial.add().value
        let waiting = trial.add(Self.other)
        await eventually { trial.configuration.limiter?.waitingCount == 1 }
        await trial.clock.sleepers(1)
        trial.clock.advance(by: .seconds(1))
        _ = try await waiting.value
    }

    @Test func `A request that waits for its time holds no slot`() async throws {
        let trial = Trial(rate: .perSecond(1), total: 1, Self.answers(2))
        _ = try await trial.add().value
        let waiting = trial.add()
        await eventually { trial.configuration.limiter?.waitingCount == 1 }
        #expect(trial.configuration.limiter?.inFlightCount == 0)
        waiting.cancel()
    }

    @Test func `One that is cancelled while it waits takes no turn`() async throws {
        let trial = Trial(rate: .perSecond(1), Self.answers(2))
        _ = try await trial.add().value
        let cancelled = trial.add()
        await eventually { trial.configuration.limiter?.waitingCount == 1 }
        let next = trial.add()
        await eventually { trial.configuration.limiter?.waitingCount == 2 }
        cancelled.cancel()
        await eventually { trial.configuration.limiter?.waitingCount == 1 }
        await trial.clock.sleepers(1)
        trial.clock.advance(by: .seconds(1))
        _ = try await next.value
    }

    @Test func `A rate that is taken away releases all who wait`() async throws {
        let trial = Trial(rate: .perSecond(0.001), Self.answers(4))
        let operations = (1...4).map { _ in trial.add() }
        await eventually { trial.configuration.limiter?.waitingCount == 3 }
        trial.configuration.limiter?.rate = nil
        for operation in operations { _ = try await operation.value }
        #expect(trial.configuration.limiter?.rate == nil)
    }

    @Test func `A retry takes its turn too`() async throws {
        var trial = Trial(rate: .perSecond(0.1), [.status(503), .body(Data())])
        trial.configuration.retryPolicy = RetryPolicy(maximumRetries: 1, backoff: .constant(.seconds(1)))
        let operation = trial.add()
        await trial.clock.sleepers(1)
        trial.clock.advance(by: .seconds(1))
        await eventually { trial.configuration.limiter?.waitingCount == 1 }
        await trial.clock.sleepers(1)
        trial.clock.advance(by: .seconds(9))
        _ = try await operation.value
        #expect(trial.transport.requests.count == 2)
    }

    @Test func `A slot that is only passed on by a wait for two limiters takes no turn`() async throws {
        let trial = Trial(rate: .perSecond(0.001), total: 1, Self.answers(1))
        let limiter = try #require(trial.configuration.limiter)
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 1
        let held = limiter.slotAtOnce(for: Origin(Self.other))
        let operation = URLRequestOperation(Self.url, configuration: trial.configuration)
        queue.addOperation(operation)
        await eventually { limiter.waitingCount == 1 && queue.limiter.inFlightCount == 0 }
        // It gets the slot of the limiter, and finds that the queue has none.
        let heldOfQueue = try #require(queue.limiter.slotAtOnce(for: Origin(nil)))
        held?.release()
        await eventually { queue.limiter.waitingCount == 1 && limiter.inFlightCount == 0 }
        heldOfQueue.release()
        // Had it taken a turn, it would wait for its next one in the line of the limiter.
        await eventually { operation.isFinished || limiter.waitingCount == 1 }
        #expect(limiter.waitingCount == 0)
        operation.cancel()
        await end(of: operation)
    }

    @Test func `A host that answers 429 gets the rate that it accepts`() async throws {
        let clock = ManualClock()
        let limiter = RequestLimiter(adaptsToTooManyRequests: true, clock: clock)
        for _ in 0..<4 { limiter.heard(200, from: Self.url) }
        limiter.heard(429, from: Self.url)
        let origin = Origin(Self.url)
        #expect(limiter.slotAtOnce(for: origin) == nil)
        clock.advance(by: .milliseconds(250))
        #expect(limiter.slotAtOnce(for: origin) != nil)
        #expect(limiter.slotAtOnce(for: origin) == nil)
        #expect(limiter.slotAtOnce(for: Origin(Self.other)) != nil)
    }

    @Test func `The limiter of a queue hears of responses`() async throws {
        let clock = ManualClock()
        let queue = RequestQueue(limiter: RequestLimiter(adaptsToTooManyRequests: true, clock: clock))
        var configuration = RequestConfiguration.scripted([.status(429)])
        configuration.clock = clock
        configuration.retryPolicy.maximumRetries = 0
        let operation = URLRequestOperation(Self.url, configuration: configuration)
        queue.addOperation(operation)
        await end(of: operation)
        #expect(queue.limiter.slotAtOnce(for: Origin(Self.url)) == nil)
        #expect(queue.limiter.slotAtOnce(for: Origin(Self.other)) != nil)
    }

    @Test func `A limiter that a queue and a configuration share hears of each response once`() async throws {
        let clock = ManualClock()
        let limiter = RequestLimiter(adaptsToTooManyRequests: true, clock: clock)
        let queue = RequestQueue(limiter: limiter)
        var configuration = RequestConfiguration.scripted(Self.answers(4))
        configuration.clock = clock
        configuration.limiter = limiter
        for _ in 1...4 {
            let operation = URLRequestOperation(Self.url, configuration: configuration)
            queue.addOperation(operation)
            _ = try await operation.value
        }
        limiter.heard(429, from: Self.url)
        clock.advance(by: .milliseconds(249))
        #expect(limiter.slotAtOnce(for: Origin(Self.url)) == nil)
        clock.advance(by: .milliseconds(1))
        #expect(limiter.slotAtOnce(for: Origin(Self.url)) != nil)
    }

    @Test func `Hosts that nobody asks any more are forgotten`() {
        let clock = ManualClock()
        let limiter = RequestLimiter(rate: .perSecond(1), adaptsToTooManyRequests: true, clock: clock)
        for host in 0..<1000 {
            let url = URL(string: "http://h\(host).example/")
            limiter.heard(429, from: url)
            clock.advance(by: .seconds(10))
            limiter.slotAtOnce(for: Origin(url))?.release()
            limiter.heard(200, from: url)
        }
        #expect(limiter.pacedHostCount <= 200)
    }

    @Test func `A rate has a description`() {
        #expect(String(describing: RequestLimiter.Rate.perSecond(10)) == "10.0 per second")
        #expect(String(describing: RequestLimiter.Rate.perSecond(0.5, burst: 3)) == "0.5 per second, 3 at once")
    }
}
