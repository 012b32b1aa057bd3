import RequestOperations
import RequestOperationsTesting
import Testing

/// Downloads, as a program of another module uses them.
@Suite(.timeLimit(.minutes(15))) struct DownloadFaceTests {
    private struct Report: Endpoint {
        typealias Response = Data
        let path = "/report"
    }

    private let url = URL(string: "http://example.invalid/a.txt")!
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("face-\(UUID().uuidString)")

    private var configuration: RequestConfiguration {
        var configuration = RequestConfiguration()
        configuration.transport = ScriptedTransport([.body(Data("content".utf8))])
        return configuration
    }

    @Test func `A download gives a file`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let operation: URLRequestOperation<DownloadedFile> = DownloadOperation(
            url, to: .folder(folder), ifExists: .uniqueName, resume: .acrossProcesses(key: "a"),
            checksum: .sha256(hex: "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"),
            configuration: configuration)
        OperationQueue().addOperation(operation)
        let file = try await operation.value
        #expect(file.url.lastPathComponent == "a.txt" && file.size == 7 && file.resumedBytes == 0)
        #expect(file.verifiedDigests.map(\.algorithm) == [.sha256] && file.head.status == 200)
        let removed: Int = try DownloadOperation.removeStalePartials(in: folder, olderThan: .seconds(60))
        #expect(removed == 0)
    }

    @Test func `A download is made in four ways`() {
        let url = url
        let operations: [DownloadOperation] = [
            DownloadOperation(url, to: .file(folder)),
            DownloadOperation(URLRequest(url: url), to: .folder(folder), resume: .never),
            DownloadOperation(Report(), relativeTo: url, to: .chosen { head in head.url }),
            DownloadOperation(from: { url }, to: .file(folder), ifExists: .replace, resume: .betweenAttempts),
            Quiet(url, to: .file(folder)),
        ]
        #expect(operations.allSatisfy { !$0.isFinished })
    }
}

private final class Quiet: DownloadOperation, @unchecked Sendable {
    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        var task = try await super.makeTask(for: request)
        task.limits.idle = .seconds(5)
        return task
    }
}
