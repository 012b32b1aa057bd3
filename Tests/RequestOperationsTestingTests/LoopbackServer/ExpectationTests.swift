import Foundation
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ExpectationTests {
    private static let request = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"

    @Test func `An expecting client is told to continue`() async throws {
        let server = try await LoopbackServer.start { .body($0.body) }
        let received = try await RawClient.connected(to: server.port) { client in
            try client.send(ExpectationTests.request)
            let interim = try client.receive(through: "\r\n\r\n")
            try client.send("body")
            return [interim, try client.receive(through: "body")]
        }
        #expect(received[0] == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(received[1].hasPrefix("HTTP/1.1 200 OK\r\n"))
        // Without the interim response curl would wait for a minute before it sends the body.
        let curl = try await Curl.get(
            server.url, "--header", "Expect: 100-continue", "--expect100-timeout", "60", "--data", "body", "--include")
        #expect(curl.text.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"))
        #expect(curl.text.hasSuffix("body"))
    }

    @Test func `A rejected expectation is answered before the body and ends the connection`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .rejectingExpectation())
        let received = try await RawClient.exchange(server.port, ExpectationTests.request)
        #expect(received == "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        #expect(server.requests.map(\.isBodyComplete) == [false])
    }

    @Test func `Curl sends no body after a rejection`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .rejectingExpectation(401))
        let curl = try await Curl.get(
            server.url, "--header", "Expect: 100-continue", "--expect100-timeout", "60", "--data", "body",
            "--write-out", "%{http_code} %{size_upload}")
        #expect(curl.text == "401 0")
    }

    @Test func `An answer before the body reaches a client that is still sending`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .withoutReadingBody(.status(413)))
        let curl = try await Curl.get(
            server.url, "--header", "Expect:", "--upload-file", "-", "--write-out", "%{http_code}",
            input: pattern(5_000_000))
        #expect(curl.text == "413")
    }

    @Test func `A response that leaves the body unread keeps the connection if there is none`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .withoutReadingBody(.text("ok")))
        let url = server.url.absoluteString
        #expect(try await Curl.run([url, url]).text == "okok")
        #expect(server.connections.map(\.requestsServed) == [2])
    }
}
