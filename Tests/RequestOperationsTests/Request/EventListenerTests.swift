import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct EventListenerTests {
    private func configuration(_ answers: [ScriptedTransport.Answer], retries: Int = 2) -> RequestConfiguration {
        var configuration = RequestConfiguration.scripted(answers)
        configuration.retryPolicy = RetryPolicy(maximumRetries: retries, backoff: .constant(.zero, jitter: .none))
        configuration.retryPolicy.budget = nil
        configuration.hosts = HostRegistry()
        return configuration
    }

    private let url = URL(string: "http://example.invalid/a?token=s3cret&page=2")!  // A literal.

    // MARK: What an event says

    @Test func `An event says which request and attempt it is of, and when it happened`() async throws {
        let events = Collector<RequestEvent>()
        var configuration = configuration([.status(503), .body(Data())])
        configuration.onEvent = { events.append($0) }
        let before = Date()
        let operation = URLRequestOperation(url, configuration: configuration)
        _ = try await run(operation)
        await events.count(10)
        let all = events.elements
        #expect(all.map(\.attempt) == [nil, 1, 1, 1, 1, 1, 1, 2, 2, 2])
        #expect(all.allSatisfy { $0.id == operation.id && $0.method == "GET" && $0.missed == 0 })
        #expect(Set(all.map(\.url)) == ["http://example.invalid/a?token=redacted&page=2"])
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.elapsed <= $1.elapsed && $0.date <= $1.date })
        #expect(all.allSatisfy { (before...Date()).contains($0.date) })
    }

    @Test func `An event of other work has its name and no URL`() async throws {
        let events = Collector<RequestEvent>()
        var configuration = configuration([.status(204)])
        configuration.onEvent = { events.append($0) }
        _ = try await run(RetryingOperation<Int>(named: "sum", configuration: configuration) { _ in 3 })
        await events.count(3)
        #expect(events.elements.allSatisfy { $0.method == "sum" && $0.url.isEmpty })
    }

    // MARK: Slow listeners

    @Test func `A listener that blocks delays no request, and hears all steps afterwards`() async throws {
        let steps = Collector<String>()
        let mayGoOn = DispatchSemaphore(value: 0)
        var configuration = configuration([.status(503), .body(Data())])
        configuration.onEvent = { event in
            if case .began = event.step { mayGoOn.wait() }
            steps.append(event.step.name)
        }
        _ = try await run(URLRequestOperation(url, configuration: configuration))
        #expect(steps.count == 0)
        mayGoOn.signal()
        await steps.count(10)
        #expect(
            steps.elements == [
                "began", "attemptBegan", "head", "attemptFailed", "decided", "waits", "woke", "attemptBegan", "head",
                "ended",
            ])
    }

    @Test func `A listener runs once at a time over all copies of its configuration`() async throws {
        let running = Locked((now: 0, most: 0, isFirst: Bool?.some(true)))
        let mayGoOn = DispatchSemaphore(value: 0)
        var configuration = configuration([.body(Data())])
        configuration.onEvent = { event in
            running.withLock { ($0.now, $0.most) = ($0.now + 1, max($0.most, $0.now + 1)) }
            // All requests end while the first event is being heard.
            if case .began = event.step, running.withLock({ $0.isFirst.take() ?? false }) { mayGoOn.wait() }
            running.withLock { $0.now -= 1 }
        }
        let queue = OperationQueue()
        let operations = (0..<64).map { number in
            URLRequestOperation(url, configuration: configuration.with { $0.maximumBodySize = number + 1 })
        }
        for operation in operations { queue.addOperation(operation) }
        for operation in operations { _ = try await operation.value }
        mayGoOn.signal()
        await configuration.deliverEvents()
        #expect(running.withLock { $0.most } == 1)
    }

    @Test func `Beyond 10,000 waiting events new ones are dropped and counted, but no end is`() async throws {
        let heard = Collector<RequestEvent>()
        let mayGoOn = DispatchSemaphore(value: 0)
        var configuration = configuration([.status(503)], retries: 100)
        configuration.onEvent = { event in
            if heard.count(appending: event) == 1 { mayGoOn.wait() }
        }
        let queue = OperationQueue()
        let operations = (0..<25).map { _ in URLRequestOperation(url, configuration: configuration) }
        for operation in operations { queue.addOperation(operation) }
        for operation in operations { _ = try? await operation.value }
        mayGoOn.signal()
        await eventually { heard.elements.count { $0.step.name == "ended" } == 25 }
        let missed = heard.elements.reduce(0) { $0 + $1.missed }
        // Each attempt has six steps, and the last one the first four of them.
        #expect(heard.count + missed == 25 * (2 + 100 * 6 + 4) && missed > 0)
        #expect(heard.count <= 10_000 + 1 + 25)
    }

    // MARK: The log

    @Test func `A log has a line of JSON for each step, without secrets, after what was there`() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("first\n".utf8).write(to: file)
        let log = try EventLog(appendingTo: file)
        var configuration = configuration([
            .status(503, fields: [("X-Secret", "s3cret")]), .status(302, fields: [("Location", "/b?token=s3cret")]),
            .body(Data("s3cret".utf8)),
        ])
        let hasEnded = Door()
        configuration.onEvent = { event in
            log.write(event)
            if case .ended = event.step { hasEnded.open() }
        }
        _ = try await run(URLRequestOperation(url, configuration: configuration))
        await hasEnded.pass()
        let text = try String(contentsOf: file, encoding: .utf8)
        let lines = text.split(separator: "\n")
        #expect(lines.first == "first" && !text.contains("s3cret") && log.failure == nil)
        let objects = try lines.dropFirst().map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(
            objects.map { $0["event"] as? String } == [
                "began", "attemptBegan", "head", "attemptFailed", "decided", "waits", "woke", "attemptBegan",
                "redirected", "head", "ended",
            ])
        #expect(objects.allSatisfy { $0["method"] as? String == "GET" && $0["date"] is String })
        #expect(objects[2]["status"] as? Int == 503 && objects[3]["code"] as? String == "unacceptableStatus")
        #expect(objects[5]["reason"] as? String == "backoff" && objects[5]["seconds"] as? Double == 0)
        #expect(objects[8]["target"] as? String == "http://example.invalid/b?token=redacted")
        #expect(objects[10]["outcome"] as? String == "succeeded" && objects[10]["attempt"] as? Int == 2)
    }

    @Test func `A log that cannot be opened is a POSIX error`() {
        let file = URL(fileURLWithPath: "/nowhere/\(UUID().uuidString)/log")
        #expect(throws: POSIXError(.ENOENT)) { try EventLog(appendingTo: file) }
    }

    #if os(Linux)
        @Test func `A log on a full disk says so and breaks no request`() async throws {
            let log = try EventLog(appendingTo: URL(fileURLWithPath: "/dev/full"))
            var configuration = configuration([.body(Data())])
            configuration.onEvent = log.write
            _ = try await run(URLRequestOperation(url, configuration: configuration))
            await configuration.deliverEvents()
            #expect(log.failure != nil)
        }
    #endif
}
