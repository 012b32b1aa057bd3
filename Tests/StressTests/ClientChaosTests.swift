import RequestOperations
import RequestOperationsTesting
import Testing

/// Requests, batches and chains of one client that fail, are retried and are cancelled at any moment. Each ends once, and the
/// callbacks of each come in their order.
@Suite(.timeLimit(.minutes(15))) struct ClientChaosTests {
    /// Notes the steps of each submission.
    private final class Watcher: RequestObserver {
        let ended = Collector<RequestID>()
        let lateSteps = Collector<RequestID>()

        func submission(_ submission: Submission, didReport event: RequestEvent) {
            if ended.elements.contains(submission.id) { lateSteps.append(submission.id) }
        }

        func submission(_ submission: Submission, didEndWith error: (any Error)?) {
            ended.append(submission.id)
        }
    }

    private static let answers: [ScriptedTransport.Answer] = [
        .dynamic { _ in
            switch Int.random(in: 0..<10) {
            case 0..<6: return .body(Data("1".utf8))
            case 6, 7: return .status(503)
            case 8: return .status(404)
            default: return .stall
            }
        }
    ]

    private func client(isConcurrent: Bool) -> RequestClient {
        var configuration = RequestConfiguration.over(ScriptedTransport(Self.answers, recordsRequests: false))
        configuration.hosts = HostRegistry()
        configuration.retryPolicy.budget = nil
        configuration.retryPolicy.backoff = .constant(.microseconds(100))
        let client = RequestClient(baseURL: URL(string: "http://example.invalid"), configuration: configuration)
        if isConcurrent { client.callbackQueue = DispatchQueue(label: "callbacks", attributes: .concurrent) }
        client.queue.maxConcurrentOperationCount = Int.random(in: 1...8)
        return client
    }

    /// Waits until nothing is left. Members that never began are there until their batch is freed, which nothing announces.
    private func isEmptied(_ client: RequestClient) async -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while !client.submissions.isEmpty, ContinuousClock.now < end { await Task.yield() }
        return client.submissions.isEmpty
    }

    /// Submits something at random. Calls a closure once it has called back.
    private func submit(_ number: Int, to client: RequestClient, _ done: @escaping @Sendable () -> Void) -> RequestID {
        let operation = client.operation(.get, "\(number)", as: Data.self) { $0.tag = "\(number % 3)" }
        switch Int.random(in: 0..<4) {
        case 0:
            let members = [operation] + (0..<3).map { client.operation(.get, "\(number)-\($0)", as: Data.self) }
            let policy = [RequestBatch<Data>.Policy.failFast, .collectAll, .quorum(2)].randomElement() ?? .failFast
            return client.batch(members, policy: policy) { _ in done() }
        case 1:
            return client.chain(operation.then { _ in client.operation(.get, "next", as: Data.self) }) { _ in done() }
        default: return client.submit(operation) { _ in done() }
        }
    }

    @Test(arguments: [false, true]) func `Everything ends once and in order`(isConcurrent: Bool) async throws {
        for _ in 0..<Stress.rounds(200, shortened: 5) {
            let client = client(isConcurrent: isConcurrent)
            let watcher = Watcher()
            client.addObserver(watcher)
            let done = Collector<Bool>()
            let count = 40
            let ids = await withTaskGroup(of: RequestID.self) { group in
                for number in 0..<count {
                    group.addTask {
                        let known = Collector<RequestID>()
                        let id = submit(number, to: client) {
                            // The observers were told before. The identifier may not be known yet.
                            done.append(known.elements.allSatisfy { watcher.ended.elements.contains($0) })
                        }
                        known.append(id)
                        if number % 4 == 0 { client.cancel(id) }
                        if number % 17 == 0 { client.cancelAll(tag: "1") }
                        return id
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            await client.shutdown(draining: .milliseconds(20))
            await done.count(count)
            let ended = watcher.ended.elements
            #expect(Set(ended).count == ended.count && Set(ended).isSuperset(of: ids))
            #expect(done.elements.allSatisfy { $0 } && watcher.lateSteps.count == 0)
            #expect(await isEmptied(client))
        }
    }

    @Test func `Calls that share and leave end once`() async throws {
        for _ in 0..<Stress.rounds(200, shortened: 5) {
            let client = client(isConcurrent: false)
            client.sharesIdenticalRequests = true
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        let call = Task { try await client.get("\(number % 3)", as: Data.self) }
                        if !number.isMultiple(of: 3) { await Task.yield() }
                        // The server never answers some of them.
                        call.cancel()
                        _ = await call.result
                    }
                }
            }
            await client.shutdown()
            #expect(await isEmptied(client))
        }
    }
}
