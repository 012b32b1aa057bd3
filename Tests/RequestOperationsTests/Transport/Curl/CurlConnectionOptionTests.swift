#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// The field `Connection` of a request (RFC 9112, section 9.6).
    @Suite(.timeLimit(.minutes(5)))
    struct CurlConnectionOptionTests {
        private func expectEndOfConnections(of transport: CurlTransport, fields: [String: String]) async throws {
            let server = try await LoopbackServer.start { _ in .ignoringClose }
            for count in 1...3 {
                #expect(try await transport.text(server.url, fields: fields) == "ok")
                #expect(try await server.connectionsClosed(atLeast: count).map(\.end).last == .closedByPeer)
            }
            #expect(server.requests.map(\.connection) == [1, 2, 3])
            #expect(server.requests.map { $0.field("Connection") } == Array(repeating: fields["Connection"], count: 3))
        }

        @Test(arguments: ["close", "close, TE"])
        func `The client ends the connection after the response, whatever the server does`(value: String) async throws {
            try await expectEndOfConnections(of: .with { _ in }, fields: ["Connection": value])
        }

        @Test func `The request after one with the option keeps its connection`() async throws {
            let server = try await LoopbackServer.start { _ in .text("ok") }
            let transport = CurlTransport.with { _ in }
            _ = try await transport.get(server.url, fields: ["Connection": "close"])
            for _ in 1...2 { _ = try await transport.get(server.url) }
            #expect(server.requests.map(\.connection) == [1, 2, 2])
        }

        @Test func `A connection that others used before ends as well`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .text("ok"))
            server.route("/last", .ignoringClose)
            let transport = CurlTransport.with { _ in }
            _ = try await transport.get(server.url)
            _ = try await transport.get(server.url("/last"), fields: ["Connection": "close"])
            #expect(try await server.connectionsClosed(atLeast: 1).map(\.end) == [.closedByPeer])
            _ = try await transport.get(server.url)
            #expect(server.requests.map(\.connection) == [1, 1, 2])
        }

        @Test func `The connection of an upload ends as well`() async throws {
            let server = try await LoopbackServer.start { _ in .ignoringClose }
            let transport = CurlTransport.with { _ in }
            var request = URLRequest(url: server.url)
            request.httpMethod = "POST"
            request.setValue("close", forHTTPHeaderField: "Connection")
            for size in [3, 200_000] {
                _ = try await transport.perform(.upload(request, from: .data(Data(count: size)))) { _ in }
            }
            #expect(try await server.connectionsClosed(atLeast: 2).map(\.end) == [.closedByPeer, .closedByPeer])
        }

        @Test func `Over TLS the client ends the connection as well`() async throws {
            let peer = try await HTTP1Peer(meeting: 1, .secure)
            let transport = CurlTransport.trusting()
            for _ in 1...2 {
                let response = try await transport.get(peer.url(), fields: ["Connection": "close"])
                #expect(response.timings?.connectionWasReused == false)
            }
        }

        @Test func `Over HTTP/2 the field is not sent`() async throws {
            let peer = try await HTTP2Peer(
                """
                tell("connection" in s.fields, "x-own" in s.fields)
                s.head(200)
                s.send(b"ok")
                """)
            let request = peer.request(fields: ["Connection": "close, TE", "X-Own": "a"])
            #expect(try await peer.perform(.data(request)).body == Data("ok".utf8))
            #expect(await peer.line() == "False True")
        }
    }
#endif
