#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    /// Requests that wait for a connection to turn out to take several at a time, which it does not.
    @Suite(.timeLimit(.minutes(5)))
    struct CurlUndecidedConnectionTests {
        @Test func `Over HTTP/1.1 with TLS none waits for the response of another`() async throws {
            let server = try await HTTP1Peer(meeting: 20, .secure)
            let crowd = try Crowd(Array(repeating: try server.url(), count: 20)) { $0.trustTestServers() }
            for index in 0..<20 { #expect(try await crowd.body(index) == Data("ok".utf8)) }
            await crowd.end()
        }

        @Test func `Where the number of connections is bounded, none waits for the response of another but for that`()
            async throws
        {
            let server = try await HTTP1Peer(meeting: 3, .secure)
            let crowd = try Crowd(Array(repeating: try server.url(), count: 20)) {
                $0.trustTestServers()
                $0.maximumConnectionsPerHost = 3
            }
            for index in 0..<20 { #expect(try await crowd.body(index) == Data("ok".utf8)) }
            await crowd.end()
        }

        @Test func `Where few connections may be that each serve one request, there are always as many`() async throws {
            let server = try await HTTP1Peer(meeting: 2, .secure, .closing, .always)
            let crowd = try Crowd(Array(repeating: try server.url(), count: 20)) {
                $0.trustTestServers()
                $0.maximumConnectionsPerHost = 2
            }
            for index in 0..<20 { #expect(try await crowd.body(index) == Data("ok".utf8)) }
            await crowd.end()
        }

        @Test func `One that comes just when the connection of another is made does not wait for its response`()
            async throws
        {
            let server = try await HTTP1Peer(meeting: 2, gated: 1, .secure)
            let driver = CurlDriver(CurlTransport.trusting().configuration)
            let first = try TransferFlow(to: try server.url("/first"), over: driver)
            driver.call(for: first.transfer, isNew: true)
            async let answered = first.run()
            #expect(await server.peer.line() == "begun")
            let second = try TransferFlow(to: try server.url("/second"), over: driver)
            // The thread finds both in the same turn: it cannot begin one meanwhile.
            let effect = try driver.inbox.withLock { inbox in
                try server.peer.tell()
                #expect(server.peer.blockingLine() == "shaken")
                return inbox.add(second.transfer, isNew: true)
            }
            if effect == .wakeThread { driver.bell.ring() }
            #expect(try await second.run().body == Data("ok".utf8))
            #expect(try await answered.body == Data("ok".utf8))
            await driver.shutDown(.failing)
        }

        @Test func `Where only one connection may be, the first that waits for it is not the last`() async throws {
            let server = try await HTTP1Peer(meeting: 1, .secure, .closing)
            let crowd = try Crowd(try (0..<50).map { try server.url("/\($0)") }) {
                $0.trustTestServers()
                $0.maximumConnectionsPerHost = 1
            }
            for index in 0..<50 { #expect(try await crowd.body(index) == Data("ok".utf8)) }
            var order: [String] = []
            for _ in 0..<50 { order.append(await server.peer.line()) }
            // libcurl has an order of its own, in which it has been the 29th.
            let place = try #require(order.firstIndex(of: "/1"))
            #expect(place < 40)
            await crowd.end()
        }

        @Test func `Behind a proxy without a tunnel, no request waits for the response of another`() async throws {
            let server = try await HTTP1Peer(meeting: 2)
            let proxy = try server.url()
            let urls = try ["http://a.example/", "http://b.example/"].map { try #require(URL(string: $0)) }
            let crowd = try Crowd(urls) {
                $0.httpVersions = .http2PriorKnowledge
                $0.proxy = .url(proxy)
            }
            for index in 0..<2 { #expect(try await crowd.body(index) == Data("ok".utf8)) }
            await crowd.end()
        }
    }
#endif
