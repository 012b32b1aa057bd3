import Foundation
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ConnectionLogTests {
    @Test func `Bytes are counted both ways`() async throws {
        let server = try await LoopbackServer.start()
        let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        let response = try await RawClient.exchange(server.port, request)
        let connection = try await server.connectionsClosed(atLeast: 1)[0]
        #expect(connection.bytesReceived == request.utf8.count)
        #expect(connection.bytesSent == response.utf8.count)
    }

    @Test func `A client that closes between requests is closed by peer`() async throws {
        let server = try await LoopbackServer.start()
        _ = try await Curl.get(server.url)
        let connection = try await server.connectionsClosed(atLeast: 1)[0]
        #expect(connection.end == .closedByPeer)
        #expect(connection.requestsServed == 1)
        #expect(connection.endInstant != nil)
    }

    @Test func `A client that resets is reset by peer`() async throws {
        let server = try await LoopbackServer.start { _ in .stall }
        try await RawClient.connected(to: server.port) { client in
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            client.resetOnClose()
        }
        #expect(try await server.connectionsClosed(atLeast: 1)[0].end == .resetByPeer)
    }

    @Test(arguments: [
        LoopbackServer.Response.stall, .stallBody(after: 10, of: 20), .delayed(.seconds(60), then: .text("late")),
        .drip(Data(count: 2), chunk: 1, every: .seconds(60)), .held(by: LoopbackServer.Gate(), then: .text("never")),
        .large(byteCount: 1 << 40),
        .endless(chunk: Data("again".utf8)),
    ])
    func `A cancelled client is noticed`(_ response: LoopbackServer.Response) async throws {
        let server = try await LoopbackServer.start { _ in response }
        // Not as fast as it can, which would take the processors from the other tests.
        let curl = try Curl.start(["--limit-rate", "1m", server.url.absoluteString])
        // To start a program takes its time on a busy machine.
        try await server.requests(atLeast: 1, timeout: .seconds(120))
        let instant = ContinuousClock.now
        curl.send(SIGKILL)
        let connection = try await server.connectionsClosed(atLeast: 1, timeout: .seconds(120))[0]
        #expect([.closedByPeer, .resetByPeer].contains(connection.end))
        #expect(try #require(connection.endInstant) >= instant)
    }

    @Test func `A client that leaves with pipelined requests behind is noticed`() async throws {
        let server = try await LoopbackServer.start { _ in .stall }
        try await RawClient.connected(to: server.port) { client in
            try client.send(
                Data(repeating: UInt8(ascii: "\n"), count: 100) + Data("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            try client.send(Data(count: 100_000))
        }
        #expect(try await server.connectionsClosed(atLeast: 1)[0].end == .closedByPeer)
    }

    @Test func `The most requests at a time are counted`() async throws {
        let gate = LoopbackServer.Gate()
        let server = try await LoopbackServer.start { _ in .held(by: gate, then: .empty()) }
        let curl = try Curl.start(["--parallel", "--parallel-immediate", "--parallel-max", "7", "\(server.url)/[1-30]"])
        try await server.requests(atLeast: 7, timeout: .seconds(120))
        #expect(server.openConnectionCount == 7)
        gate.open()
        #expect(await curl.status == 0)
        #expect(server.requests.count == 30)
        #expect(server.maximumConcurrentRequests == 7)
    }

    @Test func `Sequential requests are never counted as concurrent`() async throws {
        let server = try await LoopbackServer.start { _ in .large(byteCount: 300_000) }
        let curl = try Curl.start(["--no-keepalive", "--header", "Connection: close", "\(server.url)/[1-200]"])
        #expect(await curl.status == 0)
        #expect(server.maximumConcurrentRequests == 1)
    }
}
