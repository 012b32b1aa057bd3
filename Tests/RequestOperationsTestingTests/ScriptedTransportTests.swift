import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ScriptedTransportTests {
    // A literal that is a URL.
    private static let request = URLRequest(url: URL(string: "http://example.invalid/path")!)

    @discardableResult
    private func perform(
        _ transport: ScriptedTransport, _ task: TransportTask = .data(request),
        onHead: @escaping @Sendable (ResponseHead) throws -> Void = { _ in }
    ) async throws -> TransportResponse {
        try await transport.perform(task, onHead: onHead)
    }

    private func failure(
        of transport: ScriptedTransport, _ task: TransportTask = .data(request),
        onHead: @escaping @Sendable (ResponseHead) throws -> Void = { _ in }
    ) async -> TransferFailure? {
        await #expect(throws: TransferFailure.self) { try await perform(transport, task, onHead: onHead) }
    }

    // MARK: The script

    @Test func `The answers come in their order and the last is repeated`() async throws {
        let transport = ScriptedTransport([.status(201), .status(202)])
        var statuses: [Int] = []
        for _ in 1...4 { statuses.append(try await perform(transport).head.status) }
        #expect(statuses == [201, 202, 202, 202])
    }

    @Test func `A script without an answer stops the process`() async {
        await #expect(processExitsWith: .failure) { _ = ScriptedTransport([]) }
    }

    @Test func `It records what it was asked`() async throws {
        let transport = ScriptedTransport([.status(200)])
        try await perform(transport, .upload(Self.request, from: .data(Data("x".utf8))))
        #expect(transport.requests == [Self.request])
        #expect(transport.tasks.first?.body.isNone == false)
    }

    @Test func `It records nothing if it is told to`() async throws {
        let transport = ScriptedTransport([.status(200)], recordsRequests: false)
        try await perform(transport)
        await transport.requests(atLeast: 1)
        #expect(transport.requests.isEmpty && transport.tasks.isEmpty)
    }

    @Test func `A wait for requests ends with the last of them`() async throws {
        let transport = ScriptedTransport([.status(200)])
        async let arrived: Void = transport.requests(atLeast: 3)
        for _ in 1...3 { try await perform(transport) }
        await arrived
    }

    @Test func `A wait for requests ends when its task is cancelled`() async {
        let transport = ScriptedTransport([.status(200)])
        let wait = Task { await transport.requests(atLeast: 1) }
        wait.cancel()
        await wait.value
    }

    @Test(arguments: [("HEAD", 200), ("GET", 204), ("GET", 304)])
    func `A response that cannot have a body has none`(_ method: String, _ status: Int) async throws {
        var request = Self.request
        request.httpMethod = method
        let pieces = Collector<Data>()
        let task = TransportTask.stream(request) { pieces.append($0) }
        let response = try await perform(ScriptedTransport([.status(status, body: Data("x".utf8))]), task)
        #expect(response.bodySize == 0 && pieces.count == 0)
    }

    @Test(arguments: [
        RequestError.Code.unsupportedScheme, .invalidField, .unsupported, .cannotResolveHost, .cannotConnect,
        .proxyFailed, .secureConnectionFailed, .untrustedCertificate, .pinningFailed, .clientCertificateRejected,
    ])
    func `What fails before the request is sent was surely not sent`(_ code: RequestError.Code) async {
        let failure = await failure(of: ScriptedTransport([.error(code)]))
        #expect(failure?.phase == .connect && failure?.requestMayHaveBeenProcessed == false)
    }

    @Test func `A task that is cancelled already takes no answer`() async {
        let transport = ScriptedTransport([.status(200)])
        let begin = Door()
        let task = Task {
            await begin.pass()
            try await perform(transport)
        }
        task.cancel()
        begin.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.requests.isEmpty)
    }

    // MARK: Answers

    @Test func `A body has status 200 and its fields`() async throws {
        let heads = Collector<ResponseHead>()
        let response = try await perform(ScriptedTransport([.body(Data("abc".utf8), fields: [("X-A", "1")])])) {
            heads.append($0)
        }
        #expect(heads.elements.map(\.status) == [200] && heads.elements.first?.field("x-a") == "1")
        #expect(response.body == Data("abc".utf8) && response.bodySize == 3)
    }

    @Test func `A rejected head fails with the very error the head and the first bytes`() async throws {
        struct Rejected: Error {}
        let transport = ScriptedTransport([.status(503, body: Data(repeating: 1, count: 5000))])
        let failure = try #require(await failure(of: transport) { _ in throw Rejected() })
        #expect(failure.error is Rejected && failure.head?.status == 503)
        #expect(failure.bodyPrefix.count == 4096 && failure.phase == .body)
    }

    @Test(arguments: [
        (RequestError.Code.cannotResolveHost, TransferFailure.Phase.connect), (.cannotConnect, .connect),
        (.connectionLost, .head), (.timedOut, .head),
    ])
    func `A network error fails in the phase of its code`(_ code: RequestError.Code, _ phase: TransferFailure.Phase)
        async throws
    {
        let failure = try #require(await failure(of: ScriptedTransport([.error(code)])))
        #expect((failure.error as? RequestError)?.code == code && failure.phase == phase)
    }

    @Test func `A network error fails in the phase that it is given`() async {
        #expect(await failure(of: ScriptedTransport([.error(.connectionLost, phase: .body)]))?.phase == .body)
    }

    @Test func `A failure of ones own comes out as it is`() async {
        struct Mine: Error {}
        await #expect(throws: Mine.self) { try await perform(ScriptedTransport([.failure(Mine())])) }
    }

    @Test(arguments: [false, true])
    func `A stall lasts until the cancel`(inBody: Bool) async {
        let transport = ScriptedTransport([inBody ? .stallBody() : .stall])
        let heads = Collector<Void>()
        let task = Task { try await perform(transport) { _ in heads.append(()) } }
        await transport.requests(atLeast: 1)
        if inBody { await heads.count(1) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(heads.count == (inBody ? 1 : 0))
    }

    @Test func `A dynamic answer is made from the request`() async throws {
        let transport = ScriptedTransport([.dynamic { .body(Data(($0.url?.path ?? "").utf8)) }])
        #expect(try await perform(transport).body == Data("/path".utf8))
    }

    @Test func `A delayed answer comes when its clock says so`() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.delayed(.seconds(3), on: clock, .status(204))])
        async let response = perform(transport)
        await clock.sleepers(1)
        clock.advance(by: .seconds(3))
        #expect(try await response.head.status == 204)
    }

    // MARK: The task's wishes

    @Test func `A body beyond the limit fails`() async throws {
        var task = TransportTask.data(Self.request)
        task.limits.maximumBodySize = 2
        let failure = try #require(await failure(of: ScriptedTransport([.body(Data("abc".utf8))]), task))
        #expect((failure.error as? RequestError)?.code == .bodyTooLarge && failure.head?.status == 200)
    }

    @Test func `A file receives the body`() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let response = try await perform(
            ScriptedTransport([.body(Data("abc".utf8))]), .download(Self.request, to: file))
        #expect(try Data(contentsOf: file) == Data("abc".utf8))
        #expect(response.file == file && response.body.isEmpty && response.bodySize == 3)
    }

    @Test func `A file that cannot be written fails as such`() async throws {
        let file = URL(fileURLWithPath: "/nowhere/at/all")
        let transport = ScriptedTransport([.body(Data("abc".utf8))])
        let failure = try #require(await failure(of: transport, .download(Self.request, to: file)))
        #expect((failure.error as? RequestError)?.code == .fileFailed)
    }

    @Test func `A consumer receives the body`() async throws {
        let pieces = Collector<Data>()
        let transport = ScriptedTransport([.body(Data("abc".utf8)), .status(204)])
        for _ in 1...2 { try await perform(transport, .stream(Self.request) { pieces.append($0) }) }
        #expect(pieces.elements == [Data("abc".utf8)])
    }

    @Test func `Progress is told at the end`() async throws {
        let told = Collector<TransferProgress>()
        var task = TransportTask.data(Self.request)
        task.onProgress = { told.append($0) }
        try await perform(ScriptedTransport([.body(Data("abc".utf8))]), task)
        #expect(told.elements == [TransferProgress(bytesReceived: 3, bytesToReceive: 3)])
    }
}
