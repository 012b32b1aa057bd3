import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

/// Downloads that are cut anywhere, or whose process is killed.
@Suite(.serialized, .timeLimit(.minutes(15))) struct DownloadTests {
    /// The transport keeps at most this many bytes that it has not given to the download yet.
    private static let buffer = 256 << 10

    private static let content = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    private static let file = LoopbackServer.Response.file(content, etag: #""v1""#)

    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("downloads-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    @Test(arguments: LoopbackServer.Response.Ending.allCases)
    func `A download that is cut at a random position is whole, and fetches only what is missing`(
        ending: LoopbackServer.Response.Ending
    ) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await LoopbackServer.start()
        var configuration = RequestConfiguration()
        configuration.hosts = HostRegistry()
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.zero))
        configuration.retryPolicy.budget = nil
        // It ends those that stall. A busy machine may end others, too, which does no harm.
        if ending == .stall { configuration.idleTimeLimit = .milliseconds(200) }
        for round in 0..<Stress.rounds(200, shortened: ending == .stall ? 2 : 10) {
            let position = Int.random(in: 0..<Self.content.count)
            server.route("/\(round)", .brokenOff(Self.file, after: position, by: ending), Self.file)
            let file = folder.appendingPathComponent("\(round)")
            let value = try await run(
                DownloadOperation(server.url("/\(round)"), to: .file(file), configuration: configuration))
            #expect(try Data(contentsOf: file) == Self.content, "cut at \(position)")
            let second = try #require(server.requests.filter { $0.path == "/\(round)" }.dropFirst().first)
            let offset = second.field("Range").flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
            #expect(offset >= position - Self.buffer && offset <= position, "cut at \(position)")
            #expect(value.resumedBytes >= offset)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { !$0.hasPrefix(".") })
    }

    @Test func `A download goes on after its process was killed at a random moment`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await LoopbackServer.start()
        for round in 0..<Stress.rounds(200, shortened: 2) {
            let position = Int.random(in: 2..<Self.content.count)
            let name = "\(round).bin"
            server.route("/\(name)", .brokenOff(Self.file, after: position), Self.file)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                    url = server.url("/\(name)").absoluteString as String, folder = folder.path as String,
                    position = position as Int
                ] in
                var configuration = RequestConfiguration()
                // The process is killed before the next attempt, if not while bytes arrive.
                configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(60)))
                configuration.onProgress = { if $0.bytesReceived >= position / 2 { kill(getpid(), SIGKILL) } }
                configuration.onEvent = { event in
                    if case .attemptFailed = event.step { kill(getpid(), SIGKILL) }
                }
                _ = try await run(
                    DownloadOperation(
                        URL(string: url)!, to: .folder(URL(fileURLWithPath: folder)), resume: .acrossProcesses,
                        configuration: configuration))
            }
            let file = try await run(
                DownloadOperation(server.url("/\(name)"), to: .folder(folder), resume: .acrossProcesses))
            #expect(try Data(contentsOf: file.url) == Self.content, "cut at \(position)")
            #expect(file.resumedBytes >= position / 2 - Self.buffer, "cut at \(position)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
            try FileManager.default.removeItem(at: file.url)
        }
    }

    #if canImport(Glibc)
        @Test func `A disk that takes no more is an error, the old file stays, and nothing else does`() async throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = try await LoopbackServer.start()
            server.route("/file.bin", Self.file)
            await #expect(processExitsWith: .success) {
                [url = server.url("/file.bin").absoluteString as String, folder = folder.path as String] in
                let file = URL(fileURLWithPath: folder).appendingPathComponent("file.bin")
                try Data("old".utf8).write(to: file)
                // A limit of the process for the length of files has the same effect as a full disk.
                signal(SIGXFSZ, SIG_IGN)
                var limit = rlimit(rlim_cur: 100_000, rlim_max: 100_000)
                guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { exit(2) }
                do {
                    _ = try await run(
                        DownloadOperation(URL(string: url)!, to: .file(file), ifExists: .replace))
                    exit(3)
                } catch let error as RequestError {
                    guard error.code == .fileFailed, (error.underlying as? POSIXError)?.code == .EFBIG else { exit(4) }
                }
                guard try Data(contentsOf: file) == Data("old".utf8) else { exit(5) }
                guard try FileManager.default.contentsOfDirectory(atPath: folder) == ["file.bin"] else { exit(6) }
            }
        }
    #endif
}
