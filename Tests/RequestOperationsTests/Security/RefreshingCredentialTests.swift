import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct RefreshingCredentialTests {
    private let queue = OperationQueue()
    private let refreshed = Collector<Int?>()

    /// A credential that is a number, which each refresh makes greater by one.
    private func numbers(
        from first: Int?, maximumAttempts: Int = 4, maximumRefreshes: Int = 5,
        refresh: @escaping @Sendable (Int?) async throws -> Int = { ($0 ?? 0) + 1 },
        isExpired: @escaping @Sendable (Int) -> Bool = { _ in false }
    ) -> RefreshingCredential<Int> {
        RefreshingCredential(
            first, maximumAttempts: maximumAttempts, maximumRefreshes: maximumRefreshes, clock: ManualClock(),
            apply: { $1.setValue("Bearer \($0)", forHTTPHeaderField: "Authorization") },
            refresh: { [refreshed] old in
                refreshed.append(old)
                return try await refresh(old)
            }, isExpired: isExpired)
    }

    /// A server that accepts one credential.
    private func server(accepting number: Int) -> ScriptedTransport {
        ScriptedTransport([
            .dynamic { request in
                let isAccepted = request.value(forHTTPHeaderField: "Authorization") == "Bearer \(number)"
                return isAccepted ? .body(Data("in".utf8)) : .status(401)
            }
        ])
    }

    private func start(
        _ transport: ScriptedTransport, _ credential: RefreshingCredential<Int>?, _ adapters: RequestAdapter...,
        on queue: OperationQueue? = nil, prepare: (inout URLRequest) -> Void = { _ in }
    ) -> URLRequestOperation<Data> {
        var configuration = RequestConfiguration()
        configuration.transport = transport
        if let credential { configuration.authenticate(with: credential) }
        configuration.adapters += adapters
        // A good URL.
        var request = URLRequest(url: URL(string: "http://a.example/")!)
        prepare(&request)
        let operation = URLRequestOperation(request, configuration: configuration)
        (queue ?? self.queue).addOperation(operation)
        return operation
    }

    private func expectRefusal(_ operation: URLRequestOperation<Data>) async {
        let error = await #expect(throws: RequestError.self) { try await operation.value }
        #expect(error?.head?.status == 401)
    }

    @Test func `One refresh serves all requests that were refused`() async throws {
        let transport = server(accepting: 2)
        let credential = numbers(from: 1)
        let operations = (0..<50).map { _ in start(transport, credential) }
        for operation in operations { #expect(try await operation.value == Data("in".utf8)) }
        #expect(refreshed.elements == [1])
        #expect(credential.credential == 2)
    }

    @Test func `A post that was refused is sent again`() async throws {
        let operation = start(server(accepting: 2), numbers(from: 1)) { request in
            request.httpMethod = "POST"
            request.httpBody = Data("order".utf8)
        }
        #expect(try await operation.value == Data("in".utf8))
    }

    /// A server that redirects what is sent to `/`, with a status, and accepts one credential where that leads.
    private func server(redirecting status: Int, to location: String, accepting number: Int) -> ScriptedTransport {
        ScriptedTransport([
            .dynamic { request in
                if request.url?.absoluteString == "http://a.example/" {
                    return .status(status, fields: [("Location", location)])
                }
                let isAccepted = request.value(forHTTPHeaderField: "Authorization") == "Bearer \(number)"
                return isAccepted ? .body(Data("in".utf8)) : .status(401)
            }
        ])
    }

    @Test func `A post that was carried out and then redirected is not sent again`() async {
        let transport = server(redirecting: 303, to: "/orders/1", accepting: 2)
        let operation = start(transport, numbers(from: 1)) { $0.httpMethod = "POST" }
        await expectRefusal(operation)
        #expect(transport.requests.map { $0.httpMethod ?? "GET" } == ["POST", "GET"])
    }

    @Test func `A get that was redirected is sent again`() async throws {
        let operation = start(server(redirecting: 302, to: "/b", accepting: 2), numbers(from: 1))
        #expect(try await operation.value == Data("in".utf8))
    }

    @Test func `A post with a key that was redirected is sent again`() async throws {
        let transport = server(redirecting: 303, to: "/orders/1", accepting: 2)
        let operation = start(transport, numbers(from: 1)) { request in
            request.httpMethod = "POST"
            request.setValue("one", forHTTPHeaderField: "Idempotency-Key")
        }
        #expect(try await operation.value == Data("in".utf8))
    }

    @Test func `A refusal by another host causes no refresh`() async {
        let transport = server(redirecting: 302, to: "http://b.example/", accepting: 2)
        await expectRefusal(start(transport, numbers(from: 1)))
        #expect(refreshed.elements.isEmpty && transport.requests.count == 2)
    }

    @Test func `A body that cannot be sent again is not`() async {
        let operation = start(server(accepting: 2), numbers(from: 1)) { request in
            request.httpMethod = "POST"
            request.httpBodyStream = InputStream(data: Data("order".utf8))
        }
        await expectRefusal(operation)
        #expect(refreshed.elements.isEmpty)
    }

    @Test func `A request that carried an older credential causes no refresh`() async throws {
        let credential = numbers(from: 1)
        let transport = ScriptedTransport([
            .dynamic { _ in
                credential.replace(with: 2)
                return .status(401)
            }, .body(Data()),
        ])
        _ = try await start(transport, credential).value
        #expect(transport.requests.last?.value(forHTTPHeaderField: "Authorization") == "Bearer 2")
        #expect(refreshed.elements.isEmpty)
    }

    @Test func `A request that carried none of its credentials is left alone`() async {
        let operation = start(server(accepting: 2), numbers(from: 1), .field("Authorization", "Basic eA=="))
        await expectRefusal(operation)
        #expect(refreshed.elements.isEmpty)
    }

    @Test func `The first request gets a credential that is missing`() async throws {
        #expect(try await start(server(accepting: 1), numbers(from: nil)).value == Data("in".utf8))
        #expect(refreshed.elements == [nil])
    }

    @Test func `An expired credential is not tried`() async throws {
        let transport = server(accepting: 2)
        _ = try await start(transport, numbers(from: 1, isExpired: { $0 == 1 })).value
        #expect(transport.requests.count == 1)
    }

    @Test func `A refresh that fails is the failure of those that wait`() async {
        let credential = numbers(from: 1) { _ in throw LoggedOut() }
        let operation = start(server(accepting: 2), credential)
        let error = await #expect(throws: RequestError.self) { try await operation.value }
        #expect(error?.underlying is LoggedOut)
    }

    @Test func `After a failure the next refusal refreshes again`() async throws {
        let attempts = Locked(0)
        let credential = numbers(from: 1) { old in
            if attempts.withLock({
                $0 += 1
                return $0
            }) == 1 {
                throw LoggedOut()
            }
            return (old ?? 0) + 1
        }
        let transport = server(accepting: 2)
        await #expect(throws: RequestError.self) { try await start(transport, credential).value }
        #expect(try await start(transport, credential).value == Data("in".utf8))
    }

    @Test func `A server that refuses whatever comes is not asked for ever`() async {
        let transport = server(accepting: -1)
        await expectRefusal(start(transport, numbers(from: 1)))
        #expect(transport.requests.count == 4)
    }

    @Test func `No more refreshes are made than allowed`() async {
        let credential = numbers(from: 1, maximumAttempts: 100, maximumRefreshes: 3)
        await expectRefusal(start(server(accepting: -1), credential))
        #expect(refreshed.elements == [1, 2, 3])
    }

    @Test func `A request that waits for a refresh is cancelled at once`() async {
        let never = Door()
        let credential = numbers(from: nil) { _ in
            await never.pass()
            return 1
        }
        let operation = start(server(accepting: 1), credential)
        await refreshed.count(1)
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
        never.open()
    }

    @Test func `The requests of a refresh go without a credential`() async throws {
        let transport = ScriptedTransport([.body(Data("7".utf8)), .body(Data("in".utf8))])
        let own = Locked<RefreshingCredential<Int>?>(nil)
        let credential = numbers(from: nil) { [self] _ in
            let answer = try await start(transport, own.withLock { $0 }).value
            return Int(String(decoding: answer, as: UTF8.self)) ?? 0
        }
        own.withLock { $0 = credential }
        #expect(try await start(transport, credential).value == Data("in".utf8))
        let fields = transport.requests.map { $0.value(forHTTPHeaderField: "Authorization") }
        #expect(fields == [nil, "Bearer 7"])
        own.withLock { $0 = nil }
    }

    @Test func `The refreshes of two credentials do not wait for each other`() async throws {
        let transport = ScriptedTransport([.body(Data("in".utf8))])
        let shared = Locked(RequestConfiguration())
        @Sendable func logIn(_ name: String) -> RefreshingCredential<Int> {
            RefreshingCredential(
                nil, refreshTimeLimit: nil, apply: { $1.setValue("\($0)", forHTTPHeaderField: name) },
                refresh: { _ in
                    let login = URLRequestOperation(
                        URL(string: "http://login.example/")!,  // A good URL.
                        configuration: shared.withLock { $0 })
                    OperationQueue().addOperation(login)
                    return try await login.value.count
                })
        }
        var configuration = RequestConfiguration()
        configuration.transport = transport
        configuration.authenticate(with: logIn("A"))
        configuration.authenticate(with: logIn("B"))
        shared.withLock { [configuration] in $0 = configuration }
        let operation = URLRequestOperation(
            URL(string: "http://a.example/")!,  // A good URL.
            configuration: configuration)
        queue.addOperation(operation)
        _ = try await operation.value
        let last = try #require(transport.requests.last)
        #expect(["A", "B"].allSatisfy { last.value(forHTTPHeaderField: $0) == "2" })
        shared.withLock { $0 = RequestConfiguration() }
    }

    @Test func `A credential that is replaced during a refresh stays`() async throws {
        let gate = Door()
        let credential = numbers(from: nil) { _ in
            await gate.pass()
            return 1
        }
        let transport = server(accepting: 5)
        let waiting = start(transport, credential)
        await refreshed.count(1)
        credential.replace(with: 5)
        #expect(try await waiting.value == Data("in".utf8))
        gate.open()
        #expect(try await start(transport, credential).value == Data("in".utf8))
        #expect(credential.credential == 5)
    }

    // MARK: In a queue

    /// Adds a request to a queue of width one, until it has a result or waits for a place.
    private func add(_ request: URLRequestOperation<Data>, to queue: RequestQueue) async {
        queue.addOperation(request)
        await eventually { request.isFinished || queue.limiter.waitingCount == 1 }
    }

    @Test func `A request that waits for a refresh holds no place`() async throws {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 1
        let gate = Door()
        let credential = numbers(from: nil) { _ in
            await gate.pass()
            return 1
        }
        let waiting = start(server(accepting: 1), credential, on: queue)
        await refreshed.count(1)
        let other = URLRequestOperation(anyRequest, configuration: .scripted([.body(Data())]))
        await add(other, to: queue)
        withKnownIssue("The place in the queue is taken before the request is processed.") {
            #expect(other.isFinished)
        }
        gate.open()
        _ = try await waiting.value
        _ = try await other.value
    }

    @Test func `A refresh may use the queue of those that wait for it`() async throws {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 1
        let waits = Door()
        let login = URLRequestOperation(anyRequest, configuration: .scripted([.body(Data("1".utf8))]))
        let credential = numbers(from: nil) { [self] _ in
            await add(login, to: queue)
            waits.open()
            _ = try await login.value
            return 1
        }
        let operation = start(server(accepting: 1), credential, on: queue)
        await waits.pass()
        // It would wait for ever. Remove this line with the known issue.
        login.cancel()
        let error = await failure(ofStarted: operation)
        withKnownIssue("The place in the queue is taken before the request is processed.") {
            #expect(error == nil)
        }
    }

    @Test func `A logout cancels those that wait`() async {
        let gate = Door()
        let credential = numbers(from: nil) { _ in
            await gate.pass()
            return 1
        }
        let operation = start(server(accepting: 1), credential)
        await refreshed.count(1)
        credential.replace(with: nil)
        await #expect(throws: CancellationError.self) { try await operation.value }
        gate.open()
    }

    @Test func `A logout cancels those that wait after a refusal`() async {
        let gate = Door()
        let credential = numbers(from: 1) { _ in
            await gate.pass()
            return 2
        }
        let operation = start(server(accepting: 2), credential)
        await refreshed.count(1)
        credential.replace(with: nil)
        await #expect(throws: CancellationError.self) { try await operation.value }
        gate.open()
    }
}

/// What becomes of a refresh that takes too long.
@Suite(.timeLimit(.minutes(15))) struct RefreshTimeLimitTests {
    private let clock = ManualClock()
    private let began = Collector<Void>()

    /// A credential whose first refresh ends only when it is cancelled, and tells that.
    private func hanging(limit: Duration?, cancelled: Door = Door()) -> RefreshingCredential<Int> {
        RefreshingCredential(
            nil, refreshTimeLimit: limit, clock: clock,
            apply: { $1.setValue("\($0)", forHTTPHeaderField: "Authorization") },
            refresh: { [began] _ in
                began.append(())
                guard began.count == 1 else { return 2 }
                do { try await ManualClock().sleep(for: .seconds(1)) } catch { cancelled.open() }
                return 1
            })
    }

    private func start(_ credential: RefreshingCredential<Int>) -> URLRequestOperation<Data> {
        var configuration = RequestConfiguration()
        configuration.transport = ScriptedTransport([.body(Data())])
        configuration.retryPolicy = .none
        configuration.authenticate(with: credential)
        let operation = URLRequestOperation(
            URL(string: "http://a.example/")!,  // A good URL.
            configuration: configuration)
        OperationQueue().addOperation(operation)
        return operation
    }

    @Test func `Those that wait fail at the limit`() async {
        let operation = start(hanging(limit: .seconds(30)))
        await clock.sleepers(1)
        clock.advance(by: .seconds(30))
        let error = await #expect(throws: RequestError.self) { try await operation.value }
        #expect(error?.code == .timedOut)
    }

    @Test func `The refresh is cancelled at the limit`() async {
        let cancelled = Door()
        let operation = start(hanging(limit: .seconds(30), cancelled: cancelled))
        await clock.sleepers(1)
        await began.count(1)
        clock.advance(by: .seconds(30))
        await cancelled.pass()
        _ = try? await operation.value
    }

    @Test func `The next request begins another refresh`() async throws {
        let credential = hanging(limit: .seconds(30))
        let operation = start(credential)
        await clock.sleepers(1)
        await began.count(1)
        clock.advance(by: .seconds(30))
        await #expect(throws: RequestError.self) { try await operation.value }
        _ = try await start(credential).value
        #expect(credential.credential == 2)
    }

    @Test func `A refresh that ends in time leaves no alarm`() async throws {
        let credential = RefreshingCredential<Int>(
            nil, clock: clock, apply: { _, _ in }, refresh: { _ in 1 })
        _ = try await start(credential).value
        while clock.sleeperCount > 0 { await Task.yield() }
    }

    @Test func `The clock may ask the credential`() async throws {
        let own = Locked<RefreshingCredential<Int>?>(nil)
        let credential = RefreshingCredential<Int>(
            nil, clock: AskingClock { _ = own.withLock { $0 }?.credential }, apply: { _, _ in }, refresh: { _ in 1 })
        own.withLock { $0 = credential }
        _ = try await start(credential).value
        own.withLock { $0 = nil }
    }
}

private struct LoggedOut: Error {}
