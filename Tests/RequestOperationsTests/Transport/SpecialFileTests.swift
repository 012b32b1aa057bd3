import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct SpecialFileTests {
    private let path = TemporaryPath()

    /// A pipe with a name.
    private func makePipe() throws -> SpecialFile {
        try #require(mkfifo(path.url.path, 0o600) == 0)
        return try #require(SpecialFile(path.url))
    }

    @Test func `What is regular or missing is not special`() throws {
        #expect(SpecialFile(path.url) == nil)
        try Data().write(to: path.url)
        #expect(SpecialFile(path.url) == nil)
        #expect(SpecialFile(FileManager.default.temporaryDirectory) == nil)
    }

    @Test func `A device is written to and never removed`() async throws {
        let file = try #require(SpecialFile(URL(fileURLWithPath: "/dev/null")))
        try await file.write(Data("x".utf8))
        try await file.finish()
        #expect(FileManager.default.fileExists(atPath: "/dev/null"))
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func `A full device fails as such`() async throws {
        let file = try #require(SpecialFile(URL(fileURLWithPath: "/dev/full")))
        let error = await #expect(throws: RequestError.self) { try await file.write(Data("x".utf8)) }
        #expect(error?.code == .fileFailed && error?.underlying is POSIXError)
    }

    @Test func `A pipe gets the bytes in their order and its end`() async throws {
        let pipe = try makePipe()
        async let content = Self.readAll(path.url)
        for piece in ["one ", "two "] { try await pipe.write(Data(piece.utf8)) }
        try await pipe.finish()
        #expect(try await content == Data("one two ".utf8))
    }

    @Test func `A cancel does not wait for the reader of a pipe`() async throws {
        let pipe = try makePipe()
        let writer = Task { try await pipe.write(Data("x".utf8)) }
        writer.cancel()
        await #expect(throws: CancellationError.self) { try await writer.value }
        // A reader lets the thread go that opens the pipe.
        async let content = Self.readAll(path.url)
        try await pipe.finish()
        _ = try await content
    }

    @Test func `A pipe whose reader is gone fails as such`() async throws {
        let pipe = try makePipe()
        let reader = open(path.url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try await pipe.write(Data("x".utf8))
        close(reader)
        // A program that another test is starting just now has the reader's end as well, until it runs. So many bytes fit
        // into a pipe that nobody reads.
        let error = await #expect(throws: RequestError.self) {
            for _ in 0..<60_000 { try await pipe.write(Data("y".utf8)) }
        }
        #expect((error?.underlying as? POSIXError)?.code == .EPIPE)
    }

    @Test(arguments: [PlatformTransport.shared, URLSessionTransport.shared] as [any Transport])
    func `A pipe that nobody reads holds up no other transfer`(transport: any Transport) async throws {
        let server = try await LoopbackServer.start { _ in .text("here") }
        let request = URLRequest(url: server.url)
        try #require(mkfifo(path.url.path, 0o600) == 0)
        async let download = transport.perform(.download(request, to: path.url)) { _ in }
        try await server.requests(atLeast: 1)
        _ = try await transport.perform(.data(request)) { _ in }
        #expect(try await Self.readAll(path.url) == Data("here".utf8))
        #expect(try await download.bodySize == 4)
    }

    private static func readAll(_ url: URL) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "reader").async {
                continuation.resume(
                    with: Result { try FileHandle(forReadingFrom: url).readToEnd() ?? Data() })
            }
        }
    }
}
