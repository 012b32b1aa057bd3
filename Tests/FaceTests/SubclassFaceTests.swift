import RequestOperations
import RequestOperationsTesting
import Testing

/// Subclasses of a program's own inherit all initialisers, also those for convenience.
@Suite(.timeLimit(.minutes(10))) struct SubclassFaceTests {
    private final class Items: URLRequestOperation<[Int]>, @unchecked Sendable {}
    private final class Kind<Value: Sendable>: URLRequestOperation<Value>, @unchecked Sendable {}
    private final class Download: DownloadOperation, @unchecked Sendable {}
    private final class Upload: UploadOperation<Data>, @unchecked Sendable {}
    private final class Stream: StreamOperation, @unchecked Sendable {}
    private final class Events: EventSourceOperation, @unchecked Sendable {}
    private final class Attempts: RetryingOperation<Int>, @unchecked Sendable {}
    private final class Chain: RequestChain<Int>, @unchecked Sendable {}
    private final class Steps: StepChain<Int>, @unchecked Sendable {}
    private final class Batch: RequestBatch<Int>, @unchecked Sendable {}
    private final class Group: RequestGroup, @unchecked Sendable {}

    private let url = URL(string: "http://example.invalid/users/1")!
    private let file = URL(fileURLWithPath: "/missing/a.txt")
    private let one = Attempts { _ in 1 }

    @Test func `A request is made with a URL`() async throws {
        let configuration = RequestConfiguration.default.with {
            $0.transport = ScriptedTransport([.body(Data("[1]".utf8))])
        }
        let items = Items(url, decoder: .json([Int].self), configuration: configuration)
        OperationQueue().addOperation(items)
        #expect(try await items.value == [1])
        #expect(try Items(url, json: [1], decoder: .json([Int].self)).request.httpMethod == "POST")
        #expect(Kind<Data>(url).request.url == url && Kind<Data>(URLRequest(url: url)).request.url == url)
        #expect(try Kind<Data>(url, method: .put, json: [1]).request.httpMethod == "PUT")
    }

    @Test func `A download, an upload and a stream are made with a URL`() {
        #expect(Download(url, to: .file(file)).request.url == url)
        #expect(Upload(.file(file), to: url, decoder: .data).request.httpMethod == "PUT")
        #expect(Upload(.file(file), to: url).request.url == url)
        #expect(Stream(url).request.url == url && Events(url).request.url == url)
    }

    @Test func `Work and compositions are made as their superclasses are`() {
        let operations: [Operation] = [
            Attempts(resource: url), Attempts(named: "a") { $0 }, Attempts(attempting: URLRequest(url: url)),
            Attempts { Attempts { $0 } }, Chain(one) { _ in Attempts { $0 } }, Steps({ _ in .skip }), Steps([]),
            Batch([one]), Group(order: .serial),
        ]
        #expect(operations.allSatisfy { !$0.isFinished })
    }
}
