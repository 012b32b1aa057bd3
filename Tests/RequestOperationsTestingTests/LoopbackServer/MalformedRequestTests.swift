import Foundation
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct MalformedRequestTests {
    @Test(arguments: [
        ("GET /\r\n\r\n", 400),
        ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTQ/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        ("GET / HTTP/1.Q\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/Q.1\r\nHost: a\r\n\r\n", 400),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5 garbage\r\nhello\r\n0\r\n\r\n", 400),
        ("\u{16}\u{3}\u{1} TLS \r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nName : value\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n folded\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nA: b\0c\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nA: b\rc\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffffffff\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
    ])
    func aMalformedRequestIsRefusedAndTheConnectionEnds(_ request: String, _ status: Int) async throws {
        let server = try await LoopbackServer.start { _ in .text("accepted") }
        let received = try await RawClient.exchange(server.port, request)
        #expect(received.hasPrefix("HTTP/1.1 \(status) "))
        #expect(received.hasSuffix("\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
        #expect(try await server.connectionsClosed(atLeast: 1)[0].end == .closedByServer)
        #expect(server.requests.allSatisfy { !$0.isBodyComplete })
    }

    @Test func `An oversized head is refused with 431`() async throws {
        let server = try await LoopbackServer.start { _ in .text("accepted") }
        let status = ["--output", "/dev/null", "--write-out", "%{http_code}"]
        let short = ["--header", "X-Long: \(String(repeating: "a", count: 60_000))"]
        #expect(try await Curl.run(status + short + [server.url.absoluteString]).text == "200")
        let long = short + ["--header", "X-Longer: \(String(repeating: "b", count: 10_000))"]
        #expect(try await Curl.run(status + long + [server.url.absoluteString]).text == "431")
        // A line that never ends is not read to its end.
        let received = try await RawClient.exchange(server.port, "GET /" + String(repeating: "a", count: 70_000))
        #expect(received.hasPrefix("HTTP/1.1 431 "))
    }

    @Test func `Trailers without end are refused with 431`() async throws {
        let server = try await LoopbackServer.start { _ in .text("accepted") }
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        let trailers = String(repeating: "X: \(String(repeating: "a", count: 8000))\r\n", count: 9)
        #expect(try await RawClient.exchange(server.port, head + trailers).hasPrefix("HTTP/1.1 431 "))
    }

    @Test func `An extension of a chunk is ignored`() async throws {
        let server = try await LoopbackServer.start { .body($0.body) }
        let request = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        let received = try await RawClient.exchange(server.port, request + "5 ; a=b\r\nhello\r\n0\r\n\r\n")
        #expect(received.hasSuffix("hello"))
    }

    @Test func `Garbage is refused and the next client served`() async throws {
        let server = try await LoopbackServer.start { _ in .text("accepted") }
        var state: UInt64 = 1
        for length in 1...200 {
            let garbage = Data(
                (0..<length * 7).map { _ in
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    return UInt8(state >> 56)
                })
            let received = try await RawClient.connected(to: server.port) { client in
                try client.send(garbage + Data("\r\n\r\n".utf8))
                client.finishSending()
                return try client.receiveAll()
            }
            #expect(received.isEmpty || received.hasPrefix("HTTP/1.1 400 "))
        }
        #expect(try await Curl.get(server.url).text == "accepted")
    }

    @Test func `Bare line feeds and empty lines before a request are tolerated`() async throws {
        let server = try await LoopbackServer.start { _ in .text("accepted") }
        let received = try await RawClient.exchange(
            server.port, "\r\n\nGET / HTTP/1.1\nHost:a\nConnection: x, Close\n\n")
        #expect(received.hasSuffix("accepted"))
    }

    @Test func `An HTTP10 client gets its answer and the end of the connection`() async throws {
        let server = try await LoopbackServer.start { _ in .text("accepted") }
        let received = try await RawClient.exchange(server.port, "GET / HTTP/1.0\r\n\r\n")
        #expect(received.hasSuffix("Connection: close\r\n\r\naccepted"))
        #expect(try await Curl.get(server.url, "--http1.0").text == "accepted")
    }

    @Test func `A client that sends byte by byte is understood`() async throws {
        let server = try await LoopbackServer.start { .body($0.body) }
        let received = try await RawClient.connected(to: server.port) { client in
            for byte in "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n".utf8 {
                try client.send(Data([byte]))
            }
            return try client.receive(through: "body")
        }
        #expect(received.hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test func `A client that has finished sending still gets its answer`() async throws {
        let server = try await LoopbackServer.start { _ in .text("accepted") }
        let received = try await RawClient.connected(to: server.port) { client in
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            client.finishSending()
            return try client.receiveAll()
        }
        #expect(received.hasSuffix("accepted"))
    }
}
