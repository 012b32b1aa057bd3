import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

/// A later operation goes on. The side file is all that it has of the first.
@Suite(.timeLimit(.minutes(15))) struct TusAcrossProcessesTests {
    private let folder: DownloadFolder
    private static let text = "0123456789"

    init() throws {
        folder = try DownloadFolder()
        try folder.write(Self.text, to: "a.txt")
    }

    private var file: URL { folder.file("a.txt") }

    private func upload(
        _ body: RequestBody? = nil, to peer: TusPeer, resume: UploadResumption = .acrossProcesses,
        onEvent: (@Sendable (RequestEvent) -> Void)? = nil
    ) -> UploadOperation<Data> {
        var configuration = RequestConfiguration.downloading(retries: 0)
        configuration.onEvent = onEvent
        return UploadOperation(
            body ?? .file(file), to: peer.url, by: .tus(resume: resume), configuration: configuration)
    }

    /// A server that has the first bytes of an upload, whose operation has failed.
    private func peer(
        _ abilities: TusPeer.Abilities = .init(extensions: "creation,termination"), body: RequestBody? = nil,
        resume: UploadResumption = .acrossProcesses
    ) async throws -> TusPeer {
        let peer = try await TusPeer(abilities, faults: ["PATCH": [.keeps(4)]])
        #expect(await failure(of: upload(body, to: peer, resume: resume)) != nil)
        return peer
    }

    @Test func `A later operation goes on, and a success removes the side file`() async throws {
        let peer = try await peer()
        #expect(try folder.hiddenNames.count == 1)
        _ = try await run(upload(to: peer))
        #expect(peer.log.suffix(3) == ["OPTIONS", "HEAD", "PATCH 4"] && peer.contents == [Self.text])
        #expect(try folder.names == ["a.txt"])
    }

    @Test func `Without the option an operation leaves no side file`() async throws {
        let peer = try await peer(resume: .betweenAttempts)
        #expect(try folder.hiddenNames.isEmpty)
        _ = try await run(upload(to: peer, resume: .betweenAttempts))
        #expect(peer.contents == ["0123", Self.text])
    }

    @Test func `A file that has changed is uploaded anew`() async throws {
        let peer = try await peer()
        try folder.write("changed", to: "a.txt")
        _ = try await run(upload(to: peer))
        #expect(peer.contents == ["0123", "changed"])
    }

    @Test func `An upload that the server no longer has begins anew`() async throws {
        let peer = try await peer()
        peer.setFaults(["HEAD": [.forgets(410)]])
        _ = try await run(upload(to: peer))
        #expect(peer.contents == [Self.text] && peer.log.suffix(4) == ["OPTIONS", "HEAD", "POST", "PATCH 0"])
    }

    /// Runs an upload to a server. Returns the statuses of its events that say that the stored upload was refused, and its error.
    private func refusals(of peer: TusPeer) async -> (statuses: [Int], error: RequestError?) {
        let steps = Collector<RequestEvent.Step>()
        let error = await failure(of: upload(to: peer) { steps.append($0.step) }) as? RequestError
        await eventually { steps.elements.last?.name == "ended" }
        let statuses = steps.elements.compactMap {
            if case .uploadRefused(let status) = $0 { status } else { nil as Int? }
        }
        return (statuses, error)
    }

    @Test(arguments: [400, 401, 403, 405, 409, 500])
    func `A stored upload that is refused for good is created anew, and an event says so`(_ status: Int) async throws {
        let peer = try await peer()
        peer.setFaults(["HEAD": Array(repeating: .answers(status), count: 9)])
        let (statuses, error) = await refusals(of: peer)
        #expect(statuses == [status] && error == nil)
        #expect(peer.contents == ["0123", Self.text] && peer.log.suffix(3) == ["HEAD", "POST", "PATCH 0"])
        #expect(try folder.names == ["a.txt"])
    }

    @Test func `So is one whose bytes are refused, or that answers without an offset`() async throws {
        let refused = try await peer()
        refused.setFaults(["PATCH": [.answers(400)]])
        #expect(await refusals(of: refused).statuses == [400])
        #expect(refused.contents == ["0123", Self.text])
        let strange = try await peer()
        strange.setFaults(["HEAD": [.answers(200)]])
        #expect(await refusals(of: strange).statuses == [200])
        #expect(strange.contents == ["0123", Self.text])
    }

    @Test func `The stored upload counts until another one is created`() async throws {
        let peer = try await peer()
        peer.setFaults(["HEAD": [.answers(401)], "POST": [.answers(401)]])
        #expect(await refusals(of: peer).error?.head?.status == 401)
        #expect(try folder.hiddenNames.count == 1)
        _ = try await run(upload(to: peer))
        #expect(peer.contents == [Self.text] && peer.log.suffix(3) == ["OPTIONS", "HEAD", "PATCH 4"])
    }

    @Test(arguments: [423, 503]) func `A server that is busy refuses nothing`(_ status: Int) async throws {
        let peer = try await peer()
        peer.setFaults(["HEAD": [.answers(status)]])
        #expect(await refusals(of: peer).statuses == [])
        _ = try await run(upload(to: peer))
        #expect(peer.contents == [Self.text])
    }

    @Test func `An upload that has expired is not asked for`() async throws {
        let peer = try await peer(
            .init(extensions: "creation,expiration", expires: "Sun, 06 Nov 1994 08:49:37 GMT"))
        _ = try await run(upload(to: peer))
        #expect(peer.contents == ["0123", Self.text] && !peer.log.contains("HEAD"))
    }

    @Test func `The side file may have any place, and then serves data as well`() async throws {
        let resume = UploadResumption.acrossProcesses(record: folder.file("side.json"))
        for body in [.file(file), .data(Data(Self.text.utf8))] as [RequestBody] {
            let peer = try await peer(body: body, resume: resume)
            #expect(try folder.names == ["a.txt", "side.json"])
            _ = try await run(upload(body, to: peer, resume: resume))
            #expect(peer.contents == [Self.text])
            #expect(try folder.names == ["a.txt"])
        }
    }

    @Test func `Other data does not go on with an upload`() async throws {
        let resume = UploadResumption.acrossProcesses(record: folder.file("side.json"))
        let peer = try await peer(body: .data(Data(Self.text.utf8)), resume: resume)
        _ = try await run(upload(.data(Data("9876543210".utf8)), to: peer, resume: resume))
        #expect(peer.contents == ["0123", "9876543210"])
    }

    @Test func `An upload that is complete on the server needs no byte more`() async throws {
        let peer = try await TusPeer(.init(extensions: "creation"), faults: ["PATCH": [.keeps(10)]])
        #expect(await failure(of: upload(to: peer)) != nil)
        let operation = upload(to: peer)
        let progress = operation.progress
        _ = try await run(operation)
        #expect(peer.log.suffix(2) == ["OPTIONS", "HEAD"] && progress.fractionCompleted == 1)
        #expect(try folder.hiddenNames.isEmpty)
    }

    @Test func `A side file that cannot be written fails the upload`() async throws {
        let peer = try await TusPeer()
        let operation = upload(to: peer, resume: .acrossProcesses(record: folder.file("missing/side")))
        #expect(await code(of: operation) == .fileFailed)
    }

    @Test func `An upload is removed from the server on request`() async throws {
        let peer = try await peer()
        #expect(try await upload(to: peer).terminate())
        #expect(peer.log.last == "DELETE" && peer.contents.isEmpty)
        #expect(try folder.hiddenNames.isEmpty)
        #expect(try await upload(to: peer).terminate() == false)
    }

    @Test func `To remove an upload ends its operation`() async throws {
        let peer = try await TusPeer(.init(extensions: "creation,termination"), faults: ["PATCH": [.answers(503)]])
        var configuration = RequestConfiguration.downloading()
        configuration.retryPolicy.backoff = .constant(.seconds(60))
        let (waits, wait) = AsyncStream<Void>.makeStream()
        configuration.onEvent = { event in
            if case .attemptFailed = event.step { wait.finish() }
        }
        let operation = UploadOperation(.file(file), to: peer.url, by: .tus, configuration: configuration)
        OperationQueue().addOperation(operation)
        for await _ in waits {}
        #expect(try await operation.terminate() && peer.contents.isEmpty)
        await #expect(throws: CancellationError.self) { try await operation.value }
    }

    @Test func `The request that removes an upload is processed as a subclass says`() async throws {
        final class Signed: UploadOperation<Data>, @unchecked Sendable {
            override func process(_ request: URLRequest) async throws -> URLRequest {
                var request = try await super.process(request)
                request.setValue("mine", forHTTPHeaderField: "X-Signature")
                return request
            }
        }
        let peer = try await peer()
        let operation = Signed(
            .file(file), to: peer.url, by: .tus(resume: .acrossProcesses), configuration: .downloading())
        #expect(try await operation.terminate() && peer.contents.isEmpty)
        #expect(peer.server.requests.last?.field("X-Signature") == "mine")
    }

    @Test func `A server that cannot remove an upload says so`() async throws {
        let peer = try await peer()
        peer.setFaults(["DELETE": [.answers(405)]])
        let operation = upload(to: peer)
        await #expect { try await operation.terminate() } throws: { ($0 as? RequestError)?.head?.status == 405 }
    }
}
