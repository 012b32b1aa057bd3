import RequestOperations
import RequestOperationsTesting
import Testing

/// Retries of one operation.
@Suite(.timeLimit(.minutes(15))) struct DownloadResumeTests {
    private let folder: DownloadFolder
    private let url = URL(string: "http://a.example/path/name.txt")!

    init() throws {
        folder = try DownloadFolder()
    }

    private func download(
        _ parts: [PartTransport.Part], checksum: FileDigest? = nil, resume: DownloadResumption = .betweenAttempts
    ) async throws -> (file: DownloadedFile, ranges: [String?]) {
        let transport = PartTransport(parts)
        let file = try await run(
            DownloadOperation(
                url, to: .file(folder.file()), resume: resume, checksum: checksum,
                configuration: .downloading(over: transport)))
        return (file, transport.ranges)
    }

    @Test func `A retry asks for what is missing`() async throws {
        let (file, ranges) = try await download([.beginning("0123", of: 8), .part("4567", "bytes 4-7/8")])
        #expect(folder.text() == "01234567" && ranges == [nil, "bytes=4-"])
        #expect(file.resumedBytes == 4 && file.size == 8)
    }

    @Test func `Several retries each ask for what is missing`() async throws {
        let (file, ranges) = try await download([
            .beginning("01", of: 8), .part("2", "bytes 2-7/8", breaksOff: true),
            .part("", "bytes 3-7/8", breaksOff: true), .part("34567", "bytes 3-7/8"),
        ])
        #expect(folder.text() == "01234567" && ranges == [nil, "bytes=2-", "bytes=3-", "bytes=3-"])
        #expect(file.resumedBytes == 3)
    }

    @Test func `A retry after an error page goes on from the same byte`() async throws {
        let (_, ranges) = try await download([
            .beginning("0123", of: 8), .init(status: 503, body: "sorry"), .part("4567", "bytes 4-7/8"),
        ])
        #expect(folder.text() == "01234567" && ranges == [nil, "bytes=4-", "bytes=4-"])
    }

    @Test func `A server may send less than the rest`() async throws {
        let (_, ranges) = try await download([
            .beginning("0123", of: 8), .part("45", "bytes 4-5/8"), .part("67", "bytes 6-7/8"),
        ])
        #expect(folder.text() == "01234567" && ranges == [nil, "bytes=4-", "bytes=6-"])
    }

    @Test func `A changed file is taken as a whole`() async throws {
        let (file, _) = try await download([.beginning("0123", of: 8), .whole("changed", [("ETag", #""v2""#)])])
        #expect(folder.text() == "changed" && file.resumedBytes == 0)
    }

    @Test func `A response that does not fit is dropped, and the whole is asked for in the same attempt`() async throws
    {
        let transport = PartTransport([
            .beginning("0123", of: 8), .part("xxxx", "bytes 3-6/8"), .whole("01234567"),
        ])
        let operation = DownloadOperation(
            url, to: .file(folder.file()), configuration: .downloading(over: transport, retries: 1))
        _ = try await run(operation)
        #expect(folder.text() == "01234567" && transport.ranges == [nil, "bytes=4-", nil])
        #expect(operation.attempts.count == 2)
    }

    @Test func `A part that turns out to be the whole is dropped, and the whole is asked for`() async throws {
        // One that says its length, and one in chunks.
        for fields in [[("Content-Length", "8")], []] as [[(name: String, value: String)]] {
            var part = PartTransport.Part.part("01234567", "bytes 4-7/8")
            part.fields += fields
            let transport = PartTransport([.beginning("0123", of: 8), part, .whole("01234567")])
            let file = folder.file("\(fields.count)")
            _ = try await run(DownloadOperation(url, to: .file(file), configuration: .downloading(over: transport)))
            #expect(FileManager.default.contents(atPath: file.path) == Data("01234567".utf8))
            #expect(transport.ranges == [nil, "bytes=4-", nil])
        }
    }

    @Test func `A response that does not fit is not asked for again under a condition`() async throws {
        let transport = PartTransport([.beginning("0123", of: 8), .init(status: 416), .whole("01234567")])
        _ = try await run(
            DownloadOperation(url, to: .file(folder.file()), configuration: .downloading(over: transport)))
        #expect(transport.requests.last?.value(forHTTPHeaderField: "If-Range") == nil)
    }

    @Test func `416 with the right total completes the file`() async throws {
        let complete = PartTransport.Part(
            status: 416, fields: [("Content-Range", "bytes */8")], body: "a message for people")
        let (file, ranges) = try await download([.beginning("01234567", of: 8), complete])
        #expect(folder.text() == "01234567" && ranges == [nil, "bytes=8-"])
        #expect(file.size == 8 && file.resumedBytes == 8)
    }

    @Test(arguments: [#"W/"v1""#, nil])
    func `Without a strong validator a retry begins again`(_ tag: String?) async throws {
        let (_, ranges) = try await download([.beginning("0123", of: 8, tag: tag), .whole("01234567")])
        #expect(folder.text() == "01234567" && ranges == [nil, nil])
    }

    @Test func `Without resumption a retry begins again`() async throws {
        let (_, ranges) = try await download([.beginning("0123", of: 8), .whole("01234567")], resume: .never)
        #expect(folder.text() == "01234567" && ranges == [nil, nil])
    }

    @Test func `A compressed beginning is not gone on from`() async throws {
        let compressed = PartTransport.Part(
            fields: [("ETag", #""v1""#), ("Content-Encoding", "gzip")], body: "0123", breaksOff: true)
        let (_, ranges) = try await download([compressed, .whole("01234567")])
        #expect(ranges == [nil, nil])
    }

    @Test func `A partial file that somebody removed is downloaded again`() async throws {
        let transport = PartTransport([.beginning("0123", of: 8), .whole("01234567")])
        var configuration = RequestConfiguration.downloading(over: transport)
        let folder = folder
        configuration.retryDeciders = [
            RetryDecider { _, decision in
                for name in (try? folder.hiddenNames) ?? [] {
                    try? FileManager.default.removeItem(at: folder.file(name))
                }
                return decision
            }
        ]
        _ = try await run(DownloadOperation(url, to: .file(folder.file()), configuration: configuration))
        #expect(folder.text() == "01234567" && transport.ranges == [nil, nil])
    }

    @Test func `Only a GET is resumed`() async throws {
        let transport = PartTransport([.beginning("0123", of: 8), .whole("01234567")])
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("1", forHTTPHeaderField: "Idempotency-Key")
        _ = try await run(
            DownloadOperation(request, to: .file(folder.file()), configuration: .downloading(over: transport)))
        #expect(transport.ranges == [nil, nil])
    }

    // MARK: Digests

    private let digest = "924592b9b103f14f833faafb67f480691f01988aa457c0061769f58cd47311bc"

    @Test func `The digest of a resumed file is that of all of it`() async throws {
        let (file, _) = try await download(
            [.beginning("0123", of: 8), .part("4567", "bytes 4-7/8")], checksum: .sha256(hex: digest))
        #expect(file.verifiedDigests == [.sha256(hex: digest)])
    }

    @Test func `Parts that do not fit together are downloaded again as a whole`() async throws {
        let (_, ranges) = try await download(
            [.beginning("0123", of: 8), .part("4576", "bytes 4-7/8"), .whole("01234567")],
            checksum: .sha256(hex: digest))
        #expect(folder.text() == "01234567" && ranges == [nil, "bytes=4-", nil])
    }

    @Test func `A whole that is wrong is not downloaded again`() async throws {
        let transport = PartTransport([.beginning("0123", of: 8), .part("4576", "bytes 4-7/8"), .whole("wrong")])
        let operation = DownloadOperation(
            url, to: .file(folder.file()), checksum: .sha256(hex: digest),
            configuration: .downloading(over: transport, retries: 9))
        #expect(await code(of: operation) == .digestMismatch)
        #expect(transport.requests.count == 3)
    }

    // MARK: Signed URLs

    private func signed(_ count: Int) -> URL { URL(string: "http://a.example/file?signature=\(count)")! }

    @Test func `A signed URL that has expired is asked for again`() async throws {
        let transport = PartTransport([
            .beginning("0123", of: 8), .init(status: 403), .part("4567", "bytes 4-7/8"),
        ])
        let asked = Locked(0)
        let operation = DownloadOperation(
            from: {
                asked.withLock { $0 += 1 }
                return self.signed(asked.withLock { $0 })
            }, to: .file(folder.file()), configuration: .downloading(over: transport))
        _ = try await run(operation)
        #expect(folder.text() == "01234567" && transport.ranges == [nil, "bytes=4-", "bytes=4-"])
        #expect(transport.requests.map(\.url) == [signed(1), signed(1), signed(2)])
    }

    @Test(arguments: [401, 403, 410])
    func `A new signed URL that is refused fails the download`(_ status: Int) async throws {
        let transport = PartTransport([.init(status: status)])
        let url = signed(1)
        let operation = DownloadOperation(
            from: { url }, to: .file(folder.file()), configuration: .downloading(over: transport))
        #expect(await code(of: operation) == .unacceptableStatus)
        #expect(transport.requests.count == 1)
    }

    // MARK: Progress

    @Test func `The progress counts the bytes that were there`() async throws {
        let heard = Collector<TransferProgress>()
        let transport = PartTransport([.beginning("0123", of: 8), .part("4567", "bytes 4-7/8")])
        var configuration = RequestConfiguration.downloading(over: transport)
        configuration.onProgress = { heard.append($0) }
        let operation = DownloadOperation(url, to: .file(folder.file()), configuration: configuration)
        let progress = operation.progress
        _ = try await run(operation)
        #expect(heard.elements.map(\.bytesReceived) == [4, 8] && heard.elements.last?.bytesToReceive == 8)
        #expect(progress.completedUnitCount == 8 && progress.totalUnitCount == 8)
    }

    @Test func `The progress leaves out responses that are no part of the file`() async throws {
        let gone = PartTransport.Part(status: 416, fields: [("Content-Range", "bytes */3")], body: "message")
        let heard = Collector<TransferProgress>()
        let complete = PartTransport.Part(status: 416, fields: [("Content-Range", "bytes */8")], body: "message")
        var configuration = RequestConfiguration.downloading([
            .beginning("0123", of: 8), gone, .beginning("01234567", of: 8), complete,
        ])
        configuration.onProgress = { heard.append($0) }
        _ = try await run(DownloadOperation(url, to: .file(folder.file()), configuration: configuration))
        #expect(heard.elements.map(\.bytesReceived) == [4, 8, 8])
    }

    @Test func `The progress of a file that was complete is its length`() async throws {
        let complete = PartTransport.Part(status: 416, fields: [("Content-Range", "bytes */8")], body: "message")
        let heard = Collector<TransferProgress>()
        var configuration = RequestConfiguration.downloading([.beginning("01234567", of: 8), complete])
        configuration.onProgress = { heard.append($0) }
        _ = try await run(DownloadOperation(url, to: .file(folder.file()), configuration: configuration))
        #expect(heard.elements.map(\.bytesReceived) == [8, 8])
    }
}
