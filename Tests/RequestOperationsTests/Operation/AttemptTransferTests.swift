import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct AttemptTransferTests {
    private func redirecting(_ limiter: RequestLimiter, to location: String) -> (
        RequestConfiguration, ScriptedTransport
    ) {
        let transport = ScriptedTransport([.status(302, fields: [("Location", location)]), .body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.limiter = limiter
        return (configuration, transport)
    }

    @Test func aRedirectToTheSameHostKeepsItsSlot() async throws {
        let waits = Collector<Void>()
        var (configuration, _) = redirecting(RequestLimiter(total: 1), to: "/next")
        configuration.onEvent = { if case .waitsForSlot = $0.step { waits.append(()) } }
        _ = try await run(URLRequestOperation(anyRequest, configuration: configuration))
        #expect(waits.count == 1)
    }

    @Test func aRedirectToAnotherHostWaitsForASlotOfThatHost() async throws {
        let limiter = RequestLimiter(perHost: 1)
        var place: RequestLimiter.Place?
        let occupied = try await limiter.slot(
            for: Origin(URL(string: "http://other.invalid/")), priority: .normal, place: &place)
        var (configuration, transport) = redirecting(limiter, to: "http://other.invalid/")
        let waits = Collector<Void>()
        configuration.onEvent = { if case .waitsForSlot = $0.step { waits.append(()) } }
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        await waits.count(2)
        #expect(limiter.inFlightCount == 1 && transport.requests.count == 1)
        occupied.release()
        _ = try await operation.value
        #expect(limiter.inFlightCount == 0)
    }

    @Test func aLoopOfRedirectsEndsTheAttempt() async {
        var configuration = RequestConfiguration.scripted([
            .status(302, fields: [("Location", "/a")]), .status(302, fields: [("Location", "/b")]),
            .status(302, fields: [("Location", "/a")]),
        ])
        configuration.retryPolicy = .none
        let error = await failure(of: URLRequestOperation(anyRequest, configuration: configuration)) as? RequestError
        #expect(error?.code == .redirectLoop)
    }

    // MARK: Responses whose head nobody was shown

    /// Carries a request out without a word about its head.
    private struct Silent: Transport {
        let head: ResponseHead

        func perform(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse {
            TransportResponse(head: head, body: Data("text".utf8))
        }
    }

    /// Makes nothing of a rejected head.
    private struct Lenient: Transport {
        let head: ResponseHead

        func perform(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse {
            do { try onHead(head) } catch {}
            return TransportResponse(head: head, body: Data("text".utf8))
        }
    }

    private static func head(_ status: Int, _ fields: [(name: String, value: String)] = []) -> ResponseHead {
        // The request has a URL.
        ResponseHead(status: status, url: anyRequest.url!, fields: fields)
    }

    @Test(arguments: [Silent(head: head(404)), Lenient(head: head(404))] as [any Transport])
    func aResponseIsValidatedWhateverTheTransportMakesOfItsHead(transport: any Transport) async throws {
        let operation = URLRequestOperation(anyRequest, configuration: .over(transport))
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .unacceptableStatus && error.stage == .validate)
        #expect(error.head?.status == 404 && error.bodyPrefix == Data("text".utf8))
        #expect(operation.attempts.map(\.status) == [404] && operation.attempts.map(\.bodySize) == [4])
    }

    @Test func aHeadThatNobodyShowedIsJudgedOnceAndTold() async throws {
        let told = Collector<Int>()
        var configuration = RequestConfiguration.over(Silent(head: Self.head(200)))
        configuration.onEvent = { if case .head(let head) = $0.step { told.append(head.status) } }
        let operation = Staged(configuration)
        #expect(try await run(operation) == 4)
        #expect(operation.calls.elements == ["process", "makeTask", "validate 200", "decode 4"])
        #expect(told.elements == [200] && operation.attempts.map(\.status) == [200])
    }

    @Test func aRedirectThatNobodyShowedIsFollowed() async throws {
        let requests = Collector<String>()
        let operation = Custom(.scripted([.body(Data())])) { task, _, _ in
            requests.append(task.request.url?.path ?? "")
            let isFirst = requests.count == 1
            return TransportResponse(head: Self.head(isFirst ? 302 : 200, isFirst ? [("Location", "/next")] : []))
        }
        _ = try await run(operation)
        #expect(requests.elements == ["/path", "/next"])
    }

    @Test func aResponseOfACustomTaskThatShowsNoHeadIsValidated() async {
        let operation = Custom(.scripted([.status(500)])) { task, transport, _ in
            try await transport.perform(task) { _ in }
        }
        let error = await failure(of: operation) as? RequestError
        #expect(error?.code == .unacceptableStatus && error?.head?.status == 500)
    }

    @Test func aHeadThatACustomTaskChangedIsNotJudgedAgain() async throws {
        let operation = Custom(.scripted([.status(404)])) { task, transport, onHead in
            try await transport.perform(task) { _ in try onHead(Self.head(200)) }
        }
        #expect(try await run(operation).isEmpty)
    }

    // MARK: HEAD

    @Test(
        arguments: [("HEAD", nil, true), ("GET", nil, false), ("HEAD", "text/html", false)]
            as [(String, String?, Bool)])
    func aResponseToHEADNeedsNoContentType(method: String, type: String?, isAccepted: Bool) async {
        let fields = type.map { [(name: "Content-Type", value: $0)] } ?? []
        var configuration = RequestConfiguration.scripted([.status(200, fields: fields)])
        configuration.validation = .successfulStatus.and(.contentType(["application/json"]))
        var request = anyRequest
        request.httpMethod = method
        let error = await failure(of: URLRequestOperation(request, configuration: configuration)) as? RequestError
        #expect(error?.code == (isAccepted ? nil : .unacceptableContentType))
    }
}

/// Has its task carried out by a closure.
private final class Custom: URLRequestOperation<Data>, @unchecked Sendable {
    typealias Perform =
        @Sendable (
            TransportTask, any Transport, @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse

    private let perform: Perform

    init(_ configuration: RequestConfiguration, perform: @escaping Perform) {
        self.perform = perform
        var configuration = configuration
        configuration.retryPolicy = .none
        super.init(anyRequest, decoder: .data, configuration: configuration)
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        .custom(request, perform: perform)
    }
}
