import Foundation
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct RequestLogTests {
    @Test func `A request is logged as it stood on the wire`() async throws {
        let server = try await LoopbackServer.start()
        let start = ContinuousClock.now
        _ = try await Curl.get(
            server.url("/a%2Fb?q=%20"), "--request", "PATCH", "--header", "X-Case: Kept", "--header", "x-case: 2",
            "--data-raw", "body")
        let request = try #require(server.requests.first)
        #expect(request.method == "PATCH")
        #expect(request.target == "/a%2Fb?q=%20")
        #expect(request.path == "/a%2Fb")
        #expect(request.query == "q=%20")
        #expect(request.fields.map(\.name).suffix(4) == ["X-Case", "x-case", "Content-Length", "Content-Type"])
        #expect(request.fields.values(of: "x-CASE") == ["Kept", "2"])
        #expect(request.field("X-CASE") == "Kept")
        #expect(request.field("Missing") == nil)
        #expect(request.body == Data("body".utf8))
        #expect(request.isBodyComplete)
        #expect(request.connection == 1)
        #expect(start < request.instant && request.instant < .now)
    }

    @Test func `A chunked body is decoded with its trailers`() async throws {
        let server = try await LoopbackServer.start()
        let curl = try await Curl.get(
            server.url, "--upload-file", "-", "--header", "Transfer-Encoding: chunked", input: pattern(200_000))
        #expect(curl.exitCode == .success)
        #expect(server.requests.map(\.method) == ["PUT"])
        #expect(server.requests[0].body == pattern(200_000))
        _ = try await RawClient.exchange(
            server.port,
            "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "3;ext=1\r\none\r\nA\r\n0123456789\r\n0\r\nX-Sum: 13\r\n\r\n")
        #expect(server.requests[1].body == Data("one0123456789".utf8))
        #expect(server.requests[1].trailers["x-sum"] == "13")
    }

    @Test func `A body beyond the limit is counted and summed but not kept`() async throws {
        let server = try await LoopbackServer.start(keptBodyLimit: 1000)
        for count in [1000, 1001] {
            _ = try await Curl.get(server.url, "--data-binary", "@-", input: pattern(count))
        }
        #expect(server.requests.map(\.body.count) == [1000, 0])
        #expect(server.requests.map(\.bodyByteCount) == [1000, 1001])
        #expect(server.requests.map(\.bodyChecksum) == [1000, 1001].map { LoopbackServer.Checksum(pattern($0)).value })
    }

    @Test func `A body that breaks off is logged as incomplete`() async throws {
        let server = try await LoopbackServer.start()
        try await RawClient.connected(to: server.port) { client in
            try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nfour")
        }
        let request = try await server.requests(atLeast: 1)[0]
        #expect(!request.isBodyComplete)
        #expect(request.body == Data("four".utf8))
        #expect(try await server.connectionsClosed(atLeast: 1)[0].end == .closedByPeer)
    }

    @Test func `Pipelined requests are answered in order`() async throws {
        let server = try await LoopbackServer.start { .text($0.path) }
        let requests = (1...50).map { "POST /\($0) HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n\r\n" }
        let received = try await RawClient.exchange(
            server.port, requests.joined() + "GET /end HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let bodies = received.components(separatedBy: "\r\n\r\n").dropFirst().map {
            $0.components(separatedBy: "HTTP")[0]
        }
        #expect(bodies == (1...50).map { "/\($0)" } + ["/end"])
        #expect(server.connections.map(\.requestsServed) == [51])
    }

    @Test func `Requests on one connection bear its number`() async throws {
        let server = try await LoopbackServer.start()
        let url = server.url.absoluteString
        _ = try await Curl.run([url, url])
        _ = try await Curl.run([url])
        #expect(server.requests.map(\.connection) == [1, 1, 2])
        #expect(server.connections.map(\.id) == [1, 2])
    }

    @Test func `A wait for requests ends with the last of them`() async throws {
        let server = try await LoopbackServer.start { _ in .stall }
        async let requests = server.requests(atLeast: 2)
        let curls = try (1...2).map { _ in try Curl.start([server.url.absoluteString]) }
        #expect(try await requests.count == 2)
        for curl in curls { curl.send(SIGKILL) }
    }

    @Test func `A wait that is already met returns at once even after stop`() async throws {
        let server = try await LoopbackServer.start()
        _ = try await Curl.get(server.url)
        server.stop()
        #expect(try await server.requests(atLeast: 1, timeout: .zero).count == 1)
    }

    @Test func `A limited log holds the last requests and connections`() async throws {
        let server = try await LoopbackServer.start(logLimit: 3) { _ in .closing(.text("")) }
        for number in 1...20 { _ = try await Curl.get(server.url("/\(number)")) }
        #expect(try await server.requests(atLeast: 20).map(\.path) == ["/18", "/19", "/20"])
        #expect(try await server.connectionsClosed(atLeast: 20).map(\.id) == [18, 19, 20])
        #expect(server.openConnectionCount == 0)
    }

    @Test func `A wait ends with its time limit`() async throws {
        let server = try await LoopbackServer.start()
        await #expect(throws: LoopbackServer.WaitError.timedOut) {
            try await server.requests(atLeast: 1, timeout: .milliseconds(10))
        }
    }

    @Test func `A wait ends when the server is stopped`() async throws {
        let server = try await LoopbackServer.start()
        let wait = Task { try await server.requests(atLeast: 1) }
        let another = Task { try await server.connectionsClosed(atLeast: 1) }
        server.stop()
        await #expect(throws: LoopbackServer.WaitError.serverStopped) { try await wait.value }
        await #expect(throws: LoopbackServer.WaitError.serverStopped) { try await another.value }
    }

    @Test func `A wait ends when its task is cancelled`() async throws {
        let server = try await LoopbackServer.start()
        let wait = Task { try await server.requests(atLeast: 1) }
        wait.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
    }
}
