import RequestOperations
import RequestOperationsTesting
import Testing

/// The progress of uploads, in all the ways to make one.
@Suite(.timeLimit(.minutes(15))) struct UploadProgressTests {
    /// Sends as many bytes as the body has, and answers with four.
    private struct Uploading: Transport {
        /// Called after each report.
        let note: @Sendable () async -> Void

        func perform(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse {
            var progress = TransferProgress(bytesToSend: 10)
            for sent in [0, 5, 10] as [Int64] {
                progress.bytesSent = sent
                task.onProgress?(progress)
                await note()
            }
            let head = ResponseHead(status: 200, url: try #require(task.request.url))
            try onHead(head)
            (progress.bytesReceived, progress.bytesToReceive) = (4, 4)
            task.onProgress?(progress)
            await note()
            return TransportResponse(head: head, body: Data("done".utf8))
        }
    }

    private struct Photo: Endpoint {
        typealias Response = Data
        var path: String { "photos" }
        var method: HTTPMethod { .post }
        var bodyEncoder: ParameterEncoder { .multipart }
        var files: [MultipartFormData.Part] { [part] }
    }

    private static let part = MultipartFormData.Part(name: "a", fileName: "a.txt", content: .data(Data(count: 10)))

    enum Making: CaseIterable {
        case operation, byProtocol, files, body, endpoint, task

        func operation(_ client: RequestClient) -> URLRequestOperation<Data> {
            let body = RequestBody.data(Data(count: 10))
            switch self {
            case .operation:
                return UploadOperation(body, to: anyRequest, configuration: client.configuration)
            case .byProtocol:
                return client.uploadOperation(body, to: "a", by: .plain, decoder: .data)
            case .files:
                return client.uploadOperation(files: [part], to: "a", decoder: .data)
            case .body:
                return client.uploadOperation(body, to: "a", decoder: .data)
            case .endpoint:
                return client.operation(for: Photo())
            case .task:
                return Own(anyRequest, decoder: .data, configuration: client.configuration)
            }
        }
    }

    private final class Own: URLRequestOperation<Data>, @unchecked Sendable {
        override func makeTask(for request: URLRequest) async throws -> TransportTask {
            .upload(request, from: .data(Data(count: 10)))
        }
    }

    @Test(arguments: Making.allCases)
    func `The total is known from the first byte, and the response does not count`(_ making: Making) async throws {
        let watched = Locked<Progress?>(nil)
        let told = Collector<[Int64]>()
        let client = RequestClient(
            over: Uploading {
                if let progress = watched.withLock({ $0 }) {
                    told.append([progress.completedUnitCount, progress.totalUnitCount])
                }
            })
        let operation = making.operation(client)
        watched.withLock { $0 = operation.progress }
        _ = try await run(operation)
        #expect(told.elements == [[0, 10], [5, 10], [10, 10], [10, 10]])
        #expect(operation.progress.completedUnitCount == 10 && operation.progress.totalUnitCount == 10)
    }

    @Test func `A batch of uploads follows their bytes`() async throws {
        let (door, reports) = (Door(), Locked(0))
        let client = RequestClient(
            over: Uploading {
                let number = reports.withLock { reports in
                    reports += 1
                    return reports
                }
                if number == 2 { await door.pass() }
            })
        let batch = RequestBatch([Making.files.operation(client)])
        let progress = batch.progress
        OperationQueue().addOperation(batch)
        await eventually { progress.fractionCompleted > 0.4 }
        door.open()
        _ = try await batch.value
        #expect(progress.fractionCompleted == 1)
    }
}
