import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct RequestObserverTests {
    private final class Observer: RequestObserver {
        let steps = Collector<String>()
        let ends = Collector<String>()

        func submission(_ submission: Submission, didReport event: RequestEvent) {
            steps.append("\(event.step)")
        }

        func submission(_ submission: Submission, didEndWith error: (any Error)?) {
            let name = submission.path ?? submission.operation.map { "\(type(of: $0))" } ?? ""
            ends.append("\(name) \(error == nil)")
        }
    }

    class BaseEndpoint: Endpoint {
        typealias Response = User
        var path: String { "base" }
        func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: AnyKey.self) }
        enum AnyKey: CodingKey { case none }
    }

    final class SubEndpoint: BaseEndpoint {
        override var path: String { "sub" }
        override func encode(to encoder: any Encoder) throws { try super.encode(to: encoder) }
    }

    private let client = RequestClient(over: ScriptedTransport([.user]))
    private let observer = Observer()

    /// Sends a request, and waits until everyone has been told of its end.
    private func send(_ operation: URLRequestOperation<User>) async {
        await withCheckedContinuation { continuation in
            client.submit(operation) { _ in continuation.resume() }
        }
    }

    private func send(_ path: String) async {
        await send(client.operation(.get, path, as: User.self))
    }

    @Test func `An observer of everything is told of each step and last of the end`() async {
        client.addObserver(observer)
        await send("a")
        #expect(observer.steps.elements.first == "began" && observer.ends.elements == ["a true"])
    }

    @Test func `An observer that comes while a request runs is told of its later steps`() async throws {
        let transport = ScriptedTransport([.stall])
        let client = RequestClient(over: transport)
        let operation = client.operation(.get, "a", as: User.self)
        client.submit(operation)
        await transport.requests(atLeast: 1)
        client.addObserver(observer)
        let events = client.events
        operation.cancel()
        await observer.ends.count(1)
        for await event in events {
            if case .ended = event.step { break }
        }
        #expect(observer.ends.elements == ["a false"])
    }

    @Test func `An observer of a path is told of its requests only, whatever their slashes`() async {
        client.addObserver(observer, path: "/a/")
        await send("a")
        await send("b")
        #expect(observer.ends.elements == ["a true"])
    }

    @Test func `An observer of one request is told of no other`() async {
        let operation = client.operation(.get, "a", as: User.self)
        client.addObserver(observer, for: operation.id)
        await send(operation)
        await send("a")
        #expect(observer.ends.elements == ["a true"])
    }

    @Test func `An observer that comes after the end removes no other`() async {
        let callbacks = DispatchQueue(label: "callbacks")
        client.callbackQueue = callbacks
        let operation = client.operation(.get, "a", as: User.self)
        client.addObserver(observer, for: operation.id)
        callbacks.suspend()
        client.submit(operation)
        await eventually { client.submission(operation.id) == nil }
        let late = Observer()
        client.addObserver(late, for: operation.id)
        callbacks.resume()
        await observer.ends.count(1)
        #expect(late.ends.elements.isEmpty && client.observerCount == 0 || late.steps.elements.isEmpty)
    }

    @Test func `An observer of an endpoint is told of its subclasses`() async {
        let (base, sub) = (Observer(), Observer())
        client.addObserver(base, endpoint: BaseEndpoint.self)
        client.addObserver(sub, endpoint: SubEndpoint.self)
        await send(client.operation(for: BaseEndpoint()))
        await send(client.operation(for: SubEndpoint()))
        await send("a")
        #expect(base.ends.elements == ["base true", "sub true"] && sub.ends.elements == ["sub true"])
    }

    @Test func `An observer that matches several times is told once`() async {
        let operation = client.operation(for: BaseEndpoint())
        client.addObserver(observer)
        client.addObserver(observer)
        client.addObserver(observer, path: "base")
        client.addObserver(observer, endpoint: BaseEndpoint.self)
        client.addObserver(observer, for: operation.id)
        await send(operation)
        #expect(observer.ends.count == 1)
    }

    @Test func `Observers are not kept`() async {
        weak var freed: Observer?
        do {
            let observer = Observer()
            freed = observer
            client.addObserver(observer)
        }
        await send("a")
        #expect(freed == nil && client.observerCount == 0)
    }

    @Test func `Observers of what has ended, or of what nobody keeps, are forgotten`() async {
        let operation = client.operation(.get, "a", as: User.self)
        await send(operation)
        client.addObserver(observer, for: operation.id)
        do {
            let unused = client.operation(.get, "a", as: User.self)
            client.addObserver(observer, for: unused.id)
        }
        #expect(client.observerCount == 0)
        for number in 0..<200 { client.addObserver(Observer(), path: "\(number)") }
        #expect(client.observerCount < 128)
    }

    @Test func `Observers are removed by object, path, type, submission or all at once`() async {
        let all: [(RequestClient) -> Void] = [
            { [observer] in $0.removeObserver(observer) },
            { $0.removeObservers(path: "base") },
            { $0.removeObservers(endpoint: BaseEndpoint.self) },
            { $0.removeAllObservers() },
        ]
        for remove in all {
            client.addObserver(observer, path: "base")
            client.addObserver(observer, endpoint: BaseEndpoint.self)
            remove(client)
            if client.observerCount == 0 { continue }
            await send(client.operation(for: BaseEndpoint()))
            client.removeAllObservers()
        }
        #expect(observer.ends.count == 2)
        let operation = client.operation(for: BaseEndpoint())
        client.addObserver(observer, for: operation.id)
        client.removeObservers(for: operation.id)
        #expect(client.observerCount == 0)
    }

    @Test func `Batches, chains and groups are observed`() async {
        let client = client
        let ended = Collector<Void>()
        client.addObserver(observer)
        client.batch([client.operation(.get, "a", as: User.self)]) { _ in ended.append(()) }
        await ended.count(1)
        client.chain(
            client.operation(.get, "b", as: User.self).then { _ in client.operation(.get, "c", as: User.self) }
        ) {
            _ in ended.append(())
        }
        await ended.count(2)
        client.submit([client.operation(.get, "d", as: User.self)].serialGroup()) { _ in ended.append(()) }
        await ended.count(3)
        #expect(
            observer.ends.elements == [
                "a true", "RequestBatch<User> true", "b true", "c true", "RequestChain<User> true", "d true",
                "RequestGroup true",
            ])
    }

    @Test func `A request that is cancelled before its start is observed`() async {
        let operation = client.operation(.get, "a", as: User.self)
        client.addObserver(observer)
        operation.cancel()
        await send(operation)
        #expect(observer.ends.elements == ["a false"])
    }

    // MARK: Order

    @Test(arguments: [true, false])
    func `Steps are told in order and completions come last`(isConcurrent: Bool) async {
        let client = RequestClient(over: ScriptedTransport([.status(503), .status(503), .user]))
        if isConcurrent { client.callbackQueue = DispatchQueue(label: "test", attributes: .concurrent) }
        client.addObserver(observer)
        let ended = Collector<Int>()
        let operation = client.operation(.get, "a", as: User.self)
        operation.subscribe(to: .retrying) { [observer] in observer.steps.append("retrying") }
        operation.subscribe(to: .finished) { [observer] in ended.append(observer.ends.count) }
        client.submit(operation) { [observer] _ in ended.append(observer.ends.count) }
        await ended.count(2)
        let steps = observer.steps.elements
        #expect(ended.elements == [1, 1] && steps.count { $0 == "retrying" } == 2)
        #expect(
            steps.filter { $0.hasPrefix("attempt ") || $0.hasPrefix("waits 0") }.map { $0.prefix(7) } == [
                "attempt", "waits 0", "attempt", "waits 0", "attempt",
            ])
    }

    @Test func `A subscription to retries is told while the request goes on`() async throws {
        let transport = ScriptedTransport([.status(503), .stall])
        let client = RequestClient(over: transport)
        let told = Collector<Void>()
        let operation = client.operation(.get, "a", as: User.self)
        operation.subscribe(to: .retrying) { told.append(()) }
        client.submit(operation)
        await told.count(1)
        await transport.requests(atLeast: 2)
        #expect(!operation.isFinished)
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
    }

    @Test func `A client that nobody keeps calls back all the same`() async {
        let ended = Collector<Void>()
        do {
            let client = RequestClient(over: ScriptedTransport([.user]))
            client.addObserver(observer)
            client.submit(client.operation(.get, "a", as: User.self)) { _ in ended.append(()) }
        }
        await ended.count(1)
        #expect(observer.ends.elements == ["a true"])
    }

    @Test func `The client keeps the observers of a plugin`() async {
        let ends: Collector<String>
        do {
            let observer = Observer()
            ends = observer.ends
            var plugin = ClientPlugin()
            plugin.observers = [observer]
            client.install(plugin)
        }
        await send("a")
        #expect(ends.elements == ["a true"])
    }

    @Test func `Callbacks run on the callback queue`() async {
        let queue = DispatchQueue(label: "test")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        client.callbackQueue = queue
        let places = Collector<Bool>()
        let operation = client.operation(.get, "a", as: User.self)
        operation.subscribe(to: .finished) { places.append(DispatchQueue.getSpecific(key: key) == true) }
        client.submit(operation) { _ in places.append(DispatchQueue.getSpecific(key: key) == true) }
        client.submit(ClosureOperation { 1 }) { _ in places.append(DispatchQueue.getSpecific(key: key) == true) }
        await places.count(3)
        #expect(places.elements == [true, true, true])
    }

    @Test func `The callbacks of a client come one at a time by default`() async {
        let inside = Locked((now: 0, most: 0))
        let ended = Collector<Void>()
        for _ in 0..<50 {
            client.submit(client.operation(.get, "a", as: User.self)) { _ in
                inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                inside.withLock { $0.now -= 1 }
                ended.append(())
            }
        }
        await ended.count(50)
        #expect(inside.withLock { $0.most } == 1)
    }

    // MARK: Streams

    @Test func `The events of a client are those of all its requests`() async throws {
        let events = client.events
        let ids = [
            client.submit(client.operation(.get, "a", as: User.self)),
            client.submit(client.operation(.get, "b", as: User.self)),
        ]
        var ended: Set<RequestID> = []
        for await event in events {
            if case .ended = event.step { ended.insert(event.id) }
            if ended.count == 2 { break }
        }
        #expect(ended == Set(ids))
    }

    @Test func `The events of a client end with it`() async {
        var client: RequestClient? = RequestClient(over: ScriptedTransport([.user]))
        let events = client?.events
        client = nil
        var count = 0
        if let events { for await _ in events { count += 1 } }
        #expect(count == 0)
    }
}
