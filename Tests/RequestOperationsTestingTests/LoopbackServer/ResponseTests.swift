import Foundation
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ResponseTests {
    @Test func `A status carries its fields in order and its body`() async throws {
        let server = try await LoopbackServer.start { _ in
            .status(418, fields: ["X-Tea": "green", "Set-Cookie": "a=1", "Set-Cookie": "b=2"], body: Data("pot".utf8))
        }
        let curl = try await Curl.get(server.url, "--include")
        #expect(
            curl.text == """
                HTTP/1.1 418 \r
                X-Tea: green\r
                Set-Cookie: a=1\r
                Set-Cookie: b=2\r
                Content-Length: 3\r
                \r
                pot
                """)
    }

    @Test(arguments: [
        (LoopbackServer.Response.body(Data("x".utf8)), "200 application/octet-stream 1"),
        (.body(Data("<a/>".utf8), contentType: "text/xml"), "200 text/xml 4"),
        (.text("é"), "200 text/plain; charset=utf-8 2"),
        (.json("{}"), "200 application/json 2"),
        (.empty(), "204  0"),
        (.empty(201), "201  0"),
        (.redirect(to: "/", status: 308), "308  0"),
    ])
    func `A complete response has its status type and length`(_ response: LoopbackServer.Response, _ expected: String)
        async throws
    {
        let server = try await LoopbackServer.start { _ in response }
        let curl = try await Curl.get(
            server.url, "--output", "/dev/null", "--write-out", "%{http_code} %{content_type} %{size_download}")
        #expect(curl.exitCode == .success)
        #expect(curl.text == expected)
    }

    @Test func `A 204 has no content length and no body`() async throws {
        let server = try await LoopbackServer.start { _ in .closing(.status(204, body: Data("body".utf8))) }
        let received = try await RawClient.exchange(server.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(received == "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    }

    @Test func `Redirects lead curl to their location`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/a", .redirect(to: "/b"))
        server.route("/b", .redirect(to: server.url("/c").absoluteString, status: 307))
        server.route("/c", .text("here"))
        let curl = try await Curl.get(server.url("/a"), "--location", "--write-out", " %{num_redirects}")
        #expect(curl.text == "here 2")
    }

    @Test func `A redirect to itself is a loop`() async throws {
        let server = try await LoopbackServer.start { .redirect(to: $0.path) }
        let curl = try await Curl.get(server.url("/a"), "--location", "--max-redirs", "5")
        #expect(curl.exitCode == .tooManyRedirects)
        #expect(server.requests.count == 6)
    }

    @Test(arguments: [
        LoopbackServer.Response.text("body"), .large(byteCount: 1 << 40), .chunked([Data("body".utf8)]),
        .stallBody(after: 1, of: 2), .endless(chunk: Data("body".utf8)), .truncated(declared: 2, sending: 1),
    ])
    func `A head request gets the head alone and keeps the connection`(_ response: LoopbackServer.Response) async throws
    {
        let server = try await LoopbackServer.start { _ in response }
        let url = server.url.absoluteString
        let curl = try await Curl.run(["--head", "--write-out", "%{http_code} %{size_download}\n", url, url])
        #expect(curl.exitCode == .success)
        #expect(curl.text.components(separatedBy: "200 0\n").count == 3)
        #expect(server.connections.map(\.requestsServed) == [2])
    }

    @Test func `Chunks and trailers arrive as they were given`() async throws {
        let pieces = ["one ", "", "two"].map { Data($0.utf8) }
        let server = try await LoopbackServer.start { _ in
            .closing(.chunked(pieces, fields: ["Trailer": "X-Sum"], trailers: ["X-Sum": "7"]))
        }
        #expect(try await Curl.get(server.url).text == "one two")
        let received = try await RawClient.exchange(server.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(received.hasSuffix("\r\n\r\n4\r\none \r\n3\r\ntwo\r\n0\r\nX-Sum: 7\r\n\r\n"))
    }

    @Test func `Interim heads come before the response`() async throws {
        let server = try await LoopbackServer.start { _ in
            .informational(103, fields: ["Link": "</a.css>"], then: .informational(102, then: .text("late")))
        }
        let curl = try await Curl.get(server.url, "--include")
        #expect(curl.exitCode == .success)
        #expect(
            curl.text.hasPrefix("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"))
        #expect(curl.text.hasSuffix("\r\n\r\nlate"))
    }

    @Test func `Raw bytes arrive verbatim`() async throws {
        let bytes = "HTP/9.9 what\n\0\u{7F}"
        let server = try await LoopbackServer.start { _ in .closing(.raw(Data(bytes.utf8))) }
        #expect(try await RawClient.exchange(server.port, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n") == bytes)
        #expect(try await Curl.get(server.url).exitCode == .unsupportedProtocol)
    }

    @Test func `A closing response says so and ends the connection`() async throws {
        let server = try await LoopbackServer.start { _ in .closing(.text("bye")) }
        let url = server.url.absoluteString
        let curl = try await Curl.run(["--include", url, url])
        #expect(curl.text.components(separatedBy: "Connection: close\r\n").count == 3)
        let ended = try await server.connectionsClosed(atLeast: 2)
        #expect(ended.map(\.end) == [.closedByServer, .closedByServer])
        #expect(ended.map(\.requestsServed) == [1, 1])
    }

    @Test func `A delayed response comes no earlier than its delay`() async throws {
        let server = try await LoopbackServer.start { _ in .delayed(.milliseconds(150), then: .text("late")) }
        let curl = try await Curl.get(server.url, "--write-out", " %{time_starttransfer}")
        let words = curl.text.split(separator: " ")
        #expect(words.first == "late")
        #expect(try #require(Double(words[1])) >= 0.15)
    }

    @Test func `A gate holds responses until it is opened`() async throws {
        let gate = LoopbackServer.Gate()
        let server = try await LoopbackServer.start { _ in .held(by: gate, then: .text("open")) }
        async let first = Curl.get(server.url)
        async let second = Curl.get(server.url)
        try await server.requests(atLeast: 2)
        #expect(server.connections.map(\.bytesSent) == [0, 0])
        gate.open()
        #expect(try await first.text == "open")
        #expect(try await second.text == "open")
        #expect(try await Curl.get(server.url).text == "open")
        #expect(server.maximumConcurrentRequests == 2)
    }
}
