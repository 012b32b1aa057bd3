import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.serialized, .timeLimit(.minutes(15))) struct BatchTests {
    /// Answers every request at once.
    private struct Echo: Transport {
        func perform(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse {
            let head = ResponseHead(status: 200, url: task.request.url!)
            try onHead(head)
            return TransportResponse(head: head, body: Data("1".utf8))
        }
    }

    /// Over a million, what the memory of the process grows by counts. So this is alone in its process then, as `.ci/stress`
    /// runs it.
    @Test func `A batch over a lazy sequence holds only the requests that run and the results`() async throws {
        let count = Stress.rounds(1_000_000, shortened: 1000)
        let configuration = RequestConfiguration.over(Echo())
        // A literal that is a URL.
        let request = URLRequest(url: URL(string: "http://example.invalid/")!)
        let batch = RequestBatch(
            each: (0..<count).lazy.map { _ in
                URLRequestOperation(request, decoder: .json(Int.self), configuration: configuration)
            }, policy: .collectAll, maximumConcurrency: 64)
        // The test program itself takes more memory than the batch.
        let before = ResidentMemory.now
        OperationQueue().addOperation(batch)
        let succeeded = try await batch.values.count
        #expect(succeeded == count)
        guard Stress.isFull, !Stress.isSanitized, let peak = ResidentMemory.peak() else { return }
        print("A batch of \(count) requests took at most \((peak - before) >> 20) MiB.")
        #expect(peak - before < 60_000_000)
    }

    // MARK: Policies

    private static let failing: Set<Int> = [3, 7, 11, 19, 23, 31, 43]

    /// The number of the request is its path.
    private static func number(of request: LoopbackServer.Request) -> Int {
        Int(request.target.dropFirst()) ?? 0
    }

    private func batch(_ policy: RequestBatch<Int>.Policy, at server: LoopbackServer) -> RequestBatch<Int> {
        var configuration = RequestConfiguration()
        configuration.retryPolicy = .none
        configuration.hosts = HostRegistry()
        return RequestBatch(
            (0..<50).map { number in
                URLRequestOperation(
                    URLRequest(url: server.url("/\(number)")), decoder: .json(Int.self), configuration: configuration)
            }, policy: policy)
    }

    @Test(arguments: [RequestBatch<Int>.Policy.failFast, .collectAll, .quorum(43), .quorum(44)])
    func `Of 50 requests, 7 of which fail, there are 50 results in order`(policy: RequestBatch<Int>.Policy) async throws
    {
        let server = try await LoopbackServer.start()
        defer { server.stop() }
        server.respond { request in
            let number = Self.number(of: request)
            return Self.failing.contains(number) ? .status(404) : .json("\(number)")
        }
        let batch = batch(policy, at: server)
        OperationQueue().addOperation(batch)
        let results = await batch.results
        #expect(results.count == 50)
        for (number, result) in results.enumerated() {
            switch result {
            case .success(let value): #expect(value == number)
            case .failure(let error as RequestError):
                #expect(Self.failing.contains(number) && error.code == .unacceptableStatus)
            case .failure(let error): #expect(error is CancellationError && policy != .collectAll)
            }
        }
        if policy == .collectAll { #expect(results.count { (try? $0.get()) == nil } == 7) }
        #expect(((try? batch.result?.get()) != nil) == (policy == .collectAll || policy == .quorum(43)))
    }

    /// Beside the rest of the suite the bound of 100 ms does not hold.
    @Test func `The first failure ends the other requests and closes their connections`() async throws {
        let server = try await LoopbackServer.start()
        defer { server.stop() }
        let gate = LoopbackServer.Gate()
        server.respond { request in
            Self.failing.contains(Self.number(of: request)) ? .held(by: gate, then: .status(404)) : .stall
        }
        let batch = batch(.failFast, at: server)
        OperationQueue().addOperation(batch)
        try await server.requests(atLeast: 50)
        let instant = ContinuousClock.now
        gate.open()
        let results = await batch.results
        let end = instant.duration(to: .now)
        #expect(results.count == 50 && results.allSatisfy { (try? $0.get()) == nil })
        let closed = try await server.connectionsClosed(atLeast: 43)
        let last = closed.compactMap(\.endInstant).max().map { instant.duration(to: $0) } ?? .zero
        let bound: Duration = Stress.isFull && !Stress.isSanitized ? .milliseconds(100) : .seconds(30)
        #expect(end < bound && last < bound, "the end after \(end), the last connection after \(last)")
        if Stress.isFull { print("The batch ended after \(end), the last connection after \(last).") }
    }
}
