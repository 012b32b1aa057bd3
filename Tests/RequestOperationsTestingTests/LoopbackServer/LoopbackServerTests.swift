import Foundation
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct LoopbackServerTests {
    @Test func `The kernel chooses a port on the loopback address`() async throws {
        let first = try await LoopbackServer.start()
        let second = try await LoopbackServer.start()
        #expect(first.port > 0)
        #expect(first.port != second.port)
        #expect(first.url.absoluteString == "http://127.0.0.1:\(first.port)")
        #expect(first.url("/a?b=c").absoluteString == "http://127.0.0.1:\(first.port)/a?b=c")
        #expect(first.url("a") == first.url("/a"))
    }

    @Test func `An unrouted path answers 404`() async throws {
        let server = try await LoopbackServer.start()
        let curl = try await Curl.get(server.url("/nothing"), "--write-out", "%{http_code}")
        #expect(curl.exitCode == .success)
        #expect(curl.text == "404")
    }

    @Test func `A route gives its responses in turn and then repeats the last`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/users", .status(503), .status(429), .text("Ada"))
        let url = server.url("/users").absoluteString
        let curl = try await Curl.run(["--write-out", "%{http_code} ", url, url, url, url])
        #expect(curl.text == "503 429 Ada200 Ada200 ")
    }

    @Test func `A route without query matches every query and one with a query goes first`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/users", .text("any "))
        server.route("/users?page=2", .text("two "))
        let curl = try await Curl.run(
            ["/users", "/users?page=1", "/users?page=2"].map { server.url($0).absoluteString })
        #expect(curl.text == "any any two ")
    }

    @Test func `A proxy request is routed by the path of its absolute target`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/a", .text("through the proxy"))
        let curl = try await Curl.run([
            "--noproxy", "", "--proxy", server.url.absoluteString, "http://example.invalid/a?b",
        ])
        #expect(curl.text == "through the proxy")
        #expect(server.requests.map(\.target) == ["http://example.invalid/a?b"])
        #expect(server.requests.map(\.path) == ["/a"])
    }

    @Test func `The handler answers what has no route`() async throws {
        let server = try await LoopbackServer.start { request in .text("\(request.method) \(request.path) ") }
        server.route("/routed", .text("routed "))
        let curl = try await Curl.run(["/free", "/routed"].map { server.url($0).absoluteString })
        #expect(curl.text == "GET /free routed ")
        server.respond { _ in .text("another") }
        #expect(try await Curl.get(server.url("/free")).text == "another")
    }

    @Test func `After stop connections are refused`() async throws {
        let server = try await LoopbackServer.start()
        server.stop()
        server.stop()
        #expect(try await Curl.get(server.url).exitCode == .couldNotConnect)
    }

    @Test func `Stop ends the requests in flight`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .stall)
        async let curl = Curl.get(server.url("/"))
        try await server.requests(atLeast: 1)
        server.stop()
        #expect(try await curl.exitCode == .emptyReply)
        #expect(server.connections.map(\.end) == [.closedByServer])
        #expect(server.openConnectionCount == 0)
    }

    @Test func `A server stops when its last reference goes`() async throws {
        // The kernel gives nobody such a port by itself, so no other test has it when the server has gone.
        var server: LoopbackServer?
        for port in (20_000..<30_000).shuffled() where server == nil {
            server = try? await LoopbackServer.start(port: port)
        }
        let url = try #require(server?.url)
        server = nil
        #expect(try await Curl.get(url).exitCode == .couldNotConnect)
    }

    @Test func `A stopped server can be followed by another on its port`() async throws {
        let first = try await LoopbackServer.start()
        first.route("/", .text("first"))
        #expect(try await Curl.get(first.url).text == "first")
        first.stop()
        let second = try await LoopbackServer.start(port: first.port)
        second.route("/", .text("second"))
        #expect(try await Curl.get(first.url).text == "second")
    }

    @Test func `A taken port is an error`() async throws {
        let server = try await LoopbackServer.start()
        await #expect(throws: (any Error).self) { try await LoopbackServer.start(port: server.port) }
    }

    @Test(arguments: ["/a b", "/ü?q={x}", "/a%20b"]) func `A route and a URL of one path meet`(_ path: String)
        async throws
    {
        let server = try await LoopbackServer.start()
        server.route(path, .text("here"))
        #expect(try await Curl.get(server.url(path)).text == "here")
    }

    @Test(arguments: [70_000, -1]) func `A number that is no port is an error`(port: Int) async throws {
        await #expect(throws: (any Error).self) { try await LoopbackServer.start(port: port) }
    }

    @Test func `It listens on IPv6 when asked`() async throws {
        let server = try await LoopbackServer.start(includingIPv6: true) { _ in .text("six") }
        let url = "http://[::1]:\(server.port)/"
        #expect(try await Curl.run(["--globoff", url]).text == "six")
        #expect(try await Curl.get(server.url).text == "six")
        server.stop()
        #expect(try await Curl.run(["--globoff", url]).exitCode == .couldNotConnect)
    }
}
