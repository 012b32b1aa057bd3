import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// AsyncHTTPClient's own delegate for downloads, and a body that NIO reads from a file piece by piece.
final class AsyncHTTPClientMover: FileMover {
    private let client = HTTPClient(eventLoopGroupProvider: .singleton)

    func download(_ page: String, to file: URL) throws -> Double? {
        let delegate = try FileDownloadDelegate(path: file.path)
        let progress = try client.execute(request: HTTPClient.Request(url: page), delegate: delegate).wait()
        guard progress.head.status == .ok else { throw BenchmarkError("status \(progress.head.status)") }
        return nil
    }

    func upload(_ file: URL, to page: String) throws -> Double? {
        let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        let eventLoop = client.eventLoopGroup.any()
        let body = HTTPClient.Body.stream(contentLength: Int64(size)) { writer in
            eventLoop.flatSubmit { Self.send(file.path, size, to: writer, on: eventLoop) }
        }
        let request = try HTTPClient.Request(url: page, method: .PUT, body: body)
        let response = try client.execute(request: request).wait()
        guard (200..<300).contains(response.status.code) else { throw BenchmarkError("status \(response.status)") }
        return nil
    }

    private static func send(
        _ path: String, _ size: Int, to writer: HTTPClient.Body.StreamWriter, on eventLoop: any EventLoop
    ) -> EventLoopFuture<Void> {
        do {
            let handle = try NIOFileHandle(_deprecatedPath: path)
            let fileIO = NonBlockingFileIO(threadPool: .singleton)
            let sent = fileIO.readChunked(
                fileHandle: handle, byteCount: size, chunkSize: 128 << 10, allocator: ByteBufferAllocator(),
                eventLoop: eventLoop
            ) { writer.write(.byteBuffer($0)) }
            return sent.flatMapThrowing { try handle.close() }
        } catch {
            return eventLoop.makeFailedFuture(error)
        }
    }
}
