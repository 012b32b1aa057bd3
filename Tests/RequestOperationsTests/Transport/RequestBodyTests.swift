import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct RequestBodyTests {
    private static let url = URL(string: "https://a.example/")!  // A literal that is a URL.

    private static func pieces(_ stream: BodyStream) async throws -> [Data] {
        let reader = try await stream.open()
        var pieces: [Data] = []
        while let piece = try await reader.next() { pieces.append(piece) }
        return pieces
    }

    @Test func `A request without a body has none`() {
        #expect(RequestBody(of: URLRequest(url: Self.url)).isNone)
    }

    @Test func `An empty body is a body`() {
        var request = URLRequest(url: Self.url)
        request.httpBody = Data()
        #expect(!RequestBody(of: request).isNone)
    }

    @Test func `The data of a request is its body`() {
        var request = URLRequest(url: Self.url)
        request.httpBody = Data([1, 2])
        guard case .data(let data) = RequestBody(of: request) else {
            Issue.record("no data")
            return
        }
        #expect(data == Data([1, 2]))
    }

    @Test func `Only a stream that cannot be reopened is not replayable`() {
        let file = URL(fileURLWithPath: "/")
        let replayable: [RequestBody] = [.none, .data(Data()), .file(file), .stream(BodyStream { .init { nil } })]
        #expect(replayable.allSatisfy { $0.isReplayable })
        var request = URLRequest(url: Self.url)
        request.httpBodyStream = InputStream(data: Data([1]))
        #expect(!RequestBody(of: request).isReplayable)
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 200_000])
    func `A Foundation stream is read to its end`(count: Int) async throws {
        let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
        let pieces = try await Self.pieces(BodyStream(reading: InputStream(data: bytes)))
        #expect(pieces.reduce(Data(), +) == bytes)
        #expect(pieces.allSatisfy { !$0.isEmpty && $0.startIndex == 0 })
    }

    @Test func `A Foundation stream is opened once`() async throws {
        let stream = BodyStream(reading: InputStream(data: Data([1])))
        _ = try await Self.pieces(stream)
        let error = await #expect(throws: RequestError.self) { _ = try await stream.open() }
        #expect(error?.code == .bodyNotReplayable)
    }

    @Test func `A Foundation stream that fails is unencodable`() async throws {
        let missing = try #require(InputStream(url: URL(fileURLWithPath: "/nowhere/at/all")))
        let reader = try await BodyStream(reading: missing).open()
        let error = await #expect(throws: RequestError.self) { _ = try await reader.next() }
        #expect(error?.code == .unencodableBody)
    }
}
