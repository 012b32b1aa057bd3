#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    struct HeadReaderTests {
        private static let url = URL(fileURLWithPath: "/")

        private func read(_ lines: String...) -> (HeadReader, [HeadReader.Line]) {
            var reader = HeadReader()
            let results = lines.map { line in
                Array((line + "\r\n").utf8).withUnsafeBytes { reader.add($0) }
            }
            return (reader, results)
        }

        @Test func `A head is complete at its empty line`() {
            let (reader, results) = read("HTTP/1.1 200 OK", "A: 1", "")
            #expect(results == [.more, .more, .complete])
            #expect(reader.head(for: Self.url).status == 200)
            #expect(reader.head(for: Self.url).version == .http1_1)
            #expect(reader.head(for: Self.url).field("a") == "1")
        }

        @Test func `Informational heads are left out`() {
            let (reader, results) = read("HTTP/1.1 103 Early", "A: 0", "", "HTTP/1.1 204", "A: 1", "")
            #expect(results.filter { $0 == .complete }.count == 1)
            #expect(reader.head(for: Self.url).status == 204)
            #expect(reader.head(for: Self.url).field("A") == "1")
        }

        @Test(arguments: [
            "HTTP/1.1 101 Switching Protocols", "HTTP/1.1 2000 OK", "HTTP/1.1 99 Low", "HTTP/1.1 OK", "HTTP/1.1",
        ])
        func `A status that answers nothing is malformed`(line: String) {
            #expect(read(line).1 == [.malformed(HeadReader.noStatus)])
        }

        @Test(arguments: [" Date: x", "\tDate: x", " ", "\t \t"])
        func `A first line that continues another one is malformed`(line: String) {
            let malformed = HeadReader.Line.malformed(HeadReader.foldedStart)
            #expect(read("HTTP/1.1 200 OK", line).1 == [.more, malformed])
            #expect(read("HTTP/1.1 103 Early", "A: 1", "", "HTTP/1.1 200 OK", line).1.last == malformed)
        }

        @Test func `A later line continues the one before it`() {
            let (reader, results) = read("HTTP/1.1 200 OK", "A: 1", " 2", "")
            #expect(results == [.more, .more, .more, .complete])
            #expect(reader.head(for: Self.url).field("A") == "1 2")
        }

        @Test func `Several blanks before the status are skipped`() {
            #expect(read("HTTP/1.1  500 Error", "").0.head(for: Self.url).status == 500)
        }

        @Test func `Trailers are no part of the head`() {
            let (reader, _) = read("HTTP/1.1 200 OK", "", "A: 1")
            #expect(reader.head(for: Self.url).field("A") == nil)
        }

        @Test(arguments: [("HTTP/1.0 200 OK", HTTPVersion.http1_0), ("HTTP/2 200 ", .http2), ("HTTP/3 200 ", .http3)])
        func `The version is that of the status line`(line: String, version: HTTPVersion) {
            #expect(read(line, "").0.head(for: Self.url).version == version)
        }

        @Test func `The content coding is noticed in any spelling, several as one list`() {
            let (reader, _) = read("HTTP/1.1 200 OK", "content-ENCODING:  gzip ", "Content-Encoding: br", "")
            #expect(reader.contentEncoding == "gzip, br")
        }

        @Test func `The number of fields has a limit`() {
            let fields = (0...HeadReader.fieldLimit).map { "A: \($0)" }
            var reader = HeadReader()
            let results = (["HTTP/1.1 200"] + fields).map { line in
                Array((line + "\r\n").utf8).withUnsafeBytes { reader.add($0) }
            }
            #expect(results.count { $0 == .more } == HeadReader.fieldLimit + 1)
            #expect(results.last == .malformed(HeadReader.tooLarge))
        }

        @Test func `All heads together have a limit`() {
            var reader = HeadReader()
            _ = Array("HTTP/1.1 103 Early\r\n".utf8).withUnsafeBytes { reader.add($0) }
            let line = [UInt8](repeating: UInt8(ascii: "a"), count: HeadReader.limit)
            #expect(line.withUnsafeBytes { reader.add($0) } == .malformed(HeadReader.tooLarge))
        }
    }
#endif
