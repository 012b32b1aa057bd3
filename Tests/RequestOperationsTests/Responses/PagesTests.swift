import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct PagesTests {
    private func page(_ values: String, next: String?) -> LoopbackServer.Response {
        let fields: LoopbackServer.Fields =
            next.map { ["Link": "<\($0)>; rel=\"next\"", "Content-Type": "application/json"] } ?? [:]
        return .status(200, fields: fields, body: Data(values.utf8))
    }

    private func pages(_ server: LoopbackServer) -> Pages<[Int]> {
        var request = URLRequest(url: server.url("/list?n=1"))
        request.setValue("a", forHTTPHeaderField: "X-Kept")
        return OperationQueue().pages(of: request, decoder: .json([Int].self))
    }

    @Test func `They follow the link to the next`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/list?n=1", page("[1,2]", next: "?n=2"))
        server.route("/list?n=2", page("[3]", next: "/end"))
        server.route("/end", page("[4]", next: nil))
        var values: [[Int]] = []
        for try await page in pages(server) { values.append(page) }
        #expect(values == [[1, 2], [3], [4]])
        #expect(server.requests.map(\.target) == ["/list?n=1", "/list?n=2", "/end"])
        #expect(server.requests.allSatisfy { $0.field("X-Kept") == "a" })
    }

    @Test func `One is requested when it is asked for`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/list", page("[1]", next: "?n=2"))
        var iterator = pages(server).makeAsyncIterator()
        #expect(server.requests.isEmpty)
        _ = try await iterator.next()
        #expect(server.requests.count == 1)
    }

    @Test func `One that fails ends them`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/list?n=1", page("[1]", next: "?n=2"))
        server.route("/list?n=2", .status(404))
        var iterator = pages(server).makeAsyncIterator()
        #expect(try await iterator.next() == [1])
        await #expect(throws: RequestError.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    @Test func `A circle is an error`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/list", page("[1]", next: "?n=1"))
        var iterator = pages(server).makeAsyncIterator()
        #expect(try await iterator.next() == [1])
        await #expect { try await iterator.next() } throws: { ($0 as? RequestError)?.code == .redirectLoop }
        #expect(server.requests.count == 1)
    }

    @Test func `Another origin is an error and sees nothing`() async throws {
        let server = try await LoopbackServer.start()
        let other = try await LoopbackServer.start()
        server.route("/list", page("[1]", next: other.url.absoluteString))
        var iterator = pages(server).makeAsyncIterator()
        #expect(try await iterator.next() == [1])
        await #expect { try await iterator.next() } throws: { ($0 as? RequestError)?.code == .insecureRedirect }
        #expect(other.requests.isEmpty)
    }

    /// Pages of which the first is redirected from one server to another.
    private func redirectedPages(
        toHost host: String? = nil, adapters: [RequestAdapter] = []
    ) async throws -> (iterator: Pages<[Int]>.AsyncIterator, servers: [LoopbackServer]) {
        let server = try await LoopbackServer.start()
        let other = try await LoopbackServer.start()
        var target = try #require(URLComponents(url: other.url("/list?n=1"), resolvingAgainstBaseURL: true))
        target.host = host ?? target.host
        server.route("/list", .redirect(to: try #require(target.string)))
        other.route("/list?n=1", page("[1]", next: "?n=2"))
        other.route("/list?n=2", page("[2]", next: "?n=3"))
        other.route("/list?n=3", page("[3]", next: nil))
        var request = URLRequest(url: server.url("/list"))
        request.setValue("Bearer credential", forHTTPHeaderField: "Authorization")
        request.setValue("a", forHTTPHeaderField: "X-Kept")
        var configuration = RequestConfiguration()
        configuration.adapters = adapters
        let pages = OperationQueue().pages(
            of: request, decoder: .json([Int].self), configuration: configuration)
        return (pages.makeAsyncIterator(), [server, other])
    }

    @Test func `They go on where a redirect led without credentials`() async throws {
        var (iterator, servers) = try await redirectedPages()
        var values: [[Int]] = []
        while let page = try await iterator.next() { values.append(page) }
        #expect(values == [[1], [2], [3]])
        #expect(servers[1].requests.allSatisfy { $0.field("Authorization") == nil && $0.field("X-Kept") == "a" })
    }

    @Test func `At another host no adapter adds credentials`() async throws {
        var (iterator, servers) = try await redirectedPages(
            toHost: "localhost", adapters: [.bearerToken { "credential" }])
        #expect(try await iterator.next() == [1])
        await #expect { try await iterator.next() } throws: { ($0 as? RequestError)?.code == .insecureRedirect }
        #expect(servers[1].requests.count == 1)
    }

    @Test func `An endpoint has them too`() async throws {
        struct List: Endpoint {
            typealias Response = [Int]
            let path = "list"
            @Query var n = 1
        }
        let server = try await LoopbackServer.start()
        server.route("/list?n=1", page("[1]", next: "?n=2"))
        server.route("/list?n=2", page("[2]", next: nil))
        var values: [Int] = []
        for try await page in try OperationQueue().pages(of: List(), relativeTo: server.url) { values += page }
        #expect(values == [1, 2])
    }
}
