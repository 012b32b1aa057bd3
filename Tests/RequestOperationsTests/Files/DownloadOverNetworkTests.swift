import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

/// Downloads over real connections that break.
@Suite(.timeLimit(.minutes(15))) struct DownloadOverNetworkTests {
    private let folder: DownloadFolder

    init() throws {
        folder = try DownloadFolder()
    }

    /// The transport keeps at most this many bytes that it has not given to the download yet.
    private static let buffer = 256 << 10

    private static let content = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    private static let file = LoopbackServer.Response.file(content, etag: #""v1""#)

    private func server(_ responses: LoopbackServer.Response...) async throws -> (LoopbackServer, URL) {
        let server = try await LoopbackServer.start()
        server.route("/file.bin", responses)
        return (server, server.url("/file.bin"))
    }

    @Test(
        arguments: [0, 1, 4095, 65_536, 300_001, 599_999],
        [LoopbackServer.Response.Ending.close, .reset])
    func `A download that is cut is whole in the end, and fetches only what is missing`(
        _ position: Int, _ ending: LoopbackServer.Response.Ending
    ) async throws {
        let (server, url) = try await server(
            .brokenOff(Self.file, after: position, by: ending), Self.file)
        _ = try await run(DownloadOperation(url, to: .file(folder.file()), configuration: .downloading()))
        #expect(try Data(contentsOf: folder.file()) == Self.content)
        #expect(server.offsets.count == 2)
        #expect((position - Self.buffer...position).contains(server.offsets[1]))
    }

    @Test func `A download that is cut again and again is whole in the end`() async throws {
        let (server, url) = try await server(
            .brokenOff(Self.file, after: 100_000), .brokenOff(Self.file, after: 100_001),
            .brokenOff(Self.file, after: 0), .brokenOff(Self.file, after: 7, by: .reset), Self.file)
        let operation = DownloadOperation(
            url, to: .file(folder.file()), configuration: .downloading(retries: 9))
        let file = try await run(operation)
        #expect(try Data(contentsOf: folder.file()) == Self.content && file.resumedBytes > 0)
        #expect(operation.response?.head.status == 206 && server.requests.count == 5)
    }

    @Test func `A download over a URLSession goes on as well`() async throws {
        let (server, url) = try await server(.brokenOff(Self.file, after: 300_000), Self.file)
        let configuration = RequestConfiguration.downloading(over: URLSessionTransport())
        _ = try await run(DownloadOperation(url, to: .file(folder.file()), configuration: configuration))
        #expect(try Data(contentsOf: folder.file()) == Self.content)
        #expect(server.offsets.count == 2 && (1...300_000).contains(server.offsets[1]))
    }

    @Test func `A file that changes between the parts is the new one`() async throws {
        let new = Data(Self.content.reversed())
        let (server, url) = try await server(
            .brokenOff(Self.file, after: 300_000), .file(new, etag: #""v2""#))
        let file = try await run(
            DownloadOperation(url, to: .file(folder.file()), configuration: .downloading()))
        #expect(try Data(contentsOf: folder.file()) == new && file.resumedBytes == 0)
        #expect(server.requests.last?.field("If-Range") == #""v1""#)
    }

    @Test func `A file with a weak tag is downloaded again`() async throws {
        let file = LoopbackServer.Response.file(Self.content, etag: #"W/"v1""#)
        let (server, url) = try await server(.brokenOff(file, after: 300_000), file)
        _ = try await run(DownloadOperation(url, to: .file(folder.file()), configuration: .downloading()))
        #expect(try Data(contentsOf: folder.file()) == Self.content && server.offsets == [0, 0])
    }

    @Test func `A later operation goes on over a new connection`() async throws {
        let (server, url) = try await server(.brokenOff(Self.file, after: 300_000), Self.file)
        for _ in 1...2 {
            let operation = DownloadOperation(
                url, to: .folder(folder.url), resume: .acrossProcesses, configuration: .downloading(retries: 0))
            _ = await failure(of: operation)
        }
        #expect(try Data(contentsOf: folder.file("file.bin")) == Self.content && server.offsets[1] > 0)
        #expect(try folder.names == ["file.bin"])
    }
}

extension LoopbackServer {
    /// The first bytes that the requests asked for.
    fileprivate var offsets: [Int] {
        requests.map { request in request.field("Range").flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0 }
    }
}
