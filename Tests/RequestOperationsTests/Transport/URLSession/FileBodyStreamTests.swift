#if canImport(FoundationNetworking)
    import RequestOperationsTesting
    import Testing

    @testable import RequestOperations

    @Suite(.timeLimit(.minutes(10))) struct FileBodyStreamTests {
        private let path = TemporaryPath()

        private func stream(of content: String, length: Int64) throws -> FileBodyStream {
            try Data(content.utf8).write(to: path.url)
            let stream = FileBodyStream(path.url, length: length)
            stream.open()
            return stream
        }

        /// What a stream gives in pieces of a size, and what ends it: 0, or -1 if it fails.
        private func read(_ stream: FileBodyStream, _ size: Int) -> (String, end: Int) {
            var bytes: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: size)
            while true {
                let count = stream.read(&piece, maxLength: size)
                guard count > 0 else { return (String(decoding: bytes, as: UTF8.self), count) }
                bytes += piece[..<count]
            }
        }

        @Test(arguments: [1, 4, 10, 100])
        func `The file comes whole`(size: Int) throws {
            let stream = try stream(of: "0123456789", length: 10)
            #expect(stream.hasBytesAvailable)
            #expect(read(stream, size) == ("0123456789", 0))
            #expect(!stream.hasBytesAvailable)
        }

        @Test func `A file that grew is given in its former length`() throws {
            #expect(read(try stream(of: "0123456789", length: 7), 4) == ("0123456", 0))
        }

        @Test func `A file that shrank fails`() throws {
            let stream = try stream(of: "0123", length: 7)
            #expect(read(stream, 4) == ("0123", -1))
            #expect(stream.hasBytesAvailable)
        }

        @Test func `A file that is gone fails`() {
            let stream = FileBodyStream(path.url, length: 7)
            stream.open()
            #expect(read(stream, 4) == ("", -1))
        }
    }
#endif
