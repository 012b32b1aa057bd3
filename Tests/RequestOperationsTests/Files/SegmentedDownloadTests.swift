import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct SegmentedDownloadTests {
    private let folder: DownloadFolder
    private let url = URL(string: "http://a.example/path/name.bin")!

    init() throws {
        folder = try DownloadFolder()
    }

    private static let mebibyte = 1 << 20
    private static let content = pattern(5 * mebibyte)
    private var content: Data { Self.content }
    /// The file after it changed.
    private let changed = Data(repeating: 9, count: 5 * mebibyte)

    /// Bytes that are not the same at any two places that segments could be mixed up at.
    private static func pattern(_ count: Int) -> Data {
        var data = Data(repeating: 7, count: count)
        for (number, offset) in stride(from: 0, to: count - 8, by: 1000).enumerated() {
            data.replaceSubrange(offset..<offset + 4, with: withUnsafeBytes(of: UInt32(number)) { Data($0) })
        }
        return data
    }

    private func operation(
        over transport: FileTransport, segments: Int = 4, resume: DownloadResumption = .betweenAttempts,
        checksum: FileDigest? = nil, retries: Int = 3
    ) -> DownloadOperation {
        DownloadOperation(
            url, to: .file(folder.file()), resume: resume, segments: segments, checksum: checksum,
            configuration: .downloading(over: transport, retries: retries))
    }

    private var file: Data? { FileManager.default.contents(atPath: folder.file().path) }

    private func digest(_ data: Data) -> Data {
        let digest = SHA2(.sha256)
        digest.update(data)
        return digest.digest
    }

    // MARK: Segments

    @Test func `The first request asks for a part, and the others for the rest of it`() async throws {
        let transport = FileTransport(content)
        let file = try await run(operation(over: transport))
        #expect(self.file == content && file.size == 5 << 20 && file.resumedBytes == 0)
        #expect(transport.ranges.first == "bytes=0-1048575")
        #expect(
            Set(transport.ranges.dropFirst()) == [
                "bytes=1048576-2097151", "bytes=2097152-3145727", "bytes=3145728-4194303", "bytes=4194304-5242879",
            ])
        #expect(transport.asked.map(\.condition) == [nil] + Array(repeating: FileTransport.tag, count: 4))
        #expect(transport.sent == content.count)
        #expect(try folder.names == ["file"])
    }

    @Test func `The segments are downloaded at once`() async throws {
        let door = Door()
        let transport = FileTransport(content) { asked in
            if asked.number > 1 { await door.pass() }
            return .asked
        }
        let operation = operation(over: transport)
        OperationQueue().addOperation(operation)
        await eventually { transport.asked.count == 5 }
        door.open()
        _ = try await operation.value
        #expect(file == content)
    }

    @Test func `The client of a download is told of the download, and not of its segments`() async throws {
        let client = RequestClient(configuration: .downloading(over: FileTransport(content)))
        let events = client.events
        let operation = client.downloadOperation(url.absoluteString, to: .file(folder.file()), segments: 4)
        client.submit(operation)
        var told: Set<RequestID> = []
        for await event in events {
            told.insert(event.id)
            if case .ended = event.step { break }
        }
        #expect(told == [operation.id] && file == content)
    }

    @Test(arguments: [1, 3])
    func `A queue and a limiter bound the segments`(_ width: Int) async throws {
        let atOnce = Locked((now: 0, most: 0))
        let transport = FileTransport(content) { _ in
            atOnce.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            for _ in 1...20 { await Task.yield() }
            atOnce.withLock { $0.now -= 1 }
            return .asked
        }
        var configuration = RequestConfiguration.downloading(over: transport)
        configuration.limiter = RequestLimiter(total: width)
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = width
        let operation = DownloadOperation(
            url, to: .file(folder.file()), segments: 4, configuration: configuration)
        queue.addOperation(operation)
        _ = try await operation.value
        #expect(file == content && atOnce.withLock { $0.most } <= width)
    }

    @Test func `A file of less than a part comes in one response`() async throws {
        let transport = FileTransport(content.prefix(1000))
        _ = try await run(operation(over: transport))
        #expect(file == content.prefix(1000) && transport.asked.count == 1)
    }

    @Test func `An empty file is asked for again as a whole`() async throws {
        let transport = FileTransport(Data())
        _ = try await run(operation(over: transport))
        #expect(file == Data() && transport.ranges == ["bytes=0-1048575", nil])
    }

    @Test func `One segment asks for no range`() async throws {
        let transport = FileTransport(content)
        _ = try await run(operation(over: transport, segments: 1))
        #expect(file == content && transport.ranges == [nil])
    }

    // MARK: Servers that cannot do it

    @Test func `A server without ranges sends the whole`() async throws {
        let transport = FileTransport(content) { _ in .whole }
        _ = try await run(operation(over: transport))
        #expect(file == content && transport.asked.count == 1)
    }

    @Test(arguments: [nil, #"W/"v1""#])
    func `Without a strong validator the whole is asked for in the same attempt`(_ tag: String?) async throws {
        let transport = FileTransport(content, tag: tag)
        let operation = operation(over: transport)
        _ = try await run(operation)
        #expect(file == content && transport.ranges == ["bytes=0-1048575", nil] && operation.attempts.count == 1)
    }

    // MARK: Failures

    @Test func `A segment that fails is retried alone, from where it broke off`() async throws {
        let transport = FileTransport(content) { asked in
            asked.range == "bytes=2097152-3145727" ? .breaksOff(after: 300_000) : .asked
        }
        let operation = operation(over: transport)
        _ = try await run(operation)
        #expect(file == content && transport.asked.count == 6 && transport.sent == content.count)
        #expect(transport.ranges.contains("bytes=2397152-3145727") && operation.attempts.count == 1)
    }

    @Test func `A segment that gets further with each attempt runs out of no retries`() async throws {
        let transport = FileTransport(content) { asked in
            asked.range == "bytes=0-1048575" ? .asked : .breaksOff(after: 100_000)
        }
        _ = try await run(operation(over: transport, retries: 1))
        #expect(file == content && transport.sent == content.count)
    }

    @Test func `A segment of which less comes is asked for the rest`() async throws {
        let transport = FileTransport(content) { asked in
            asked.range == "bytes=2097152-3145727" ? .shorter(by: 10) : .asked
        }
        _ = try await run(operation(over: transport))
        #expect(file == content && transport.ranges.contains("bytes=3145718-3145727"))
    }

    @Test func `A loss after the last byte of a segment asks for nothing`() async throws {
        let transport = FileTransport(content) { asked in
            asked.range == "bytes=2097152-3145727" ? .breaksOff(after: 1 << 20) : .asked
        }
        _ = try await run(operation(over: transport))
        #expect(file == content && transport.asked.count == 5)
    }

    @Test func `Segments that break off at any place are whole in the end, and no byte comes twice`() async throws {
        for round in 1...10 {
            let transport = FileTransport(content) { asked in
                Int.random(in: 0..<3) == 0 ? .asked : .breaksOff(after: Int.random(in: 1...900_000))
            }
            let operation = DownloadOperation(
                url, to: .file(folder.file("\(round)")), segments: Int.random(in: 2...5),
                configuration: .downloading(over: transport, retries: 1000))
            _ = try await run(operation)
            #expect(FileManager.default.contents(atPath: folder.file("\(round)").path) == content)
            #expect(transport.sent == content.count)
        }
    }

    @Test func `A download that ends again and again goes on with each segment`() async throws {
        var sent = 0
        for round in 1...100 {
            let transport = FileTransport(content) { asked in
                Int.random(in: 0..<4) == 0 ? .asked : .breaksOff(after: Int.random(in: 1...500_000))
            }
            let operation = operation(
                over: transport, segments: Int.random(in: 2...5), resume: .acrossProcesses, retries: 0)
            let isWhole = await failure(of: operation) == nil
            await end(of: operation)
            sent += transport.sent
            if isWhole { break }
            #expect(round < 100)
        }
        #expect(file == content && sent == content.count)
        #expect(try folder.names == ["file"])
    }

    @Test func `Segments that a side file has outside of the file do not count`() async throws {
        let broken = FileTransport(content) { asked in asked.number == 1 ? .asked : .breaksOff(after: 1000) }
        let first = operation(over: broken, resume: .acrossProcesses, retries: 0)
        _ = await failure(of: first)
        await end(of: first)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file().deletingLastPathComponent().path)
        let side = folder.file(try #require(names.first { $0.hasSuffix(PartialPlace.recordSuffix) }))
        var record = try JSONDecoder().decode(PartialRecord.self, from: Data(contentsOf: side))
        let segments = try #require(record.segments)
        record.segments = [.max, -1] + segments
        try JSONEncoder().encode(record).write(to: side)
        let stem = side.lastPathComponent.dropLast(PartialPlace.recordSuffix.count)
        for start in [Int64.max, -1] {
            try Data("01".utf8).write(to: folder.file("\(stem).\(start)\(PartialPlace.partialSuffix)"))
        }
        _ = try await run(operation(over: FileTransport(content), resume: .acrossProcesses))
        #expect(file == content)
    }

    @Test func `A segment that fails for good fails the download, which is not retried`() async throws {
        let transport = FileTransport(content) { asked in asked.offset == 2 << 20 ? .status(503) : .asked }
        let operation = operation(over: transport, retries: 2)
        #expect(await code(of: operation) == .unacceptableStatus)
        #expect(transport.asked.filter { $0.offset == 2 << 20 }.count == 3 && operation.attempts.count == 1)
        await end(of: operation)
        #expect(try folder.names == [])
    }

    // MARK: Fewer connections

    /// A server that bounds its connections, and the most that it served at once. Each is held until others came.
    private func bounded(_ most: Int, _ refusal: FileTransport.Answer) -> FileTransport {
        let open = Locked(0)
        return FileTransport(content) { asked in
            guard asked.number > 1 else { return .asked }
            guard
                open.withLock({ open in
                    defer { open += open < most ? 1 : 0 }
                    return open < most
                })
            else { return refusal }
            for _ in 1...100 { await Task.yield() }
            open.withLock { $0 -= 1 }
            return .asked
        }
    }

    @Test(
        arguments: [1, 2, 3],
        [
            FileTransport.Answer.status(403), .status(404), .status(429), .page(tag: nil), .page(tag: #""v1""#),
            .page(tag: #""other""#), .whole,
        ])
    func `A server that refuses some connections gets fewer`(_ most: Int, _ refusal: FileTransport.Answer) async throws
    {
        let operation = operation(over: bounded(most, refusal), retries: 0)
        _ = try await run(operation)
        #expect(file == content && operation.attempts.count == 1)
        #expect(try folder.names == ["file"])
    }

    @Test(arguments: [nil, FileTransport.tag])
    func `A page in the place of a part never becomes the file`(_ tag: String?) async throws {
        let transport = FileTransport(content) { asked in asked.offset == 2 << 20 ? .page(tag: tag) : .asked }
        #expect(await code(of: operation(over: transport)) == .malformedResponse)
        #expect(file == nil && transport.ranges.allSatisfy { $0 != nil })
    }

    @Test func `A server that sends the whole to every other connection is asked for the whole`() async throws {
        let transport = FileTransport(content) { asked in asked.offset == 2 << 20 ? .whole : .asked }
        _ = try await run(operation(over: transport))
        #expect(file == content && transport.ranges.last == .some(nil))
    }

    @Test func `A part that nobody gets fails the download`() async throws {
        let transport = FileTransport(content) { asked in asked.number > 1 ? .status(404) : .asked }
        #expect(await code(of: operation(over: transport)) == .unacceptableStatus)
        #expect(transport.asked.count == 5)
    }

    @Test(arguments: [1, 4])
    func `The deadline ends a download that gets one byte further with each attempt`(_ segments: Int) async throws {
        let transport = FileTransport(content) { asked in asked.number == 1 ? .asked : .breaksOff(after: 1) }
        let first = FileTransport(content) { _ in .breaksOff(after: 1) }
        var configuration = RequestConfiguration.downloading(over: segments == 1 ? first : transport)
        configuration.deadline = .milliseconds(200)
        let operation = DownloadOperation(
            url, to: .file(folder.file()), segments: segments, configuration: configuration)
        #expect(await code(of: operation) == .timedOut)
    }

    @Test func `The first part is retried like any download`() async throws {
        let transport = FileTransport(content) { asked in
            switch asked.number {
            case 1: .status(503)
            case 2: .breaksOff(after: 1000)
            default: .asked
            }
        }
        _ = try await run(operation(over: transport))
        #expect(file == content && transport.sent == content.count)
        #expect(transport.ranges.prefix(3) == ["bytes=0-1048575", "bytes=0-1048575", "bytes=1000-1049575"])
    }

    @Test func `A file that changes between its segments is downloaded again as a whole`() async throws {
        let transport = FileTransport(content) { asked in asked.number > 3 ? .changed : .asked }
        let operation = operation(over: transport)
        _ = try await run(operation)
        #expect(file == changed && transport.ranges.last == .some(nil))
        #expect(try folder.names == ["file"])
    }

    @Test func `Segments with a wrong digest are downloaded again as a whole`() async throws {
        let right = FileDigest(.sha256, digest(changed))
        let transport = FileTransport(content) { asked in asked.range == nil ? .changed : .asked }
        let file = try await run(operation(over: transport, checksum: right))
        #expect(file.verifiedDigests == [right] && self.file == changed)
    }

    @Test func `The digest is that of the whole file`() async throws {
        let right = FileDigest(.sha256, digest(content))
        let file = try await run(operation(over: FileTransport(content), checksum: right))
        #expect(file.verifiedDigests == [right])
    }

    @Test func `A cancel ends all segments and leaves nothing`() async throws {
        let transport = FileTransport(content) { asked in
            if asked.number > 1 { await blockedUntilCancelled() }
            return .asked
        }
        let operation = operation(over: transport)
        OperationQueue().addOperation(operation)
        await eventually { transport.asked.count == 5 }
        operation.cancel()
        await end(of: operation)
        await eventually { (try? folder.names) == [] }
        #expect(operation.isCancelled)
    }

    @Test func `A URL that expires is asked for again by the segments`() async throws {
        let count = Locked(0)
        let transport = FileTransport(content) { asked in
            asked.url?.query == "signature=1" && asked.offset > 2 << 20 ? .status(403) : .asked
        }
        let operation = DownloadOperation(
            from: {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return URL(string: "http://a.example/file?signature=\(number)")!
            }, to: .file(folder.file()), segments: 4, configuration: .downloading(over: transport))
        _ = try await run(operation)
        #expect(file == content)
    }

    @Test func `A URL that is always refused fails the download`() async {
        let url = url
        let transport = FileTransport(content) { asked in asked.number > 1 ? .status(403) : .asked }
        let operation = DownloadOperation(
            from: { url }, to: .file(folder.file()), segments: 4, configuration: .downloading(over: transport))
        #expect(await code(of: operation) == .unacceptableStatus)
        #expect(transport.asked.count <= 9)
    }

    // MARK: A later operation

    @Test func `A later operation goes on with each segment`() async throws {
        // The failures come only when the last segment is there.
        let door = Door()
        let held = FileTransport(content) { asked in
            if (1 << 20..<4 << 20).contains(asked.offset) {
                await door.pass()
                return .breaksOff(after: 500_000)
            }
            return .asked
        }
        let operation = operation(over: held, resume: .acrossProcesses, retries: 0)
        OperationQueue().addOperation(operation)
        await eventually { held.sent == 2 << 20 }
        door.open()
        #expect(await requestError(of: operation)?.code == .connectionLost)
        await end(of: operation)
        let second = FileTransport(content)
        let file = try await run(self.operation(over: second, resume: .acrossProcesses))
        #expect(self.file == content && file.resumedBytes >= 2 << 20)
        #expect(second.sent == content.count - Int(file.resumedBytes))
        #expect(try folder.names == ["file"])
    }

    @Test func `A first part that is the last one that was missing completes the file`() async throws {
        let door = Door()
        let first = FileTransport(content) { asked in
            guard asked.offset == 1 << 20 else { return .asked }
            await door.pass()
            return .status(404)
        }
        let operation = operation(over: first, resume: .acrossProcesses)
        OperationQueue().addOperation(operation)
        await eventually { first.sent == 4 << 20 }
        door.open()
        #expect(await requestError(of: operation)?.code == .unacceptableStatus)
        await end(of: operation)
        let second = FileTransport(content)
        _ = try await run(self.operation(over: second, resume: .acrossProcesses))
        #expect(file == content && second.ranges == ["bytes=1048576-2097151"])
        #expect(try folder.names == ["file"])
    }

    @Test func `A later operation without segments drops them`() async throws {
        let transport = FileTransport(content) { asked in asked.offset == 2 << 20 ? .status(404) : .asked }
        _ = await failure(of: operation(over: transport, resume: .acrossProcesses))
        let second = FileTransport(content)
        _ = try await run(operation(over: second, segments: 1, resume: .acrossProcesses))
        #expect(file == content && second.asked.count == 1)
        #expect(try folder.names == ["file"])
    }

    @Test func `A later operation drops the segments of a file that has changed`() async throws {
        let transport = FileTransport(content) { asked in asked.offset == 2 << 20 ? .status(404) : .asked }
        _ = await failure(of: operation(over: transport, resume: .acrossProcesses))
        let second = FileTransport(content) { _ in .changed }
        _ = try await run(operation(over: second, resume: .acrossProcesses))
        #expect(file == changed)
        #expect(try folder.names == ["file"])
    }

    @Test func `Segments that nobody takes over are removed with the other partial files`() async throws {
        let transport = FileTransport(content) { asked in asked.offset == 2 << 20 ? .status(404) : .asked }
        let operation = operation(over: transport, resume: .acrossProcesses)
        _ = await failure(of: operation)
        await end(of: operation)
        #expect(try folder.names.count > 2)
        // The operation keeps the files to itself as long as it exists.
        await eventually {
            (try? DownloadOperation.removeStalePartials(in: folder.url, olderThan: .zero)) != nil
                && (try? folder.names) == []
        }
    }

    // MARK: Progress

    @Test func `The progress is that of the whole file and never goes back`() async throws {
        let heard = Collector<TransferProgress>()
        let transport = FileTransport(content)
        var configuration = RequestConfiguration.downloading(over: transport)
        configuration.onProgress = { heard.append($0) }
        let operation = DownloadOperation(
            url, to: .file(folder.file()), segments: 4, configuration: configuration)
        let progress = operation.progress
        _ = try await run(operation)
        let received = heard.elements.map(\.bytesReceived)
        #expect(received == received.sorted() && received.last == 5 << 20)
        #expect(heard.elements.allSatisfy { $0.bytesToReceive == 5 << 20 })
        #expect(progress.completedUnitCount == 5 << 20 && progress.totalUnitCount == 5 << 20)
    }

    // MARK: A real server

    @Test func `Segments arrive over real connections`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/file.bin", .file(content, etag: #""v1""#))
        let operation = DownloadOperation(
            server.url("/file.bin"), to: .file(folder.file()), segments: 3, configuration: .downloading())
        _ = try await run(operation)
        #expect(file == content && server.requests.count == 4)
    }
}
