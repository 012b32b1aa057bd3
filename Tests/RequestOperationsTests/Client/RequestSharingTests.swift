import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct RequestSharingTests {
    private let door = Door()
    private let transport: ScriptedTransport
    private let client: RequestClient

    init() {
        let door = door
        transport = ScriptedTransport([
            .dynamic { _ in
                await door.pass()
                return .user
            }
        ])
        client = RequestClient(over: transport)
        client.sharesIdenticalRequests = true
    }

    /// Begins calls, and opens the door when they share.
    private func sent(_ calls: [@Sendable (RequestClient) async throws -> User], flights count: Int) async throws -> Int
    {
        let client = client
        let tasks = calls.map { call in Task { try await call(client) } }
        await eventually { client.sharing == (calls.count, count) }
        door.open()
        for task in tasks { #expect(try await task.value.name == "Ada") }
        #expect(client.sharing.requests == 0)
        return transport.requests.count
    }

    @Test func `Identical requests are sent once`() async throws {
        #expect(try await sent(Array(repeating: { try await $0.get("a", as: User.self) }, count: 5), flights: 1) == 1)
    }

    @Test func `Requests that differ are sent each`() async throws {
        let calls: [@Sendable (RequestClient) async throws -> User] = [
            { try await $0.get("a", as: User.self) }, { try await $0.get("a", parameters: ["b": 1], as: User.self) },
            { try await $0.get("a", as: User.self) { $0.fields["X"] = "1" } },
        ]
        #expect(try await sent(calls, flights: 3) == 3)
    }

    @Test func `A key shares requests that differ`() async throws {
        let calls: [@Sendable (RequestClient) async throws -> User] = [
            { try await $0.get("a", as: User.self) { $0.sharing = .key("k") } },
            { try await $0.get("b", as: User.self) { $0.sharing = .key("k") } },
        ]
        #expect(try await sent(calls, flights: 1) == 1)
    }

    @Test func `Unsafe methods, own decoders and calls that say so do not share`() async throws {
        door.open()
        for _ in 0..<2 {
            async let one = client.post("a", as: User.self)
            async let two = client.post("a", as: User.self)
            async let three = client.get("a", decoder: .json(User.self))
            async let four = client.get("a", decoder: .json(User.self))
            async let five = client.get("a", as: User.self) { $0.sharing = .never }
            async let six = client.get("a", as: User.self) { $0.sharing = .never }
            _ = try await [one, two, three, four, five, six]
        }
        #expect(transport.requests.count == 12)
    }

    @Test func `Calls of other settings, or with a configuration or a file of their own, do not share`() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("body-\(UUID().uuidString)")
        try Data("{}".utf8).write(to: file)
        let calls: [@Sendable (RequestClient) async throws -> User] = [
            { try await $0.get("a", as: User.self) },
            { try await $0.get("a", as: User.self) { $0.configuration.deadline = .seconds(60) } },
            { try await $0.get("a", as: User.self) { $0.body = .file(file) } },
            {
                $0.configuration.adapters = []
                return try await $0.get("a", as: User.self)
            },
        ]
        let client = client
        var tasks: [Task<User, any Error>] = []
        for (number, call) in calls.enumerated() {
            tasks.append(Task { try await call(client) })
            await transport.requests(atLeast: number + 1)
        }
        door.open()
        for task in tasks { _ = try await task.value }
        #expect(transport.requests.count == 4)
        try FileManager.default.removeItem(at: file)
    }

    @Test func `A request that is being cancelled is not joined`() async throws {
        let client = client
        let first = Task { try await client.get("a", as: User.self) }
        await transport.requests(atLeast: 1)
        client.cancelAll()
        let second = Task { try await client.get("a", as: User.self) }
        await transport.requests(atLeast: 2)
        door.open()
        #expect(try await second.value.name == "Ada")
        await #expect(throws: CancellationError.self) { try await first.value }
    }

    @Test func `Requests are not shared by default`() {
        #expect(!RequestClient().sharesIdenticalRequests)
    }

    @Test func `A request is sent again after the first has ended`() async throws {
        door.open()
        for _ in 0..<2 { _ = try await client.get("a", as: User.self) }
        #expect(transport.requests.count == 2)
    }

    @Test func `A call that is cancelled leaves, and the last one cancels the request`() async throws {
        let client = client
        let tasks = (0..<2).map { _ in Task { try await client.get("a", as: User.self) } }
        await eventually { client.sharing.callers == 2 }
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        let operation = try #require(client.submissions.first?.operation)
        #expect(client.sharing.callers == 1 && !operation.isCancelled)
        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        #expect(operation.isCancelled && client.sharing.requests == 0)
        door.open()
    }

    @Test func `All calls get the error of a shared request`() async throws {
        let client = RequestClient(over: ScriptedTransport([.status(404)]))
        client.sharesIdenticalRequests = true
        let tasks = (0..<3).map { _ in Task { try await client.get("a", as: User.self) } }
        for task in tasks { await #expect(throws: RequestError.self) { try await task.value } }
    }
}
