import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

/// Downloads and uploads of a client.
@Suite(.timeLimit(.minutes(15))) struct ClientFilesTests {
    private struct Report: Endpoint {
        typealias Response = Void
        let path = "/report"
        let method = HTTPMethod.post
        let day = 3
    }

    private let folder: DownloadFolder

    init() throws {
        folder = try DownloadFolder()
    }

    private func client(_ parts: [PartTransport.Part]) -> (RequestClient, PartTransport) {
        let transport = PartTransport(parts)
        let client = RequestClient(over: transport)
        client.setField("Bearer secret", for: "Authorization")
        return (client, transport)
    }

    @Test func `A download has what the client's requests share`() async throws {
        let (client, transport) = client([.whole("content")])
        let file = try await client.download("a.txt", to: .folder(folder.url), parameters: ["page": 2])
        #expect(folder.text("a.txt") == "content" && file.size == 7)
        let request = try #require(transport.requests.first)
        #expect(request.url?.absoluteString == "http://example.invalid/v1/a.txt?page=2")
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer secret")
    }

    @Test func `A download goes on where it broke off`() async throws {
        let (client, transport) = client([.beginning("0123", of: 8), .part("4567", "bytes 4-7/8")])
        let file = try await client.download("a.txt", to: .file(folder.file()))
        #expect(folder.text() == "01234567" && file.resumedBytes == 4 && transport.ranges == [nil, "bytes=4-"])
    }

    @Test func `An endpoint is downloaded with its method and its parameters`() async throws {
        let transport = ScriptedTransport([.body(Data("content".utf8))])
        let client = RequestClient(over: transport)
        _ = try await client.download(Report(), to: .file(folder.file()))
        #expect(folder.text() == "content" && transport.requests.first?.httpMethod == "POST")
        guard case .data(let body)? = transport.tasks.first?.body else {
            Issue.record("There is no body.")
            return
        }
        #expect(String(decoding: body, as: UTF8.self).contains("3"))
    }

    @Test func `Hooks change the request of a download`() async throws {
        let (client, transport) = client([.whole("content")])
        client.hooks = [.request { request, _ in request.setValue("1", forHTTPHeaderField: "X-Hook") }]
        _ = try await client.download("a.txt", to: .file(folder.file()))
        #expect(transport.requests.first?.value(forHTTPHeaderField: "X-Hook") == "1")
    }

    @Test func `A download can be cancelled by its tag`() async throws {
        let client = RequestClient(over: ScriptedTransport([.stall]))
        let operation = client.downloadOperation("a.txt", to: .file(folder.file())) { $0.tag = "files" }
        let id = client.submit(operation)
        #expect(id == operation.id && client.cancelAll(tag: "files").count == 1)
        await #expect(throws: CancellationError.self) { try await operation.value }
    }

    @Test func `An upload by a protocol has what the client's requests share`() async throws {
        let peer = try await TusPeer()
        let client = RequestClient(peer.server.url.absoluteString, over: RequestConfiguration.downloading().transport)
        client.setField("Bearer secret", for: "Authorization")
        try folder.write("0123456789", to: "a.txt")
        let operation = client.uploadOperation(
            .file(folder.file("a.txt")), to: "files/", by: .tus(chunkSize: 4), decoder: .head)
        client.submit(operation)
        #expect(try await operation.value.status == 204)
        #expect(peer.contents == ["0123456789"] && peer.log == ["OPTIONS", "POST", "PATCH 4", "PATCH 8"])
        #expect(peer.server.requests.allSatisfy { $0.field("Authorization") == "Bearer secret" })
    }

    @Test func `An upload in one request is a POST unless it says otherwise`() async throws {
        let transport = ScriptedTransport([.user])
        let client = RequestClient(over: transport)
        for method in [HTTPMethod.post, .put] {
            let user = try await client.upload(
                .data(Data("x".utf8)), to: "users", method: method, by: .plain, decoder: .json(User.self))
            #expect(user == User(name: "Ada"))
        }
        #expect(transport.requests.map(\.httpMethod) == ["POST", "PUT"])
    }
}
