import RequestOperations
import RequestOperationsTesting
import Testing

/// A later operation goes on. The partial file and the side file are all that it has of the first.
@Suite(.timeLimit(.minutes(15))) struct DownloadAcrossProcessesTests {
    private let folder: DownloadFolder
    private let url = URL(string: "http://a.example/path/name.txt?secret=1")!

    init() throws {
        folder = try DownloadFolder()
    }

    private func operation(
        _ transport: PartTransport, from url: URL? = nil, to destination: DownloadDestination? = nil,
        resume: DownloadResumption = .acrossProcesses, checksum: FileDigest? = nil
    ) -> DownloadOperation {
        DownloadOperation(
            url ?? self.url, to: destination ?? .file(folder.file()), resume: resume, checksum: checksum,
            configuration: .downloading(over: transport, retries: 0))
    }

    /// Downloads the first half, and fails.
    private func downloadHalf(
        tag: String? = #""v1""#, to destination: DownloadDestination? = nil,
        resume: DownloadResumption = .acrossProcesses, fields: [(name: String, value: String)] = []
    ) async {
        var half = PartTransport.Part.beginning("0123", of: 8, tag: tag)
        half.fields += fields
        _ = await failure(of: operation(PartTransport([half]), to: destination, resume: resume))
    }

    /// A download that writes to a partial file until it is cancelled.
    private func stalled(_ part: PartTransport.Part) async -> DownloadOperation {
        var part = part
        let stall = Door()
        part.stall = stall
        let operation = operation(PartTransport([part]))
        OperationQueue().addOperation(operation)
        await stall.pass()
        return operation
    }

    private func end(_ operation: DownloadOperation) async {
        operation.cancel()
        _ = try? await operation.value
    }

    @Test func `A later operation asks for what is missing, and leaves only the file`() async throws {
        await downloadHalf()
        #expect(try folder.hiddenNames.count == 2)
        let transport = PartTransport([.part("4567", "bytes 4-7/8")])
        let file = try await run(operation(transport))
        #expect(folder.text() == "01234567" && transport.ranges == ["bytes=4-"] && file.resumedBytes == 4)
        #expect(try folder.names == ["file"])
    }

    @Test func `The digest of a file of two operations is that of all of it`() async throws {
        await downloadHalf()
        let digest = FileDigest.sha256(hex: "924592b9b103f14f833faafb67f480691f01988aa457c0061769f58cd47311bc")
        let file = try await run(operation(PartTransport([.part("4567", "bytes 4-7/8")]), checksum: digest))
        #expect(file.verifiedDigests == [digest])
    }

    @Test func `In a folder the name of the first response stays`() async throws {
        let name = (name: "Content-Disposition", value: "attachment; filename=served.txt")
        await downloadHalf(to: .folder(folder.url), fields: [name])
        _ = try await run(
            operation(PartTransport([.part("4567", "bytes 4-7/8")]), to: .folder(folder.url)))
        #expect(try folder.names == ["served.txt"])
    }

    @Test func `A chosen place that refuses the file leaves nothing to go on from`() async throws {
        struct Refusal: Error {}
        await downloadHalf(to: .folder(folder.url))
        let refused = operation(PartTransport([.part("4567", "bytes 4-7/8")]), to: .folder(folder.url))
        refused.choosePlace { head, place, total in
            #expect(head.status == 206 && place.lastPathComponent == "name.txt" && total == 8)
            throw Refusal()
        }
        #expect((await failure(of: refused) as? RequestError)?.underlying is Refusal)
        #expect(try folder.names == [])
    }

    @Test func `Partial files that nobody can go on from are removed at once, others after a week`() async throws {
        await downloadHalf()
        let kept = try folder.names
        for name in ["1", "1.5"] { try folder.write("x", to: ".RequestOperations-\(name).partial") }
        // A run that dies after it has moved its file leaves the side file alone.
        for name in ["2.resume", "3.upload"] { try folder.write("x", to: ".RequestOperations-\(name)") }
        DownloadOperation.removeAbandonedPartials(in: folder.url)
        let upload = folder.file(".RequestOperations-3.upload")
        #expect(FileManager.default.fileExists(atPath: upload.path))
        try FileManager.default.removeItem(at: upload)
        #expect(try folder.names == kept && kept.count == 2)
        let old = Date(timeIntervalSinceNow: -8 * 24 * 3600)
        for name in kept {
            try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: folder.file(name).path)
        }
        DownloadOperation.removeAbandonedPartials(in: folder.url)
        #expect(try folder.names == [])
    }

    @Test func `The side file does not have the query of the URL`() async throws {
        await downloadHalf()
        let record = try #require(try folder.hiddenNames.first { $0.hasSuffix(".resume") })
        let text = try #require(folder.text(record))
        #expect(text.contains("a.example/path/name.txt") && !text.contains("secret"))
    }

    @Test func `A file of another URL begins again`() async throws {
        await downloadHalf()
        let transport = PartTransport([.whole("other")])
        _ = try await run(operation(transport, from: URL(string: "http://a.example/other")!))
        #expect(folder.text() == "other" && transport.ranges == [nil])
        #expect(try folder.names == ["file"])
    }

    @Test func `A file of another URL with the same key goes on`() async throws {
        await downloadHalf(resume: .acrossProcesses(key: "a"))
        let transport = PartTransport([.part("4567", "bytes 4-7/8")])
        _ = try await run(
            operation(
                transport, from: URL(string: "http://b.example/other")!, resume: .acrossProcesses(key: "a")))
        #expect(folder.text() == "01234567")
    }

    @Test func `A beginning without a strong validator is not kept`() async throws {
        await downloadHalf(tag: #"W/"v1""#)
        #expect(try folder.names.isEmpty)
    }

    @Test func `A later operation that fails early keeps the beginning`() async throws {
        await downloadHalf()
        _ = await failure(of: operation(PartTransport([.init(status: 404)])))
        #expect(try folder.hiddenNames.count == 2)
    }

    @Test(arguments: ["{", "", nil])
    func `A side file that is damaged or gone makes the download begin again`(_ text: String?) async throws {
        await downloadHalf()
        let record = try #require(try folder.hiddenNames.first { $0.hasSuffix(".resume") })
        if let text {
            try folder.write(text, to: record)
        } else {
            try FileManager.default.removeItem(at: folder.file(record))
        }
        let transport = PartTransport([.whole("01234567")])
        _ = try await run(operation(transport))
        #expect(folder.text() == "01234567" && transport.ranges == [nil])
        #expect(try folder.names == ["file"])
    }

    @Test func `A partial file that is longer than the file begins again`() async throws {
        await downloadHalf()
        let partial = try #require(try folder.hiddenNames.first { $0.hasSuffix(".partial") })
        try folder.write("0123456789", to: partial)
        let transport = PartTransport([.whole("01234567")])
        _ = try await run(operation(transport))
        #expect(transport.ranges == [nil])
    }

    @Test func `A partial file that was complete is completed`() async throws {
        await downloadHalf()
        let partial = try #require(try folder.hiddenNames.first { $0.hasSuffix(".partial") })
        try folder.write("01234567", to: partial)
        let complete = PartTransport.Part(status: 416, fields: [("Content-Range", "bytes */8")])
        _ = try await run(operation(PartTransport([complete])))
        #expect(folder.text() == "01234567")
    }

    @Test func `Two operations do not write to one partial file`() async throws {
        await downloadHalf()
        let partial = try #require(try folder.hiddenNames.first { $0.hasSuffix(".partial") })
        let other = await stalled(.part("45", "bytes 4-7/8"))
        let transport = PartTransport([])
        #expect(await code(of: operation(transport)) == .fileFailed)
        #expect(transport.requests.isEmpty && folder.text(partial)?.hasPrefix("0123") == true)
        await end(other)
    }

    @Test func `A partial file that has a second name is not touched`() async throws {
        await downloadHalf()
        let partial = try #require(try folder.hiddenNames.first { $0.hasSuffix(".partial") })
        try FileManager.default.linkItem(at: folder.file(partial), to: folder.file("mine"))
        #expect(await code(of: operation(PartTransport([]))) == .fileFailed)
        #expect(folder.text("mine") == "0123")
    }

    @Test func `Where a closure chooses the place, nothing is left`() async throws {
        let folder = folder
        await downloadHalf(to: .chosen { _ in folder.file() })
        #expect(try folder.names.isEmpty)
    }

    // MARK: Stale ones

    @Test func `Old partial files are removed with their side files`() async throws {
        await downloadHalf()
        try folder.write("mine", to: ".RequestOperations-other")
        #expect(try DownloadOperation.removeStalePartials(in: folder.url, olderThan: .seconds(-1)) == 1)
        #expect(try folder.names == [".RequestOperations-other"])
    }

    @Test func `New partial files are kept`() async throws {
        await downloadHalf()
        #expect(try DownloadOperation.removeStalePartials(in: folder.url, olderThan: .seconds(3600)) == 0)
        #expect(try folder.hiddenNames.count == 2)
    }

    @Test func `A partial file that a download writes to is kept`() async throws {
        let download = await stalled(.beginning("0123", of: 8))
        #expect(try DownloadOperation.removeStalePartials(in: folder.url, olderThan: .seconds(-1)) == 0)
        #expect(try folder.hiddenNames.contains { $0.hasSuffix(".partial") })
        await end(download)
    }

    @Test func `A folder that is not there is an error`() throws {
        #expect(throws: RequestError.self) {
            try DownloadOperation.removeStalePartials(in: folder.file("none"), olderThan: .zero)
        }
    }
}
