import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct RequestHookTests {
    private let transport = ScriptedTransport([.user])
    private let client: RequestClient

    init() {
        client = RequestClient(over: transport)
    }

    /// Sends a request alone, and another as the member of a batch.
    private func sendBoth(_ client: RequestClient) async {
        _ = try? await client.get("alone", as: User.self)
        let batch = RequestBatch([client.operation(.get, "member", as: User.self)], policy: .collectAll)
        client.submit(batch)
        _ = await batch.results
    }

    // MARK: Order

    @Test func `Defaults come before the options of the call and the final say after them`() async throws {
        let seen = Collector<String>()
        client.hooks = [
            .request { request, _ in
                seen.append("final \(request.value(forHTTPHeaderField: "X") ?? "")")
                request.setValue("final", forHTTPHeaderField: "Y")
            },
            .defaults { defaults, _ in
                seen.append("defaults")
                defaults.fields["X"] = "default"
                defaults.fields["Z"] = "default"
            },
        ]
        _ = try await client.get("a", as: User.self) {
            seen.append("call")
            $0.fields["X"] = "call"
        }
        let sent = transport.requests[0]
        #expect(seen.elements == ["call", "defaults", "final call"])
        #expect(["X", "Y", "Z"].map { sent.value(forHTTPHeaderField: $0) } == ["call", "final", "default"])
    }

    @Test func `Hooks of one kind apply in the order of the list`() async throws {
        client.hooks =
            [.request { request, _ in request.addValue("1", forHTTPHeaderField: "X") }] + [
                .request { request, _ in request.addValue("2", forHTTPHeaderField: "X") }
            ]
        _ = try await client.get("a", as: User.self)
        #expect(transport.requests[0].value(forHTTPHeaderField: "X") == "1,2")
    }

    @Test func `The final say is called once however often the request is sent`() async throws {
        let transport = ScriptedTransport([.status(503), .status(503), .user])
        let client = RequestClient(over: transport)
        let calls = Collector<Void>()
        client.hooks = [
            .request { request, _ in
                calls.append(())
                request.setValue("1", forHTTPHeaderField: "X")
            }
        ]
        _ = try await client.get("a", as: User.self)
        #expect(calls.count == 1)
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "X") } == ["1", "1", "1"])
    }

    @Test func `A final say that throws fails the request and sends nothing`() async throws {
        client.hooks = [.request { _, _ in throw Problem() }]
        let error = await failure(of: client.operation(.get, "a", as: User.self))
        #expect((error as? RequestError)?.underlying is Problem && transport.requests.isEmpty)
    }

    // MARK: Scope

    @Test func `Request hooks leave members of a batch alone by default`() async throws {
        client.hooks = [
            .defaults { defaults, _ in defaults.fields["D"] = "1" },
            .request { request, _ in request.setValue("1", forHTTPHeaderField: "R") },
        ]
        await sendBoth(client)
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "D") } == ["1", nil])
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "R") } == ["1", nil])
    }

    @Test func `Request hooks apply to members of a batch if they are for everywhere`() async throws {
        client.hooks = [
            .defaults(.everywhere) { defaults, _ in defaults.fields["D"] = "1" },
            .request(.everywhere) { request, _ in request.setValue("1", forHTTPHeaderField: "R") },
        ]
        await sendBoth(client)
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "D") } == ["1", "1"])
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "R") } == ["1", "1"])
    }

    @Test func `Defaults of a member are made when it begins`() async throws {
        let calls = Collector<Void>()
        client.hooks = [.defaults { _, _ in }, .defaults(.everywhere) { _, _ in calls.append(()) }]
        let member = client.operation(.get, "a", as: User.self)
        #expect(calls.count == 1)
        let batch = RequestBatch([member])
        client.submit(batch)
        #expect(try await batch.values.count == 1 && calls.count == 2)
    }

    @Test func `Links of a chain and members of a group count as members`() async throws {
        client.hooks = [.request { request, _ in request.setValue("1", forHTTPHeaderField: "R") }]
        let client = client
        _ = try await run(
            client.operation(.get, "a", as: User.self).then { _ in client.operation(.get, "b", as: User.self) })
        try await run([client.operation(.get, "c", as: User.self)].serialGroup())
        #expect(transport.requests.allSatisfy { $0.value(forHTTPHeaderField: "R") == nil })
        #expect(transport.requests.count == 3)
    }

    @Test(arguments: [RequestHook.Scope.alone, .everywhere])
    func `Hooks for responses values attempts and errors keep to their scope`(_ scope: RequestHook.Scope) async throws {
        let transport = ScriptedTransport([.user, .user, .status(404)])
        let client = RequestClient(over: transport)
        let seen = Collector<String>()
        client.hooks = [
            .response(scope) { response, submission in
                seen.append("response \(submission.path ?? "")")
                return response
            },
            .success(scope) { _, submission in
                seen.append("success \(submission.path ?? "")")
                return nil
            },
            .attempt(scope) { _, submission in seen.append("attempt \(submission.path ?? "")") },
            .error(scope) { error, submission in
                seen.append("error \(submission.path ?? "")")
                return error
            },
        ]
        await sendBoth(client)
        await sendBoth(client)
        let alone = ["response alone", "success alone"]
        let member = ["response member", "success member"]
        let failed = ["attempt alone", "error alone"]
        let failedMember = ["attempt member", "error member"]
        #expect(
            seen.elements == (scope == .alone ? alone + failed : alone + member + failed + failedMember))
    }

    @Test func `A hook for everywhere is the default for responses and errors`() {
        #expect(RequestHook.response { response, _ in response }.scope == .everywhere)
        #expect(RequestHook.success { _, _ in nil }.scope == .everywhere)
        #expect(RequestHook.attempt { _, _ in }.scope == .everywhere)
        #expect(RequestHook.error { error, _ in error }.scope == .everywhere)
        #expect(RequestHook.request { _, _ in }.scope == .alone && RequestHook.defaults { _, _ in }.scope == .alone)
    }

    // MARK: Responses

    @Test func `A response is replaced before it is decoded`() async throws {
        client.hooks = [
            .response { response, _ in
                var replaced = response
                replaced.body = Data(#"{"name":"Alan"}"#.utf8)
                return replaced
            }
        ]
        #expect(try await client.get("a", as: User.self).name == "Alan")
    }

    @Test func `A response is replaced with nothing`() async throws {
        client.hooks = [
            .response { response, _ in
                var replaced = response
                replaced.body = Data()
                return replaced
            }
        ]
        #expect(try await client.get("a", as: User?.self) == nil)
    }

    @Test func `A response that becomes a failure is permanent`() async throws {
        client.hooks = [.response { _, _ in throw Problem() }]
        let error = await failure(of: client.operation(.get, "a", as: User.self))
        #expect((error as? RequestError)?.underlying is Problem && transport.requests.count == 1)
    }

    @Test func `A response that becomes a failure is retried if the policy says so`() async throws {
        let client = RequestClient(over: transport) { $0.retryPolicy.isTransient = { $0 is Problem } }
        let calls = Collector<Void>()
        client.hooks = [
            .response { response, _ in
                if calls.count(appending: ()) < 3 { throw Problem() }
                return response
            }
        ]
        #expect(try await client.get("a", as: User.self).name == "Ada")
        #expect(transport.requests.count == 3)
    }

    @Test func `A hook for values runs on the queue of the decision`() async throws {
        let queue = OperationQueue()
        let client = RequestClient(over: transport) { $0.setQueue(queue, for: .retryDecision) }
        client.hooks = [.success { _, _ in OperationQueue.current === queue ? nil : .stop }]
        _ = try await client.get("a", as: User.self)
    }

    // MARK: Requests of retry decisions

    /// A client whose second attempt sends the first one's request after a change.
    private func client(
        over transport: ScriptedTransport, replacing change: @escaping @Sendable (inout URLRequest) -> Void
    ) -> RequestClient {
        RequestClient(over: transport) {
            $0.retryDeciders = [
                RetryDecider { failure, _ in
                    var request = failure.request
                    change(&request)
                    return .retry(after: .zero, with: request)
                }
            ]
        }
    }

    @Test func `A request that was replaced in its fields before it began is sent as replaced`() async throws {
        let client = client(over: transport) { $0.setValue("2", forHTTPHeaderField: "X") }
        let calls = Collector<Void>()
        client.hooks = [.request { _, _ in if calls.count(appending: ()) == 1 { throw Problem() } }]
        _ = try await client.get("a", as: User.self)
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "X") } == ["2"])
    }

    @Test func `A request that was replaced in its fields is sent as replaced`() async throws {
        let transport = ScriptedTransport([.status(503), .user])
        let client = client(over: transport) { $0.setValue("2", forHTTPHeaderField: "X") }
        _ = try await client.get("a", as: User.self)
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "X") } == [nil, "2"])
    }

    /// The bodies of two attempts, the first of which has a stream.
    private func bodies(replacing change: @escaping @Sendable (inout URLRequest) -> Void) async throws -> [String] {
        let transport = ScriptedTransport([.status(503), .user])
        let stream = BodyStream { BodyStream.Reader { nil } }
        _ = try await client(over: transport, replacing: change).put("a", as: User.self) { $0.body = .stream(stream) }
        return transport.tasks.map { "\($0.body)" }
    }

    @Test func `A body that replaced a streamed one is sent`() async throws {
        #expect(try await bodies { $0.httpBody = Data("new".utf8) } == ["stream", "3 bytes"])
    }

    @Test func `A request without a body that replaced one with a streamed one has none`() async throws {
        #expect(try await bodies { $0.httpMethod = "GET" } == ["stream", "no body"])
    }

    // MARK: Attempts and errors

    @Test func `The error is mapped once and each attempt is noted`() async throws {
        let client = RequestClient(over: ScriptedTransport([.status(503)]))
        let attempts = Collector<Int>()
        let errors = Collector<Void>()
        client.hooks = [
            .attempt { failure, _ in attempts.append(failure.attempt) },
            .error { _, _ in
                errors.append(())
                return Problem()
            },
        ]
        await #expect(throws: Problem.self) { try await client.get("a", as: User.self) }
        #expect(attempts.elements == [1, 2, 3, 4] && errors.count == 1)
    }

    @Test func `The error of a deadline is mapped`() async throws {
        let client = RequestClient(over: ScriptedTransport([.stall])) { $0.deadline = .milliseconds(10) }
        client.hooks = [.error { error, _ in (error as? RequestError)?.code == .timedOut ? Problem() : error }]
        await #expect(throws: Problem.self) { try await client.get("a", as: User.self) }
    }

    @Test func `The error of a request that is refused before its start is mapped`() async throws {
        struct Mapped: Error {}
        let calls = Collector<Void>()
        client.hooks = [
            .error { _, _ in
                calls.append(())
                return Mapped()
            }
        ]
        let failing = ClosureOperation<Void> { throw RequestError(.timedOut, stage: .transfer) }
        let request = client.operation(.get, "a", as: User.self)
        request.addDependency(failing, ifFails: .cancel)
        client.submit(request)
        client.submit(failing)
        await #expect(throws: Mapped.self) { try await request.value }
        #expect(calls.elements.count == 1 && transport.requests.isEmpty)
    }

    @Test func `Hooks for those alone leave out a member that cannot be made`() async throws {
        let calls = Collector<Void>()
        client.hooks = [
            .attempt(.alone) { _, _ in calls.append(()) },
            .error(.alone) { error, _ in
                calls.append(())
                return error
            },
        ]
        let member = client.operation(.get, "a", as: User.self) { $0.usesDefaultBaseURL = false }
        let batch = RequestBatch([member], policy: .collectAll)
        client.submit(batch)
        #expect(await batch.results.count == 1 && calls.elements.isEmpty)
    }

    @Test func `A decision may replace a request that could not be made`() async throws {
        client.configuration.retryDeciders = [
            RetryDecider { _, _ in .retry(after: .zero, with: URLRequest(url: URL(string: "http://b.invalid/b")!)) }
        ]
        let user = try await client.get("a", as: User.self) { $0.usesDefaultBaseURL = false }
        #expect(user.name == "Ada" && transport.urls == ["http://b.invalid/b"])
    }

    @Test func `A cancelled request is not mapped`() async throws {
        let transport = ScriptedTransport([.stall])
        let client = RequestClient(over: transport)
        let errors = Collector<Void>()
        client.hooks = [
            .error { error, _ in
                errors.append(())
                return error
            }
        ]
        let operation = client.operation(.get, "a", as: User.self)
        client.submit(operation)
        await transport.requests(atLeast: 1)
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
        #expect(errors.count == 0)
    }

    // MARK: Values

    @Test func `A value may lead to another attempt`() async throws {
        let transport = ScriptedTransport([.body(Data(#"{"name":""}"#.utf8)), .user])
        let client = RequestClient(over: transport)
        client.hooks = [.success { value, _ in (value as? User)?.name == "" ? .retry(after: .zero) : nil }]
        #expect(try await client.get("a", as: User.self).name == "Ada")
        #expect(transport.requests.count == 2)
    }

    @Test func `A value may become a failure`() async throws {
        client.hooks = [.success { _, _ in .fail(Problem()) }]
        let error = await failure(of: client.operation(.get, "a", as: User.self))
        #expect((error as? RequestError)?.underlying is Problem)
        client.hooks = [.success { _, _ in .stop }]
        let stopped = await failure(of: client.operation(.get, "a", as: User.self))
        #expect((stopped as? RequestError)?.code == .valueRejected)
    }

    // MARK: Plugins

    private final class Wrapper: Transport {
        private let name: String
        private let below: any Transport
        private let seen: Collector<String>

        init(_ name: String, over below: any Transport, _ seen: Collector<String>) {
            (self.name, self.below, self.seen) = (name, below, seen)
        }

        func perform(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse {
            seen.append(name + " " + (task.request.value(forHTTPHeaderField: "X") ?? ""))
            return try await below.perform(task, onHead: onHead)
        }
    }

    @Test func `Plugins apply in the order in which they were installed and the last one is outermost`() async throws {
        let seen = Collector<String>()
        for name in ["1", "2"] {
            var plugin = ClientPlugin()
            plugin.hooks = [.request { request, _ in request.addValue("h" + name, forHTTPHeaderField: "X") }]
            plugin.adapters = [.edit { $0.addValue("a" + name, forHTTPHeaderField: "X") }]
            plugin.transport = { Wrapper(name, over: $0, seen) }
            client.install(plugin)
        }
        client.hooks = [.request { request, _ in request.addValue("h0", forHTTPHeaderField: "X") }]
        _ = try await client.get("a", as: User.self)
        #expect(seen.elements == ["2 h0,h1,h2,a1,a2", "1 h0,h1,h2,a1,a2"])
    }

    @Test func `The decider of the last plugin has the last word`() async throws {
        let client = RequestClient(over: ScriptedTransport([.status(404), .user]))
        var (stops, retries) = (ClientPlugin(), ClientPlugin())
        stops.deciders = [RetryDecider { _, _ in .stop }]
        retries.deciders = [RetryDecider { _, _ in .retry(after: .zero) }]
        client.install(stops)
        client.install(retries)
        #expect(try await client.get("a", as: User.self).name == "Ada")
    }
}
