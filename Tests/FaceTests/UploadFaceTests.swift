import RequestOperations
import RequestOperationsTesting
import Testing

/// Uploads, as a program of another module uses them.
@Suite(.timeLimit(.minutes(15))) struct UploadFaceTests {
    private let url = URL(string: "http://example.invalid/a.txt")!
    private let file = URL(fileURLWithPath: "/a.txt")

    private var configuration: RequestConfiguration {
        var configuration = RequestConfiguration()
        configuration.transport = ScriptedTransport([.body(Data("[1]".utf8))])
        return configuration
    }

    @Test func `An upload gives a value`() async throws {
        let operation: URLRequestOperation<[Int]> = UploadOperation(
            .data(Data("content".utf8)), to: url, method: .patch, by: .plain(expectsContinue: true, isChunked: false),
            decoder: .json(), configuration: configuration)
        OperationQueue().addOperation(operation)
        #expect(try await operation.value == [1])
        let plain = UploadOperation(.data(Data()), to: url, configuration: configuration)
        OperationQueue().addOperation(plain)
        let body: Data = try await plain.value
        #expect(body == Data("[1]".utf8) && plain.uploadURL == nil)
        let wasThere: Bool = try await plain.terminate()
        #expect(!wasThere)
    }

    @Test func `An upload is made of a body or a form, by a protocol`() {
        let request = URLRequest(url: url)
        let operations: [UploadOperation<Data>] = [
            UploadOperation(.file(file), to: url, by: .tus),
            UploadOperation(.file(file), to: request, by: .tus(resume: .acrossProcesses, chunkSize: 1 << 20)),
            UploadOperation(
                .data(Data()), to: url,
                by: .tus(resume: .acrossProcesses(record: file), metadata: ["filename": "a"], isVerified: false)),
            UploadOperation(MultipartFormData(), to: url),
            UploadOperation(MultipartFormData(), to: request, by: .plain, decoder: .data),
            UploadOperation(MultipartFormData(), to: url, method: .put, by: .plain, decoder: .data),
            Quiet(.file(file), to: request, decoder: .data),
        ]
        #expect(operations.allSatisfy { !$0.isFinished })
    }

    @Test func `A client downloads, and uploads by a protocol`() async throws {
        let client = RequestClient(baseURL: url, configuration: configuration)
        let value = try await client.upload(.data(Data()), to: "files", by: .plain, decoder: .json([Int].self))
        let upload: UploadOperation<Data> = client.uploadOperation(
            .file(file), to: "files", by: .tus, decoder: .data)
        let download: DownloadOperation = client.downloadOperation("a.txt", to: .file(file), ifExists: .replace)
        #expect(value == [1] && !upload.isFinished && !download.isFinished)
    }
}

private final class Quiet: UploadOperation<Data>, @unchecked Sendable {
    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        var task = try await super.makeTask(for: request)
        task.limits.idle = .seconds(5)
        return task
    }
}
