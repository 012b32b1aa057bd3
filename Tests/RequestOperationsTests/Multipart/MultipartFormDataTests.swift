import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct MultipartFormDataTests {
    /// All bytes of a body.
    private func bytes(_ form: MultipartFormData) async throws -> Data {
        let stream: BodyStream
        switch try form.body() {
        case .data(let data): return data
        case .stream(let body): stream = body
        case .none, .file: throw Problem()
        }
        let reader = try await stream.open()
        var bytes = Data()
        while let piece = try await reader.next() { bytes += piece }
        #expect(stream.length.map { $0 == bytes.count } ?? true)
        return bytes
    }

    private func stream(_ content: String, length: Int64? = nil) -> BodyStream {
        BodyStream(length: length) {
            let pieces = Collected(content.utf8.map { Data([$0]) })
            return BodyStream.Reader { pieces.next() }
        }
    }

    /// Gives its elements away, one after another.
    private final class Collected: Sendable {
        private let rest: Locked<[Data]>

        init(_ elements: [Data]) {
            rest = Locked(elements)
        }

        func next() -> Data? {
            rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
    }

    @Test func `It is framed as the standard says`() async throws {
        let path = TemporaryPath()
        try Data("file".utf8).write(to: path.url)
        var form = MultipartFormData(boundary: "b")
        form.append("value", name: "text")
        form.append(Data("bytes".utf8), name: "data", contentType: "image/png")
        form.append(file: path.url, name: "file", fileName: "a.JPG")
        form.append(stream("stream", length: 6), name: "stream", fileName: "none")
        let expected = """
            --b
            Content-Disposition: form-data; name="text"

            value
            --b
            Content-Disposition: form-data; name="data"
            Content-Type: image/png

            bytes
            --b
            Content-Disposition: form-data; name="file"; filename="a.JPG"
            Content-Type: image/jpeg

            file
            --b
            Content-Disposition: form-data; name="stream"; filename="none"
            Content-Type: application/octet-stream

            stream
            --b--

            """
        #expect(
            String(decoding: try await bytes(form), as: UTF8.self)
                == expected.replacingOccurrences(of: "\n", with: "\r\n"))
        #expect(form.contentType == "multipart/form-data; boundary=b")
    }

    @Test func `A form without parts is whole`() async throws {
        #expect(try await bytes(MultipartFormData(boundary: "b")) == Data("--b--\r\n".utf8))
    }

    @Test func `Its boundary is another each time`() {
        #expect(Set((0..<100).map { _ in MultipartFormData().boundary }).count == 100)
    }

    @Test func `A boundary that is no token is quoted`() {
        #expect(MultipartFormData(boundary: "a:b").contentType == #"multipart/form-data; boundary="a:b""#)
    }

    @Test func `A length that is not known leaves the whole without one`() async throws {
        var form = MultipartFormData()
        form.append(stream("x"), name: "a")
        guard case .stream(let body) = try form.body() else { throw Problem() }
        #expect(body.length == nil)
        #expect(String(decoding: try await bytes(form), as: UTF8.self).contains("\r\n\r\nx\r\n--"))
    }

    @Test func `A large file is read in small pieces`() async throws {
        let path = TemporaryPath()
        try Data().write(to: path.url)
        let handle = try FileHandle(forWritingTo: path.url)
        try handle.truncate(atOffset: 64 << 20)
        try handle.close()
        var form = MultipartFormData()
        form.append(file: path.url, name: "file")
        guard case .stream(let stream) = try form.body() else { throw Problem() }
        let reader = try await stream.open()
        var (length, largest) = (0, 0)
        while let piece = try await reader.next() {
            length += piece.count
            largest = max(largest, piece.count)
        }
        #expect(stream.length == Int64(length) && length > 64 << 20 && largest <= 256 << 10)
    }

    @Test func `It is read again from its beginning`() async throws {
        var form = MultipartFormData()
        form.append(stream("x", length: 1), name: "a")
        #expect(try await bytes(form) == bytes(form))
        #expect(try form.body().isReplayable)
    }

    @Test func `A stream that cannot be reopened makes it one that cannot`() throws {
        var request = URLRequest(url: try #require(URL(string: "http://a.example")))
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        var form = MultipartFormData()
        form.append(MultipartFormData.Part(name: "a", content: RequestBody(of: request)))
        #expect(try !form.body().isReplayable)
    }

    @Test func `Parts in memory make a body in memory`() throws {
        var form = MultipartFormData()
        form.append("x", name: "a")
        form.append(MultipartFormData.Part(name: "b", content: .none))
        guard case .data(let body) = try form.body() else { throw Problem() }
        form.append(stream("x"), name: "c")
        guard case .stream = try form.body() else { throw Problem() }
        #expect(!body.isEmpty)
    }

    // MARK: What cannot be sent

    @Test(arguments: [[-1], [Int64.max], [Int64.max / 2, Int64.max / 2 + 1]])
    func `Lengths that make none are an error and no trap`(_ lengths: [Int64]) {
        var form = MultipartFormData()
        for length in lengths { form.append(stream("x", length: length), name: "a") }
        #expect { try form.body() } throws: { ($0 as? RequestError)?.code == .unencodableBody }
    }

    @Test(arguments: ["--b", "x\r\n--b", "x\r\n--by"]) func `A part in memory with the boundary is an error`(
        _ text: String
    ) {
        var form = MultipartFormData(boundary: "b")
        form.append(text, name: "the name")
        #expect { try form.body() } throws: { "\($0)".contains("'the name'") }
    }

    @Test func `The boundary elsewhere in a line is none`() async throws {
        var form = MultipartFormData(boundary: "b")
        form.append("x--b\n--b\r--b", name: "a")
        #expect(try await !bytes(form).isEmpty)
    }

    @Test func `A stream or a file with the boundary fails while it is read`() async throws {
        let path = TemporaryPath()
        try Data("x\r\n--b".utf8).write(to: path.url)
        for content in [RequestBody.stream(stream("x\r\n--b")), .file(path.url)] {
            var form = MultipartFormData(boundary: "b")
            form.append(MultipartFormData.Part(name: "a", content: content))
            await #expect(throws: RequestError.self) { try await bytes(form) }
        }
    }

    @Test func `A file that is not there is an error at once`() {
        var form = MultipartFormData()
        form.append(file: TemporaryPath().url, name: "a")
        #expect(throws: RequestError.self) { try form.body() }
        form = MultipartFormData()
        form.append(file: FileManager.default.temporaryDirectory, name: "a")
        #expect(throws: RequestError.self) { try form.body() }
    }

    @Test func `A media type with a line break is an error`() {
        var form = MultipartFormData()
        form.append(Data(), name: "a", contentType: "text/plain\r\nX-Evil: 1")
        #expect(throws: RequestError.self) { try form.body() }
    }

    // MARK: Other people's parsers

    private struct Read: Decodable, Equatable {
        var name: [UInt32]
        var fileName: [UInt32]?
        var content: String
        var fields: Int
    }

    @Test func `Any text comes through another parser`() async throws {
        var texts = AnyText(seed: 5)
        var form = MultipartFormData()
        var expected: [Read] = []
        for number in 0..<300 {
            // What the escape itself looks like cannot be told from it, in any browser either.
            let name = "\(number)" + texts.next(excluding: ["%"])
            let fileName = number.isMultiple(of: 2) ? texts.next(excluding: ["%"]) : nil
            let content = Data(texts.next().utf8)
            form.append(content, name: name, fileName: fileName, contentType: fileName == nil ? nil : "a/b")
            expected.append(
                Read(
                    name: name.unicodeScalars.map(\.value), fileName: fileName?.unicodeScalars.map(\.value),
                    content: content.base64EncodedString(), fields: fileName == nil ? 1 : 2))
        }
        let message =
            Data("MIME-Version: 1.0\r\nContent-Type: \(form.contentType)\r\n\r\n".utf8) + (try await bytes(form))
        let read = try await Program.python(.readMultipart, input: message, as: [Read].self)
        for (read, expected) in zip(read, expected) { #expect(read == expected) }
        #expect(read.count == expected.count)
    }

    /// Parsers that know escapes would take the quotation mark after the backslash for a part of the name.
    @Test(arguments: ["a\\", "\\", "a\\\\", "a\\b\\"])
    func `A backslash at the end of a name escapes nothing`(name: String) async throws {
        var form = MultipartFormData()
        form.append(Data(), name: name, fileName: "\(name); name=x", contentType: "a/b")
        form.append(Data(), name: "b", fileName: name)
        let message =
            Data("MIME-Version: 1.0\r\nContent-Type: \(form.contentType)\r\n\r\n".utf8) + (try await bytes(form))
        let text = String(decoding: message, as: UTF8.self)
        let plain = name.dropLast()
        #expect(text.contains("name=\"\(plain)%5C\"; filename=\"\(name); name=x\"\r\n"))
        #expect(text.contains("name=\"b\"; filename=\"\(plain)%5C\"\r\n"))
        struct Parameter: Decodable {
            let name: String
            init(from decoder: any Decoder) throws {
                var pair = try decoder.unkeyedContainer()
                name = try pair.decode(String.self)
            }
        }
        let read = try await Program.python(.readDisposition, input: message, as: [Parameter].self)
        #expect(read.map(\.name) == ["form-data", "name", "filename"])
    }

    @Test(arguments: ["a\"\r\nX-Evil: 1", "a\r\n\r\nbody", "a\n--b\r\n", "a\"; filename=\"x"])
    func `A name adds no field`(_ name: String) async throws {
        var form = MultipartFormData(boundary: "b")
        form.append(Data("c".utf8), name: name, fileName: name, contentType: "a/b")
        let text = String(decoding: try await bytes(form), as: UTF8.self)
        let head = try #require(text.components(separatedBy: "\r\n\r\n").first)
        #expect(
            head.components(separatedBy: "\r\n").count == 3
                && !head.replacingOccurrences(of: "\r\n", with: "").contains("\n"))
        #expect(head.filter { $0 == "\"" }.count == 4)
    }
}
