import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct ClientPagesTests {
    private struct List: Endpoint {
        typealias Response = [Int]
        let path = "list"
        var size = 1
    }

    private let server: LoopbackServer
    private let client: RequestClient

    init() async throws {
        server = try await LoopbackServer.start { request in
            let next = request.target.contains("page=2") ? nil : "?page=2"
            return .status(
                200, fields: next.map { ["Link": "<\($0)>; rel=\"next\""] } ?? [:],
                body: Data("[\(request.target.count)]".utf8))
        }
        client = RequestClient(server.url("/v1/").absoluteString, over: PlatformTransport.shared)
        client.setField("de", for: "Accept-Language")
        client.setParameter("en", for: "lang")
    }

    private func collect(_ pages: Pages<[Int]>) async throws -> Int {
        var count = 0
        for try await _ in pages { count += 1 }
        return count
    }

    @Test func `Each page has the fields of the client and runs its hooks`() async throws {
        let hooked = Locked<[String]>([])
        client.hooks = [
            .request { request, submission in
                request.setValue("1", forHTTPHeaderField: "X-Hook")
                hooked.withLock { $0.append(submission.path ?? "") }
            }
        ]
        let pages: Pages<[Int]> = client.pages(of: "list", parameters: ["q": "a"]) { $0.fields["X-Own"] = "2" }
        #expect(try await collect(pages) == 2)
        #expect(server.requests.map(\.target) == ["/v1/list?lang=en&q=a", "/v1/list?page=2"])
        for name in ["Accept-Language", "X-Hook", "X-Own"] {
            #expect(server.requests.allSatisfy { $0.field(name) != nil })
        }
        #expect(hooked.withLock { $0 } == ["list", "list"])
    }

    @Test func `The pages of an endpoint have its values`() async throws {
        #expect(try await collect(client.pages(of: List())) == 2)
        #expect(server.requests.map(\.target) == ["/v1/list?lang=en&size=1", "/v1/list?page=2"])
    }

    @Test func `A request that cannot be made is an error of the sequence`() async throws {
        let pages = client.pages(of: "//x/y", as: [Int].self)
        await #expect { try await collect(pages) } throws: { ($0 as? RequestError)?.code == .badURL }
    }
}
