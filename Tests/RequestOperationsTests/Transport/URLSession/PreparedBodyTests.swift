import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct PreparedBodyTests {
    private let path = TemporaryPath()

    /// A stream of pieces.
    private func stream(_ pieces: [Data], length: Int64? = nil) -> RequestBody {
        .stream(
            BodyStream(length: length) {
                let left = Locked(pieces[...])
                return BodyStream.Reader { left.withLock { $0.popFirst() } }
            })
    }

    private func error(of body: RequestBody) async -> RequestError? {
        await #expect(throws: RequestError.self) { try await PreparedBody(body) }
    }

    @Test func `A body in memory is sent as it is`() async throws {
        guard case .data(let data) = try await PreparedBody(.data(Data("abc".utf8))) else {
            Issue.record("not in memory")
            return
        }
        #expect(data == Data("abc".utf8))
    }

    @Test func `No body has no length`() async throws {
        #expect(try await PreparedBody(.none).length == nil)
        #expect(try await PreparedBody(.data(Data())).length == 0)
    }

    @Test func `A file has its length`() async throws {
        try Data("abc".utf8).write(to: path.url)
        #expect(try await PreparedBody(.file(path.url)).length == 3)
    }

    @Test func `A missing file is unencodable`() async {
        #expect(await error(of: .file(path.url))?.code == .unencodableBody)
    }

    @Test(arguments: ["/tmp", "/dev/zero"])
    func `What is no regular file is unencodable`(path: String) async {
        #expect(await error(of: .file(URL(fileURLWithPath: path)))?.code == .unencodableBody)
    }

    @Test func `A short stream is read into memory`() async throws {
        guard case .data(let data) = try await PreparedBody(stream([Data("ab".utf8), Data(), Data("c".utf8)])) else {
            Issue.record("not in memory")
            return
        }
        #expect(data == Data("abc".utf8))
    }

    @Test func `A long stream is read into a file`() async throws {
        let pieces = (0..<10).map { Data(repeating: $0, count: 20_000) }
        guard case .spooled(let file, let length) = try await PreparedBody(stream(pieces)) else {
            Issue.record("not in a file")
            return
        }
        #expect(length == 200_000)
        #expect(try Data(contentsOf: file.url) == pieces.reduce(Data(), +))
    }

    @Test(arguments: [2, 4] as [Int64])
    func `A stream that does not give what it declared is unencodable`(length: Int64) async {
        #expect(await error(of: stream([Data("abc".utf8)], length: length))?.code == .unencodableBody)
    }

    @Test func `The error of a source comes out as it is`() async {
        let body = RequestBody.stream(BodyStream { BodyStream.Reader { throw Problem() } })
        await #expect(throws: Problem.self) { try await PreparedBody(body) }
    }

    @Test func `A source that never answers is left behind by a cancel`() async {
        let isRead = Door()
        let body = RequestBody.stream(
            BodyStream {
                BodyStream.Reader {
                    isRead.open()
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                    return nil
                }
            })
        let preparing = Task { try await PreparedBody(body) }
        await isRead.pass()
        preparing.cancel()
        await #expect(throws: CancellationError.self) { try await preparing.value }
    }
}

@Suite(.timeLimit(.minutes(10))) struct TemporaryFileTests {
    @Test func `Only this user can read it`() throws {
        let file = try TemporaryFile()
        let attributes = try FileManager.default.attributesOfItem(atPath: file.url.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test func `It is removed with its last reference`() throws {
        let url = try TemporaryFile().url
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func `A part is read while the rest is written`() async throws {
        let file = try TemporaryFile()
        try file.append(Data("first".utf8))
        let read = Collector<Data>()
        try await file.read(0..<5) { read.append($0) }
        try file.append(Data("second".utf8))
        try await file.read(5..<11) { read.append($0) }
        #expect(read.elements == [Data("first".utf8), Data("second".utf8)])
    }

    @Test func `A large part comes in pieces of at most 64 KiB`() async throws {
        let file = try TemporaryFile()
        let content = Data((0..<150_000).map { UInt8($0 % 251) })
        try file.append(content)
        let read = Collector<Data>()
        try await file.read(0..<content.count) { read.append($0) }
        #expect(read.elements.reduce(Data(), +) == content)
        #expect(read.elements.allSatisfy { $0.count <= 64 << 10 })
    }

    @Test func `A part that is not there fails`() async throws {
        let file = try TemporaryFile()
        await #expect(throws: RequestError.self) { try await file.read(0..<1) { _ in } }
    }
}
