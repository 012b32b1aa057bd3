import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

/// Uploads by tus to a server that follows a script.
@Suite(.timeLimit(.minutes(15))) struct TusUploadTests {
    private let folder: DownloadFolder
    private static let text = "0123456789"

    init() throws {
        folder = try DownloadFolder()
        try folder.write(Self.text, to: "a.txt")
    }

    private var file: URL { folder.file("a.txt") }

    private func upload(
        _ body: RequestBody? = nil, to peer: TusPeer, by way: UploadProtocol = .tus, retries: Int = 3
    ) -> UploadOperation<Data> {
        UploadOperation(
            body ?? .file(file), to: peer.url, by: way, configuration: .downloading(retries: retries))
    }

    @Test func `A small file goes with the creation`() async throws {
        let peer = try await TusPeer()
        let operation = upload(to: peer)
        _ = try await run(operation)
        #expect(peer.log == ["OPTIONS", "POST"])
        #expect(peer.contents == [Self.text])
        #expect(operation.uploadURL == peer.server.url("/files/0"))
        #expect(peer.metadata == ["filename YS50eHQ=,filetype dGV4dC9wbGFpbg=="])
    }

    @Test func `A server without extensions gets the bytes after the creation`() async throws {
        for extensions in ["creation", nil] {
            let peer = try await TusPeer(.init(extensions: extensions))
            _ = try await run(upload(to: peer))
            #expect(peer.log == ["OPTIONS", "POST", "PATCH 0"])
            #expect(peer.contents == [Self.text])
            #expect(peer.server.requests[1].field("Content-Length") == "0")
        }
    }

    @Test func `A chunk size makes several requests`() async throws {
        let peer = try await TusPeer()
        _ = try await run(upload(to: peer, by: .tus(chunkSize: 4, metadata: [:])))
        #expect(peer.log == ["OPTIONS", "POST", "PATCH 4", "PATCH 8"])
        #expect(peer.contents == [Self.text])
        #expect(peer.metadata == [""])
    }

    @Test func `Data and streams are uploaded in parts as well`() async throws {
        let stream = BodyStream.of(Data(Self.text.utf8), length: 10)
        for body in [.data(Data(Self.text.utf8)), .stream(stream)] as [RequestBody] {
            let peer = try await TusPeer(faults: ["PATCH": [.keeps(2)]])
            _ = try await run(upload(body, to: peer, by: .tus(chunkSize: 3)))
            #expect(peer.contents == [Self.text])
        }
    }

    @Test func `An empty file is created, and that is all`() async throws {
        try folder.write("", to: "a.txt")
        let peer = try await TusPeer()
        _ = try await run(upload(to: peer))
        #expect(peer.log == ["OPTIONS", "POST"] && peer.contents == [""])
    }

    @Test func `After a lost connection the next attempt goes on from the server's offset`() async throws {
        let peer = try await TusPeer(
            .init(extensions: "creation"), faults: ["PATCH": [.keeps(3), .keeps(0), .keeps(5)]])
        let operation = upload(to: peer)
        _ = try await run(operation)
        #expect(
            peer.log == [
                "OPTIONS", "POST", "PATCH 0", "HEAD", "PATCH 3", "HEAD", "PATCH 3", "HEAD", "PATCH 8",
            ])
        #expect(peer.contents == [Self.text] && operation.attempts.count == 4)
    }

    @Test func `A creation that broke off is made again without bytes`() async throws {
        let peer = try await TusPeer(faults: ["POST": [.keeps(3)]])
        _ = try await run(upload(to: peer))
        #expect(peer.log == ["OPTIONS", "POST", "POST", "PATCH 0"] && peer.contents == ["012", Self.text])
    }

    @Test func `A conflict is solved in the same attempt`() async throws {
        let peer = try await TusPeer(
            .init(extensions: "creation"), faults: ["PATCH": [.answers(409), .keepsSilent]])
        let operation = upload(to: peer)
        _ = try await run(operation)
        #expect(peer.log == ["OPTIONS", "POST", "PATCH 0", "HEAD", "PATCH 0", "HEAD"])
        #expect(peer.contents == [Self.text] && operation.attempts.count == 1)
    }

    @Test func `A server that takes a part of a request gets the rest`() async throws {
        let peer = try await TusPeer(.init(extensions: "creation"), faults: ["PATCH": [.takes(4)]])
        _ = try await run(upload(to: peer))
        #expect(peer.log == ["OPTIONS", "POST", "PATCH 0", "PATCH 4"])
        #expect(peer.contents == [Self.text])
    }

    @Test func `Bytes are sent with their digest, and again if it is wrong`() async throws {
        let peer = try await TusPeer(
            .init(extensions: "creation,creation-with-upload,checksum", algorithms: "sha1,sha256"),
            faults: ["PATCH": [.answers(460)]])
        _ = try await run(upload(to: peer))
        #expect(peer.log == ["OPTIONS", "POST", "PATCH 0", "HEAD", "PATCH 0"])
        #expect(peer.contents == [Self.text])
        let digest = "hNiYd/DUBB77a/kaFvAkjy/Vc+avBcGflr7bn4gveII="
        #expect(peer.server.requests.last?.field("Upload-Checksum") == "sha256 \(digest)")
    }

    @Test func `A server that never accepts the digest fails the upload`() async throws {
        let peer = try await TusPeer(
            .init(extensions: "creation,checksum", algorithms: "sha256"),
            faults: ["PATCH": Array(repeating: .answers(460), count: 9)])
        let operation = upload(to: peer, retries: 1)
        let error = await failure(of: operation) as? RequestError
        #expect(error?.code == .unacceptableStatus && error?.head?.status == 460)
        #expect(operation.attempts.count == 2)
    }

    @Test(arguments: [404, 410]) func `An upload that is gone is created anew`(_ status: Int) async throws {
        let peer = try await TusPeer(
            .init(extensions: "creation"), faults: ["PATCH": [.keeps(3)], "HEAD": [.forgets(status)]])
        _ = try await run(upload(to: peer))
        #expect(peer.log == ["OPTIONS", "POST", "PATCH 0", "HEAD", "POST", "PATCH 0"])
        #expect(peer.contents == [Self.text])
    }

    @Test func `An upload that is locked, or a server that is busy, is tried again`() async throws {
        let peer = try await TusPeer(
            .init(extensions: "creation"),
            faults: ["OPTIONS": [.answers(503)], "POST": [.answers(503)], "PATCH": [.answers(423)]])
        let operation = upload(to: peer)
        _ = try await run(operation)
        #expect(peer.contents == [Self.text] && operation.attempts.count == 4)
    }

    @Test func `A creation that is refused fails with its status`() async throws {
        let peer = try await TusPeer(faults: ["POST": [.answers(401)]])
        let error = await failure(of: upload(to: peer)) as? RequestError
        #expect(error?.code == .unacceptableStatus && error?.head?.status == 401 && peer.log.count == 2)
    }

    @Test func `An upload larger than the server takes is not even created`() async throws {
        let peer = try await TusPeer(.init(maximumSize: 9))
        let error = await failure(of: upload(to: peer)) as? RequestError
        #expect(error?.code == .bodyTooLarge && error?.reason?.contains("at most 9 bytes") == true)
        #expect(peer.log == ["OPTIONS"])
    }

    @Test func `A server that claims bytes that were not sent fails the upload`() async throws {
        let peer = try await TusPeer(.init(extensions: "creation"), faults: ["PATCH": [.claims(99)]])
        #expect(await code(of: upload(to: peer)) == .malformedResponse)
    }

    @Test func `A file that changes during the upload is an error`() async throws {
        let file = file
        let peer = try await TusPeer(.init(extensions: "creation"), faults: ["PATCH": [.keeps(3)]])
        var configuration = RequestConfiguration.downloading()
        configuration.retryDeciders = [
            RetryDecider { _, decision in
                try? Data("changed".utf8).write(to: file)
                return decision
            }
        ]
        let operation = UploadOperation(.file(file), to: peer.url, by: .tus, configuration: configuration)
        #expect(await code(of: operation) == .fileChanged)
    }

    @Test func `A form and a stream without a length are not supported`() async throws {
        let peer = try await TusPeer()
        let stream = BodyStream.of(Data())
        #expect(await code(of: upload(.stream(stream), to: peer)) == .unsupported)
        let form = UploadOperation(
            MultipartFormData(), to: peer.url, by: .tus, configuration: .downloading())
        #expect(await code(of: form) == .unsupported && peer.log.isEmpty)
    }

    @Test func `The progress counts the bytes of all requests, and has the total from the beginning`() async throws {
        let peer = try await TusPeer(.init(extensions: "creation"), faults: ["PATCH": [.keeps(3)]])
        let reports = Locked<[TransferProgress]>([])
        var configuration = RequestConfiguration.downloading()
        configuration.onProgress = { progress in reports.withLock { $0.append(progress) } }
        let operation = UploadOperation(
            .file(file), to: peer.url, by: .tus(chunkSize: 5), configuration: configuration)
        let progress = operation.progress
        _ = try await run(operation)
        let sent = reports.withLock { $0 }
        #expect(sent.allSatisfy { $0.bytesToSend == 10 && $0.bytesToReceive == 0 })
        #expect(sent.map(\.bytesSent).contains(3) && sent.last?.bytesSent == 10)
        #expect(progress.completedUnitCount == 10 && progress.fractionCompleted == 1)
    }

    // MARK: A link that breaks

    @Test func `After a creation that broke off, no bytes go with the next one`() async throws {
        let peer = try await TusPeer(faults: ["POST": [.keeps(2)], "PATCH": [.keeps(3), .keeps(3), .keeps(3)]])
        _ = try await run(upload(to: peer, retries: 2))
        #expect(
            peer.log == [
                "OPTIONS", "POST", "POST", "PATCH 0", "HEAD", "PATCH 3", "HEAD", "PATCH 6", "HEAD", "PATCH 9",
            ])
        #expect(peer.contents == ["01", Self.text])
    }

    @Test func `An attempt that brought the upload further restarts the count of retries`() async throws {
        let peer = try await TusPeer(
            .init(extensions: "creation"), faults: ["PATCH": Array(repeating: .keeps(1), count: 9)])
        let operation = upload(to: peer, retries: 1)
        _ = try await run(operation)
        #expect(peer.contents == [Self.text] && operation.attempts.count == 10)
    }

    @Test func `An attempt that brought nothing does not`() async throws {
        let peer = try await TusPeer(
            .init(extensions: "creation"), faults: ["PATCH": [.keeps(1)] + Array(repeating: .keeps(0), count: 9)])
        let operation = upload(to: peer, retries: 1)
        #expect(await code(of: operation) == .connectionLost)
        #expect(operation.attempts.count <= 5)
    }

    @Test func `The deadline ends an upload that gets one byte further with each attempt`() async throws {
        let peer = try await TusPeer(
            .init(extensions: "creation"), faults: ["PATCH": Array(repeating: .keeps(1), count: 1 << 14)])
        var configuration = RequestConfiguration.downloading(retries: 1)
        configuration.deadline = .milliseconds(200)
        let body = RequestBody.data(Data(count: 1 << 14))
        let operation = UploadOperation(body, to: peer.url, by: .tus, configuration: configuration)
        #expect(await code(of: operation) == .timedOut)
    }

    @Test func `The creation is redirected`() async throws {
        let peer = try await TusPeer(.init(extensions: "creation"))
        peer.server.route("/moved", .redirect(to: "/files/", status: 307))
        let operation = UploadOperation(
            .file(file), to: peer.server.url("/moved"), by: .tus, configuration: .downloading())
        _ = try await run(operation)
        #expect(peer.contents == [Self.text])
    }

    @Test func `An error names the request that failed`() async throws {
        let faults: [(String, method: String, path: String)] = [
            ("POST", "POST", "/files/"), ("PATCH", "PATCH", "/files/0"),
        ]
        for (fault, method, path) in faults {
            let peer = try await TusPeer(.init(extensions: "creation"), faults: [fault: [.answers(400)]])
            let error = try #require(await failure(of: upload(to: peer, retries: 0)) as? RequestError)
            #expect(error.method == method && error.location == peer.server.url(path).absoluteString)
            #expect("\(error)".contains(", \(method) http://") && !"\(error)".contains("PUT"))
        }
    }

    @Test func `An error that comes from no request names the upload, and so does the operation`() async throws {
        struct Refusal: Error {}
        let (file, calls) = (file, Locked(0))
        var refusing = RequestConfiguration.downloading()
        refusing.adapters = [RequestAdapter { _ in throw Refusal() }]
        var changing = RequestConfiguration.downloading()
        changing.adapters = [
            RequestAdapter { request in
                calls.withLock { $0 += 1 }
                if calls.withLock({ $0 }) == 2 { try Data("changed".utf8).write(to: file) }
                return request
            }
        ]
        for (configuration, code) in [(refusing, RequestError.Code.stageFailed), (changing, .fileChanged)] {
            let peer = try await TusPeer(faults: ["POST": [.answers(503)]])
            let operation = UploadOperation(.file(file), to: peer.url, by: .tus, configuration: configuration)
            let error = try #require(await failure(of: operation) as? RequestError)
            #expect(error.code == code && error.method == nil && error.location != nil)
            #expect("\(error)".contains(", tus upload, http://") && "\(operation)".contains(": tus upload, http://"))
            #expect(!"\(error), \(operation), \(operation.attempts)".contains("PUT"))
        }
    }

    @Test(arguments: [301, 302, 303])
    func `A creation is redirected only where its method stays, unless the caller allows it`(
        _ status: Int
    ) async throws {
        let peer = try await TusPeer(.init(extensions: "creation"))
        peer.server.route("/moved", .empty(), .redirect(to: "/files/", status: status))
        var configuration = RequestConfiguration.downloading()
        let refused = UploadOperation(
            .file(file), to: peer.server.url("/moved"), by: .tus, configuration: configuration)
        #expect(await code(of: refused) == .unacceptableStatus)
        #expect(peer.contents == [])
        configuration.redirects.allowsMethodChange = true
        peer.server.route("/moved", .empty(), .redirect(to: "/files/", status: status))
        _ = try await run(
            UploadOperation(.file(file), to: peer.server.url("/moved"), by: .tus, configuration: configuration))
        #expect(peer.contents == [Self.text])
    }
}
