import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct DownloadOperationTests {
    private let folder: DownloadFolder
    private let url = URL(string: "http://a.example/path/name.txt")!

    init() throws {
        folder = try DownloadFolder()
    }

    private func configuration(
        _ text: String = "content", _ fields: [(name: String, value: String)] = []
    ) -> RequestConfiguration {
        .downloading(over: ScriptedTransport([.body(Data(text.utf8), fields: fields)]))
    }

    // MARK: Where

    @Test func `A file goes to its place, and says how it came there`() async throws {
        let file = try await run(
            DownloadOperation(url, to: .file(folder.file()), configuration: configuration("content")))
        #expect(folder.text() == "content" && file.url.path == folder.file().path)
        #expect(file.size == 7 && file.resumedBytes == 0 && file.head.status == 200 && file.verifiedDigests.isEmpty)
    }

    @Test func `Only the file is in the folder afterwards`() async throws {
        _ = try await run(DownloadOperation(url, to: .file(folder.file()), configuration: configuration()))
        #expect(try folder.names == ["file"])
    }

    private final class Retrying: DownloadOperation, @unchecked Sendable {
        override func retryDecision(afterSuccess value: DownloadedFile, attempt: Int) async -> RetryDecision? {
            attempt == 1 ? .retry(after: .zero) : nil
        }
    }

    @Test(arguments: [ExistingFilePolicy.fail, .replace, .uniqueName])
    func `The file of an attempt that is not accepted is replaced`(_ policy: ExistingFilePolicy) async throws {
        let transport = ScriptedTransport([.body(Data("first".utf8)), .body(Data("second".utf8))])
        _ = try await run(
            Retrying(
                url, to: .file(folder.file()), ifExists: policy, configuration: .downloading(over: transport)))
        #expect(folder.text() == "second")
        #expect(try folder.names == ["file"])
    }

    @Test func `The next free name stays that of the file`() async throws {
        try folder.write("old", to: "file")
        let transport = ScriptedTransport([.body(Data("first".utf8)), .body(Data("second".utf8))])
        let file = try await run(
            Retrying(
                url, to: .file(folder.file()), ifExists: .uniqueName, configuration: .downloading(over: transport)))
        #expect(try folder.names.count == 2 && folder.text() == "old")
        #expect(FileManager.default.contents(atPath: file.url.path) == Data("second".utf8))
    }

    private final class Changing: DownloadOperation, @unchecked Sendable {
        override func retryDecision(afterSuccess value: DownloadedFile, attempt: Int) async -> RetryDecision? {
            try? Data("of somebody else".utf8).write(to: value.url)
            return attempt == 1 ? .retry(after: .zero) : nil
        }
    }

    @Test func `A file that somebody has changed meanwhile stays`() async throws {
        let transport = ScriptedTransport([.body(Data("first".utf8)), .body(Data("second".utf8))])
        let operation = Changing(url, to: .file(folder.file()), configuration: .downloading(over: transport))
        #expect(await code(of: operation) == .fileFailed)
        #expect(folder.text() == "of somebody else")
    }

    @Test func `A file that is not accepted is downloaded again`() async throws {
        var configuration = RequestConfiguration.downloading(
            over: ScriptedTransport([.body(Data("first".utf8)), .body(Data("second".utf8))]))
        configuration.hosts = HostRegistry()
        _ = try await run(
            Retrying(url, to: .file(folder.file()), ifExists: .replace, configuration: configuration))
        #expect(folder.text() == "second")
    }

    private final class Inspecting: DownloadOperation, @unchecked Sendable {
        override func validate(_ response: TransportResponse) async throws {}
    }

    @Test func `An override that inspects the response does not lose the checksum`() async throws {
        let operation = Inspecting(
            url, to: .file(folder.file()), checksum: .sha256(hex: otherDigest),
            configuration: configuration())
        #expect(await code(of: operation) == .digestMismatch)
        #expect(try folder.names.isEmpty)
    }

    @Test func `A download may take longer than the elapsed limit of the policy`() {
        let download = DownloadOperation(url, to: .file(folder.file()), configuration: configuration())
        #expect(download.configuration.retryPolicy.elapsedLimit == nil)
    }

    @Test func `An empty response makes an empty file`() async throws {
        _ = try await run(DownloadOperation(url, to: .file(folder.file()), configuration: configuration("")))
        #expect(folder.text() == "")
    }

    @Test func `Missing folders are made`() async throws {
        let file = folder.file("a/b/c")
        _ = try await run(DownloadOperation(url, to: .file(file), configuration: configuration()))
        #expect(folder.text("a/b/c") == "content")
    }

    @Test func `In a folder the server names the file`() async throws {
        let fields = [(name: "Content-Disposition", value: #"attachment; filename="../../served.txt""#)]
        let file = try await run(
            DownloadOperation(url, to: .folder(folder.url), configuration: configuration("content", fields)))
        #expect(file.url.lastPathComponent == "served.txt" && folder.text("served.txt") == "content")
    }

    @Test func `In a folder the URL names the file if the server does not`() async throws {
        _ = try await run(DownloadOperation(url, to: .folder(folder.url), configuration: configuration()))
        #expect(try folder.names == ["name.txt"])
    }

    @Test func `A closure chooses the place from the head`() async throws {
        let folder = folder
        let destination = DownloadDestination.chosen { head in folder.file("status-\(head.status)") }
        _ = try await run(DownloadOperation(url, to: destination, configuration: configuration()))
        #expect(try folder.names == ["status-200"])
    }

    @Test func `A closure that throws fails the download`() async throws {
        struct Refusal: Error {}
        let destination = DownloadDestination.chosen { _ in throw Refusal() }
        let error = await failure(of: DownloadOperation(url, to: destination, configuration: configuration()))
        #expect((error as? RequestError)?.underlying is Refusal)
        #expect(try folder.names.isEmpty)
    }

    @Test func `A link is followed`() async throws {
        try folder.write("old", to: "target")
        try FileManager.default.createSymbolicLink(at: folder.file(), withDestinationURL: folder.file("target"))
        _ = try await run(
            DownloadOperation(url, to: .file(folder.file()), ifExists: .replace, configuration: configuration()))
        #expect(folder.text("target") == "content")
    }

    @Test func `The last URL of a redirect names the file`() async throws {
        let transport = ScriptedTransport([
            .status(302, fields: [("Location", "/other/target.bin")]), .body(Data("content".utf8)),
        ])
        _ = try await run(
            DownloadOperation(url, to: .folder(folder.url), configuration: .downloading(over: transport)))
        #expect(try folder.names == ["target.bin"])
    }

    // MARK: What exists

    @Test func `By default an older file is kept and nothing is sent`() async throws {
        try folder.write("old")
        let transport = ScriptedTransport([.body(Data("new".utf8))])
        let operation = DownloadOperation(
            url, to: .file(folder.file()), configuration: .downloading(over: transport))
        #expect(await code(of: operation) == .fileFailed)
        #expect(folder.text() == "old" && transport.requests.isEmpty)
    }

    @Test func `A file that the server names is kept as well`() async throws {
        try folder.write("old", to: "name.txt")
        #expect(
            await code(of: DownloadOperation(url, to: .folder(folder.url), configuration: configuration()))
                == .fileFailed)
        #expect(folder.text("name.txt") == "old")
        #expect(try folder.hiddenNames.isEmpty)
    }

    @Test func `An older file is replaced and its permissions stay`() async throws {
        try folder.write("old")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.file().path)
        _ = try await run(
            DownloadOperation(url, to: .file(folder.file()), ifExists: .replace, configuration: configuration()))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file().path)
        #expect(folder.text() == "content" && (attributes[.posixPermissions] as? NSNumber)?.intValue == 0o640)
    }

    @Test func `A failed download leaves the older file`() async throws {
        try folder.write("old")
        let configuration = RequestConfiguration.downloading([.beginning("half", of: 8)], retries: 0)
        let operation = DownloadOperation(
            url, to: .file(folder.file()), ifExists: .replace, configuration: configuration)
        #expect(await code(of: operation) == .connectionLost)
        #expect(folder.text() == "old")
        #expect(try folder.names == ["file"])
    }

    @Test func `A taken name gets a number before its extension`() async throws {
        for name in ["a.tar.gz", "a-2.tar.gz", "a-3.tar.gz"] {
            let file = try await run(
                DownloadOperation(
                    url, to: .file(folder.file("a.tar.gz")), ifExists: .uniqueName, configuration: configuration(name)))
            #expect(file.url.lastPathComponent == name && folder.text(name) == name)
        }
    }

    // MARK: What becomes the file

    @Test func `An error page never becomes the file`() async throws {
        var configuration = RequestConfiguration.downloading(
            over: ScriptedTransport([.status(404, body: Data("page".utf8))]))
        configuration.validation = .none
        #expect(
            await code(of: DownloadOperation(url, to: .file(folder.file()), configuration: configuration))
                == .unacceptableStatus)
        #expect(try folder.names.isEmpty)
    }

    @Test func `The final error has the beginning of an error page`() async throws {
        let transport = ScriptedTransport([.status(404, body: Data("page".utf8))])
        let error = await failure(
            of: DownloadOperation(url, to: .file(folder.file()), configuration: .downloading(over: transport)))
        #expect((error as? RequestError)?.bodyPrefix == Data("page".utf8))
    }

    @Test func `A failed download makes no folder`() async throws {
        let configuration = RequestConfiguration.downloading(over: ScriptedTransport([.status(404)]))
        _ = await failure(of: DownloadOperation(url, to: .file(folder.file("a/b")), configuration: configuration))
        #expect(try folder.names.isEmpty)
    }

    @Test func `A part that was not asked for never becomes the file`() async throws {
        let operation = DownloadOperation(
            url, to: .file(folder.file()), configuration: .downloading([.part("half", "bytes 0-3/8")]))
        #expect(await code(of: operation) == .malformedResponse)
    }

    @Test func `A part that the caller asks for becomes the file`() async throws {
        var request = URLRequest(url: url)
        request.setValue("bytes=0-3", forHTTPHeaderField: "Range")
        _ = try await run(
            DownloadOperation(
                request, to: .file(folder.file()), configuration: .downloading([.part("half", "bytes 0-3/8")])))
        #expect(folder.text() == "half")
    }

    @Test func `A file that is shorter than the server said does not get its name`() async throws {
        let part = PartTransport.Part(fields: [("Content-Length", "8")], body: "half")
        let operation = DownloadOperation(
            url, to: .file(folder.file()), configuration: .downloading([part], retries: 0))
        #expect(await code(of: operation) == .truncatedBody)
        #expect(try folder.names.isEmpty)
    }

    @Test func `A subclass sees the complete file before it has its name`() async throws {
        final class Checked: DownloadOperation, @unchecked Sendable {
            override func validate(_ response: TransportResponse) async throws {
                try await super.validate(response)
                let content = try response.file.map { try Data(contentsOf: $0) }
                guard content == Data("good".utf8) else { throw RequestError(.undecodable, stage: .validate) }
            }
        }
        #expect(
            await code(of: Checked(url, to: .file(folder.file()), configuration: configuration("bad"))) == .undecodable)
        #expect(try folder.names.isEmpty)
        _ = try await run(Checked(url, to: .file(folder.file()), configuration: configuration("good")))
        #expect(folder.text() == "good")
    }

    @Test func `A subclass with a task of its own gets a clear error`() async throws {
        final class Other: DownloadOperation, @unchecked Sendable {
            override func makeTask(for request: URLRequest) async throws -> TransportTask { .data(request) }
        }
        #expect(
            await code(of: Other(url, to: .file(folder.file()), configuration: configuration())) == .unsupported)
    }

    @Test func `A cancelled download leaves nothing`() async throws {
        let transport = PartTransport([.beginning("half", of: 8)])
        var configuration = RequestConfiguration.downloading(over: transport)
        configuration.retryPolicy.backoff = .constant(.seconds(100))
        let operation = DownloadOperation(url, to: .file(folder.file()), configuration: configuration)
        operation.start()
        let folder = folder
        await eventually { (try? folder.hiddenNames.count) == 1 }
        operation.cancel()
        await end(of: operation)
        #expect(try folder.names.isEmpty)
    }

    // MARK: Requests

    private struct Report: Endpoint {
        typealias Response = Data
        let path = "/report"
        let method = HTTPMethod.post
        @Query var year = 2026
    }

    @Test func `An endpoint is downloaded with its method and parameters`() async throws {
        let transport = ScriptedTransport([.body(Data("content".utf8))])
        _ = try await run(
            DownloadOperation(
                Report(), relativeTo: URL(string: "http://a.example")!, to: .file(folder.file()),
                configuration: .downloading(over: transport)))
        let request = try #require(transport.requests.first)
        #expect(request.httpMethod == "POST" && request.url?.absoluteString == "http://a.example/report?year=2026")
        #expect(folder.text() == "content")
    }

    @Test func `The identity coding is asked for`() async throws {
        let transport = ScriptedTransport([.body(Data())])
        _ = try await run(
            DownloadOperation(url, to: .file(folder.file()), configuration: .downloading(over: transport)))
        #expect(transport.requests.first?.value(forHTTPHeaderField: "Accept-Encoding") == "identity")
    }

    // MARK: Digests

    private let contentDigest = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
    private let otherDigest = String(repeating: "0", count: 64)

    private func field(_ hex: String) -> String {
        let bytes = stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
        return "sha-256=:\(Data(bytes).base64EncodedString()):"
    }

    @Test func `The caller's digest is verified`() async throws {
        let digest = FileDigest.sha256(hex: contentDigest)
        let file = try await run(
            DownloadOperation(url, to: .file(folder.file()), checksum: digest, configuration: configuration()))
        #expect(file.verifiedDigests == [digest])
    }

    @Test func `A file without the caller's digest does not get its name`() async throws {
        let operation = DownloadOperation(
            url, to: .file(folder.file()), checksum: .sha256(hex: otherDigest), configuration: configuration())
        #expect(await code(of: operation) == .digestMismatch)
        #expect(try folder.names.isEmpty)
    }

    @Test func `A checksum that is none fails before anything is sent`() async throws {
        let transport = ScriptedTransport([.body(Data())])
        let operation = DownloadOperation(
            url, to: .file(folder.file()), checksum: .sha512(hex: otherDigest),
            configuration: .downloading(over: transport))
        #expect(await code(of: operation) == .invalidDigest)
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: ["Repr-Digest", "Content-Digest"])
    func `The server's digest is verified`(_ name: String) async throws {
        let good = configuration("content", [(name, field(contentDigest))])
        let bad = configuration("content", [(name, field(otherDigest))])
        _ = try await run(DownloadOperation(url, to: .file(folder.file("good")), configuration: good))
        #expect(
            await code(of: DownloadOperation(url, to: .file(folder.file("bad")), configuration: bad)) == .digestMismatch
        )
        #expect(try folder.names == ["good"])
    }

    @Test func `The digest of a compressed form says nothing about the file`() async throws {
        let fields = [(name: "Content-Encoding", value: "gzip"), (name: "Repr-Digest", value: field(otherDigest))]
        let file = try await run(
            DownloadOperation(url, to: .file(folder.file()), configuration: configuration("content", fields)))
        #expect(file.verifiedDigests.isEmpty)
    }
}
