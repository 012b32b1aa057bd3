import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite struct HostTableTests {
    private static let breaker = CircuitBreaker(minimumThroughput: 100)

    private var table = HostTable()

    private func origin(_ text: String) -> Origin { Origin(URL(string: text)) }

    /// Takes retries of a host, so that it is known.
    private mutating func use(
        _ text: String, _ count: Int = 1, at now: Int64 = 0, under budget: RetryBudget = .tokens()
    ) {
        table.visit(origin(text), at: now) { host in
            for _ in 0..<count { _ = host.take(1, from: budget, within: 0, at: now) }
        }
    }

    /// How many retries of a host have been taken.
    private mutating func used(_ text: String, at now: Int64 = 0) -> Int {
        table.visit(origin(text), at: now) { 500 - $0.bucket(of: .tokens(), at: now).balance(at: now) }
    }

    @Test(
        arguments: [
            "http://a.example", "http://a.example/", "http://a.example/x/y?z#f", "http://a.example?q",
            "http://a.example#f",
            "http://A.example/", "HTTP://a.example/", "http://a.example:80/", "http://user@a.example/",
            "http://u:p@a.example:80/x",
        ])
    mutating func `All spellings of an origin have one entry`(text: String) {
        use("http://a.example/")
        use(text, 3)
        #expect(table.count == 1)
        let used = used(text)
        #expect(used == 4)
    }

    @Test(
        arguments: [
            "https://a.example/", "http://a.example:8080/", "http://b.example/", "http://a.example.b/",
            "http://a.exampl/",
            "http://b.example/http://a.example/", "http://b.example?http://a.example/", "http://a.example@b.example/",
        ])
    mutating func `Another origin has another entry`(text: String) {
        use("http://a.example/")
        let before = used(text)
        use(text, 2)
        let (first, second) = (used("http://a.example/"), used(text))
        #expect(before == 0 && first == 1 && second == 2)
    }

    @Test mutating func `A request without a URL has an entry too`() {
        for _ in 1...2 { use("") }
        let used = used("")
        #expect(used == 2)
    }

    @Test mutating func `A host of which nothing bad is known has no entry`() {
        let now: Int64 = 5
        table.visit(origin("http://a.example/"), at: now) { host in
            host.countRequest(under: RetryBudget(), at: now)
            _ = host.admit(knowing: 0, counting: RetryBudget(), asking: nil, at: now)
            _ = host.hear(.success, at: now)
            _ = host.circuit(Self.breaker).state(at: now)
            _ = host.bucket(of: RetryBudget(), at: now).balance(at: now)
            _ = host.timeLeftAlone(at: now)
        }
        #expect(table.count == 0)
    }

    @Test mutating func `Idle entries make room for others`() {
        for number in 0..<1000 {
            // A budget of a window of ten seconds, and one of half a day.
            use("http://h\(number).example/", at: Int64(number) * 11_000_000_000, under: RetryBudget())
            if number.isMultiple(of: 100) { use("http://h\(number).example/") }
        }
        #expect(table.count <= 64)
        for number in stride(from: 0, to: 1000, by: 100) {
            let used = used("http://h\(number).example/")
            #expect(used == 1)
        }
    }

    @Test mutating func `Entries that are not idle all stay`() {
        for number in 0..<1000 { use("http://h\(number).example/") }
        #expect(table.count == 1000)
    }

    @Test mutating func `What is idle is dropped within an hour also where there is room`() {
        for number in 0..<10 {
            use("http://h\(number).example/", under: number.isMultiple(of: 2) ? RetryBudget() : .tokens())
        }
        _ = used("http://h1.example/", at: HostMemory.sweepInterval - 1)
        #expect(table.count == 10)
        _ = used("http://h1.example/", at: HostMemory.sweepInterval)
        #expect(table.count == 5)
    }

    @Test mutating func `A room in which nobody waits is kept for an hour`() {
        let (host, other) = (origin("http://a.example/"), origin("http://b.example/"))
        let number = table.visit(host, at: 0) { $0.join({ _ in false }, notBefore: 0, at: 0) }
        _ = table.visit(host, at: 1) { $0.leave(number) }
        table.visit(other, at: HostMemory.sweepInterval - 1) { _ in }
        #expect(table.count == 1)
        table.visit(other, at: 2 * HostMemory.sweepInterval) { _ in }
        #expect(table.count == 0)
    }
}

@Suite(.timeLimit(.minutes(5))) struct HostRegistryTests {
    /// How often a request that succeeds takes the lock of its registry, which reads the clock each time.
    private func visits(_ queue: OperationQueue, limiter: RequestLimiter? = nil) async throws -> Int {
        let reads = Collector<Void>()
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.hosts = HostRegistry(clock: AskingClock { reads.append(()) })
        configuration.retryPolicy = .default
        configuration.limiter = limiter
        let before = reads.count
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        queue.addOperation(operation)
        _ = try await operation.value
        return reads.count - before
    }

    @Test func `A request to a host of which nothing is known asks for it once`() async throws {
        #expect(try await visits(OperationQueue()) == 1)
        #expect(try await visits(RequestQueue()) == 1)
    }

    @Test func `Who waits for a sign is released by the clock of the registry`() async {
        let clock = ManualClock()
        let released = Collector<Void>()
        let leave = HostRegistry(clock: clock).join(Origin(anyRequest.url), notBefore: .seconds(1), sign: 1) {
            release in
            release.finish(nil)
            released.append(())
            return true
        }
        await clock.sleepers(1)
        #expect(released.count == 0)
        clock.advance(by: .seconds(1))
        await eventually { released.count == 1 }
        leave()
    }

    @Test func `Before a request lines up for a slot it asks once more`() async throws {
        #expect(try await visits(OperationQueue(), limiter: RequestLimiter(total: 1)) == 2)
    }
}
