import RequestOperations
import RequestOperationsTesting
import Testing

/// The links of a chain use the queue in which the chain has its place.
@Suite(.timeLimit(.minutes(15))) struct RequestChainQueueTests {
    /// What a link runs on an operation queue.
    enum Use: CaseIterable {
        case adapter, processing, decision, decoder
    }

    private static func queue(width: Int) -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        return queue
    }

    private static func link(_ use: Use, on queue: OperationQueue) -> URLRequestOperation<String> {
        var configuration = RequestConfiguration.scripted(
            (use == .decision ? [.status(503)] : []) + [.body(Data("x".utf8))])
        configuration.retryPolicy.backoff = .constant(.zero)
        var decoder = ResponseDecoder<String>.string
        switch use {
        case .adapter: configuration.adapters = [.edit { $0.setValue("1", forHTTPHeaderField: "X-Edited") }.on(queue)]
        case .processing: configuration.setQueue(queue, for: .process)
        case .decision: configuration.setQueue(queue, for: .retryDecision)
        case .decoder: decoder = decoder.on(queue)
        }
        return URLRequestOperation(anyRequest, decoder: decoder, configuration: configuration)
    }

    @Test(arguments: Use.allCases)
    func `A queue of width one runs what the first link of its chain runs on it`(use: Use) async throws {
        let queue = Self.queue(width: 1)
        let chain = Self.link(use, on: queue).then { text in Work { text + "y" } }
        queue.addOperation(chain)
        #expect(try await chain.value == "xy")
    }

    @Test(arguments: Use.allCases)
    func `A queue of width one runs what a next link made before runs on it`(use: Use) async throws {
        let queue = Self.queue(width: 1)
        let next = Self.link(use, on: queue)
        let chain = Work {}.then { next }
        queue.addOperation(chain)
        #expect(try await chain.value == "x")
    }

    @Test func `A full queue runs what the first links of its chains run on it`() async throws {
        let queue = Self.queue(width: 4)
        queue.isSuspended = true
        let chains = (0..<4).map { _ in Self.link(.adapter, on: queue).then { text in Work { text } } }
        for chain in chains { queue.addOperation(chain) }
        queue.isSuspended = false
        for chain in chains { #expect(try await chain.value == "x") }
    }

    @Test(arguments: Use.allCases)
    func `The main queue runs what the first link of its chain runs on it`(use: Use) async throws {
        let chain = Self.link(use, on: .main).then { text in Work { text } }
        OperationQueue.main.addOperation(chain)
        #expect(try await chain.value == "x")
    }

    @Test func `A chain of chains gives its place to its innermost link`() async throws {
        let queue = Self.queue(width: 1)
        let chain = Self.link(.adapter, on: queue).then { text in Work { text + "y" } }
            .then { text in Work { text + "z" } }
        queue.addOperation(chain)
        #expect(try await chain.value == "xyz")
    }

    @Test func `A link that waited for a dependency has the place of its chain`() async throws {
        let queue = Self.queue(width: 1)
        let first = Self.link(.adapter, on: queue)
        let dependency = Work {}
        first.addDependency(dependency)
        let chain = first.then { text in Work { text } }
        queue.addOperation(chain)
        OperationQueue().addOperation(dependency)
        #expect(try await chain.value == "x")
    }

    @Test func `What a link runs on another queue runs there`() async throws {
        let other = OperationQueue()
        let seen = Locked<OperationQueue?>(nil)
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.adapters = [.edit { _ in seen.withLock { $0 = .current } }.on(other)]
        let chain = URLRequestOperation(anyRequest, configuration: configuration).then { _ in Work {} }
        let queue = Self.queue(width: 1)
        queue.addOperation(chain)
        try await chain.value
        #expect(seen.withLock { $0 } === other)
    }
}
