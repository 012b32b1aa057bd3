import Foundation
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct FaultTests {
    @Test func `A stall runs into the time limit of the client`() async throws {
        let server = try await LoopbackServer.start { _ in .stall }
        let curl = try await Curl.get(server.url, "--max-time", "0.1")
        #expect(curl.exitCode == .timedOut)
        let ended = try await server.connectionsClosed(atLeast: 1)
        #expect(ended[0].end == .closedByPeer)
        #expect(ended[0].bytesSent == 0)
        #expect(ended[0].requestsServed == 0)
    }

    @Test func `A stalled body delivers what it promised and no more`() async throws {
        let server = try await LoopbackServer.start { _ in .stallBody(after: 300, of: 1000) }
        let curl = try await Curl.get(server.url, "--max-time", "5")
        #expect(curl.exitCode == .timedOut)
        #expect(curl.output == pattern(300))
        #expect(curl.errors.contains("with 300 out of 1000 bytes received"))
    }

    @Test func `A drip arrives piece by piece`() async throws {
        let server = try await LoopbackServer.start { _ in
            .drip(Data("abcdefgh".utf8), chunk: 3, every: .milliseconds(40))
        }
        let curl = try await Curl.get(server.url, "--write-out", " %{time_total}")
        let words = curl.text.split(separator: " ")
        #expect(words[0] == "abcdefgh")
        #expect(try #require(Double(words[1])) >= 0.08)
        server.respond { _ in .drip(Data("abcdefgh".utf8), chunk: 3, every: .seconds(60)) }
        let first = try await RawClient.connected(to: server.port) { client in
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.receive(through: "abc")
        }
        #expect(first == "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nabc")
    }

    @Test func `A truncated body is a partial file`() async throws {
        let server = try await LoopbackServer.start { _ in .truncated(declared: 100, sending: 40) }
        let curl = try await Curl.get(server.url)
        #expect(curl.exitCode == .partialFile)
        #expect(curl.output == pattern(40))
        #expect(try await server.connectionsClosed(atLeast: 1)[0].end == .closedByServer)
    }

    @Test func `A response that breaks off keeps its head`() async throws {
        let file = LoopbackServer.Response.file(Data("abcdefgh".utf8), etag: #""v1""#)
        let server = try await LoopbackServer.start { _ in .brokenOff(file, after: 3) }
        let curl = try await Curl.get(server.url, "--range", "2-", "--include")
        #expect(curl.exitCode == .partialFile)
        #expect(curl.text.contains("Content-Length: 6\r\n") && curl.text.hasSuffix("\r\n\r\ncde"))
    }

    @Test func `A truncated chunk is a partial file`() async throws {
        let server = try await LoopbackServer.start { _ in .truncatedChunked }
        let curl = try await Curl.get(server.url)
        #expect(curl.exitCode == .partialFile)
        #expect(curl.text == "firstsec")
    }

    @Test func `A content length too long leaves the client waiting`() async throws {
        let server = try await LoopbackServer.start { _ in .contentLength(declared: 9, body: Data("four".utf8)) }
        let curl = try await Curl.get(server.url, "--max-time", "5")
        #expect(curl.exitCode == .timedOut)
        #expect(curl.text == "four")
        server.respond { _ in .closing(.contentLength(declared: 9, body: Data("four".utf8))) }
        #expect(try await Curl.get(server.url).exitCode == .partialFile)
    }

    @Test func `A content length too short leaves the rest in the way`() async throws {
        let server = try await LoopbackServer.start { _ in .contentLength(declared: 2, body: Data("four".utf8)) }
        let curl = try await Curl.get(server.url)
        #expect(curl.exitCode == .success)
        #expect(curl.text == "fo")
        let received = try await RawClient.connected(to: server.port) { client in
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.receive(through: "four")
        }
        #expect(received == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nfour")
    }

    @Test func `A reset is a receive error`() async throws {
        let server = try await LoopbackServer.start { _ in .reset }
        let curl = try await Curl.get(server.url)
        #expect(curl.exitCode == .receiveError)
        #expect(curl.errors.contains("reset by peer"))
        let ended = try await server.connectionsClosed(atLeast: 1)
        #expect(ended[0].end == .resetByServer)
        #expect(ended[0].bytesSent == 0)
    }

    @Test func `A reset body arrives up to its reset`() async throws {
        let server = try await LoopbackServer.start { _ in .resetBody(after: 500_000, of: 1_000_000) }
        let curl = try await Curl.get(server.url)
        #expect(curl.exitCode == .receiveError)
        #expect(curl.output == pattern(500_000))
        #expect(try await server.connectionsClosed(atLeast: 1)[0].end == .resetByServer)
    }

    @Test func `Closing without answer is an empty reply`() async throws {
        let server = try await LoopbackServer.start { _ in .closeWithoutAnswer }
        #expect(try await Curl.get(server.url).exitCode == .emptyReply)
        #expect(try await Curl.get(server.url, "--data", "body").exitCode == .emptyReply)
        #expect(try await server.connectionsClosed(atLeast: 2).map(\.end) == [.closedByServer, .closedByServer])
    }
}

/// What the server sends where it was given no bytes.
func pattern(_ count: Int) -> Data {
    let period = Data(0..<251)
    var pattern = Data()
    while pattern.count < count { pattern += period }
    return pattern.prefix(count)
}
