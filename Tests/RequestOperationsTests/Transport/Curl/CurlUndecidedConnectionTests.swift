#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import Testing

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
