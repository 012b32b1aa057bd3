import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

/// Uploads to a tus server that is not ours, with either side killed in the middle.
@Suite(
    .serialized, .enabled(if: TusServerProgram.isInstalled, "tuspyserver is not installed"),
    .timeLimit(.minutes(15)))
struct TusServerTests {
    private static let content = Data((0..<6_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })

    private let server: TusServerProgram
    private let folder: URL
    private let file: URL

    init() throws {
        server = try TusServerProgram()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("uploads-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        file = folder.appendingPathComponent("file.bin")
        try Self.content.write(to: file)
    }

    private static var configuration: RequestConfiguration {
        var configuration = RequestConfiguration()
        configuration.hosts = HostRegistry()
        // A server takes a while to start.
        configuration.retryPolicy = RetryPolicy(maximumRetries: 500, backoff: .constant(.milliseconds(50)))
        configuration.retryPolicy.budget = nil
        return configuration
    }

    @Test func `A file arrives whole, and can be removed`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for way in [UploadProtocol.tus, .tus(chunkSize: 1_000_000), .tus(chunkSize: 9_000_000)] {
            let operation = UploadOperation(.file(file), to: server.url, by: way, configuration: Self.configuration)
            _ = try await run(operation)
            #expect(try server.contents == [Self.content])
            #expect(try await operation.terminate())
            #expect(try server.contents.isEmpty)
        }
    }

    @Test func `An upload whose server is killed again and again arrives whole`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for _ in 0..<Stress.rounds(20, shortened: 1) {
            let server = try TusServerProgram()
            var configuration = Self.configuration
            let reports = Locked(0)
            configuration.onProgress = { _ in
                let isTime = reports.withLock { count in
                    count += 1
                    return count % 4 == 1 && count < 16
                }
                guard isTime else { return }
                do { try server.killAndRestart() } catch { Issue.record(error) }
            }
            let operation = UploadOperation(
                .file(file), to: server.url, by: .tus(chunkSize: 500_000), configuration: configuration)
            _ = try await run(operation)
            // A server that was killed after it created an upload, and before it said so, keeps that one as well.
            let contents = try server.contents
            #expect(contents.contains(Self.content), "\(contents.map(\.count))")
            #expect(operation.attempts.count > 1)
        }
    }

    @Test func `An upload goes on after its process was killed`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [url = server.url.absoluteString as String, file = file.path as String] in
            var configuration = RequestConfiguration()
            configuration.onProgress = { progress in
                if progress.bytesSent > 2_200_000 { kill(getpid(), SIGKILL) }
            }
            let operation = UploadOperation(
                .file(URL(fileURLWithPath: file)), to: URL(string: url)!,
                by: .tus(resume: .acrossProcesses, chunkSize: 1_000_000), configuration: configuration)
            _ = try await run(operation)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
        let reports = Locked<[Int64]>([])
        var configuration = Self.configuration
        configuration.onProgress = { progress in reports.withLock { $0.append(progress.bytesSent) } }
        let operation = UploadOperation(
            .file(file), to: server.url, by: .tus(resume: .acrossProcesses), configuration: configuration)
        _ = try await run(operation)
        #expect(try server.contents == [Self.content])
        #expect(reports.withLock { $0.first ?? 0 } >= 2_000_000)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file.bin"])
    }
}
