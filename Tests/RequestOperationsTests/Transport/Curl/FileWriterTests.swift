#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Glibc
    import RequestOperationsTesting
    import Testing

    @testable import RequestOperations

    final class FileWriterTests: Sendable {
        private let path = TemporaryPath()

        /// They end before, at and behind the end of a piece.
        @Test(arguments: [
            [], [0], [1], [FileWriter.pieceSize], [FileWriter.pieceSize + 1], [Int](repeating: 16_000, count: 40),
            [1, 5 * FileWriter.pieceSize],
        ])
        func `Bytes stay in their order, whatever their number`(sizes: [Int]) throws {
            let writer = try FileWriter(FileSink(path.url))
            var written = Data()
            for (index, size) in sizes.enumerated() {
                let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) })
                try bytes.withUnsafeBytes { try writer.write($0) }
                written += bytes
            }
            try writer.finish(with: Data())
            #expect(try path.content == written)
        }

        @Test func `The file appears when it is finished, not with its last full piece`() throws {
            let writer = try FileWriter(FileSink(path.url))
            try write(3, to: writer)
            #expect(!path.exists)
            try writer.finish(with: Data())
            try expectPieces(3)
        }

        @Test func `Pieces are written as soon as they are full`() async throws {
            try FileManager.default.createDirectory(at: path.url, withIntermediateDirectories: false)
            let writer = try FileWriter(FileSink(path.url.appendingPathComponent("body")))
            try write(2, to: writer)
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: path.url.path).first)
            let hidden = path.url.appendingPathComponent(name).path
            await eventually {
                let size = try? FileManager.default.attributesOfItem(atPath: hidden)[.size] as? NSNumber
                return size?.intValue == 2 * FileWriter.pieceSize
            }
            writer.discard()
        }

        @Test func `Of a file that is not finished nothing is left`() throws {
            try FileManager.default.createDirectory(at: path.url, withIntermediateDirectories: false)
            let writer = try FileWriter(FileSink(path.url.appendingPathComponent("body")))
            try write(2, to: writer)
            writer.discard()
            #expect(try FileManager.default.contentsOfDirectory(atPath: path.url.path) == [])
        }

        @Test func `A cancelled Task leaves what was there`() async throws {
            try Data("before".utf8).write(to: path.url)
            let writer = try FileWriter(FileSink(path.url))
            try write(2, to: writer)
            let mayGoOn = Door()
            let finish = Task {
                await mayGoOn.pass()
                try writer.finish(with: Data())
            }
            finish.cancel()
            mayGoOn.open()
            await #expect(throws: CancellationError.self) { try await finish.value }
            writer.discard()
            #expect(try path.content == Data("before".utf8))
        }

        @Test func `What was kept before the head was accepted is in the file, also if that is all`() throws {
            let writer = try FileWriter(FileSink(path.url))
            let bytes = Data((0..<3 * FileWriter.pieceSize).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try writer.finish(with: bytes)
            #expect(try path.content == bytes)
        }

        @Test func `A piece that the system does not write fails what comes after it, and what was there stays`()
            async throws
        {
            await #expect(processExitsWith: .success) { [path = path.url.path as String] in
                let file = URL(fileURLWithPath: path)
                try Data("before".utf8).write(to: file)
                limitFiles(to: FileWriter.pieceSize + 1)
                let writer = try FileWriter(FileSink(file))
                let error = #expect(throws: RequestError.self) {
                    for _ in 1...5 { try Data(count: FileWriter.pieceSize).withUnsafeBytes { try writer.write($0) } }
                    try writer.finish(with: Data())
                }
                writer.discard()
                let content = try Data(contentsOf: file)
                guard error?.code == .fileFailed, content == Data("before".utf8) else { exit(EXIT_FAILURE) }
            }
        }

        /// The first is too large when it has come whole, the others while they come.
        @Test(arguments: [1, 4, 64])
        func `A download that the system does not write is fileFailed, and nothing is left of it`(pieces: Int)
            async throws
        {
            try FileManager.default.createDirectory(at: path.url, withIntermediateDirectories: false)
            await #expect(processExitsWith: .success) { [folder = path.url.path as String, pieces] in
                let server = try await LoopbackServer.start()
                server.route("/", .large(byteCount: pieces * FileWriter.pieceSize - 1))
                limitFiles(to: FileWriter.pieceSize / 2)
                let destination = URL(fileURLWithPath: folder).appendingPathComponent("body")
                let transport = CurlTransport.with { _ in }
                let row = await transport.row(.download(URLRequest(url: server.url), to: destination))
                let left = try FileManager.default.contentsOfDirectory(atPath: folder)
                guard row.code == .fileFailed, row.phase == .body, row.hasHead, left.isEmpty else { exit(EXIT_FAILURE) }
            }
        }

        /// Writes pieces that differ.
        private func write(_ pieces: Int, to writer: FileWriter) throws {
            for number in 0..<pieces { try piece(number).withUnsafeBytes { try writer.write($0) } }
        }

        private func piece(_ number: Int) -> Data {
            Data(repeating: UInt8(number), count: FileWriter.pieceSize)
        }

        private func expectPieces(_ count: Int) throws {
            #expect(try path.content == (0..<count).map(piece).reduce(Data(), +))
        }
    }

    /// Has the system write no byte of a file beyond a length, as if the disk were full.
    private func limitFiles(to length: Int) {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: rlim_t(length), rlim_max: rlim_t(length))
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    }
#endif
