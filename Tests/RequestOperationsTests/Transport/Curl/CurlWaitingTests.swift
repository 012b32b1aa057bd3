#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Requests that libcurl makes wait for a connection.
    @Suite(.timeLimit(.minutes(15)))
    struct CurlWaitingTests {
        @Test func `Those that wait for a host that never answers hold up none for another host`() async throws {
            let silent = try await LoopbackServer.start { _ in .stall }
            let healthy = try await LoopbackServer.start { _ in .text("here") }
            let gate = LoopbackServer.Gate()
            healthy.route("/held", .held(by: gate, then: .text("here")))
            let crowd = try Crowd(
                Array(repeating: silent.url, count: 9) + [healthy.url("/held")]
                    + Array(repeating: healthy.url, count: 5)
            ) { $0.maximumConnectionsPerHost = 1 }

            try await healthy.requests(atLeast: 1)
            gate.open()
            for index in 9..<15 { #expect(try await crowd.body(index) == Data("here".utf8)) }
            #expect(healthy.connections.count == 1 && silent.connections.count <= 1)
            await crowd.end()
        }

        @Test func `With a bound on all connections as well, a host that never answers holds up no other`() async throws
        {
            let silent = try await LoopbackServer.start { _ in .stall }
            let busy = try await LoopbackServer.start()
            let healthy = try await LoopbackServer.start { _ in .text("here") }
            let gate = LoopbackServer.Gate()
            busy.route("/", .held(by: gate, then: .text("here")))
            let urls = Array(repeating: silent.url, count: 9) + [busy.url] + Array(repeating: healthy.url, count: 5)
            let crowd = try Crowd(urls) {
                $0.maximumConnectionsPerHost = 1
                $0.maximumConnections = 2
            }
            try await busy.requests(atLeast: 1)
            gate.open()
            for index in 9..<15 { #expect(try await crowd.body(index) == Data("here".utf8)) }
            await crowd.end()
        }

        @Test(arguments: [SecureServers.Site.http2, .http1, .http2Cleartext])
        func `Those that wait for a host that cannot be reached hold up none for another host`(
            site: SecureServers.Site
        ) async throws {
            let port = try UnansweredPort()
            let scheme = site == .http2Cleartext ? "http" : "https"
            let unreachable = try #require(URL(string: "\(scheme)://127.0.0.1:\(port.number)/"))
            let healthy = SecureServers.shared.url(site)
            let crowd = try Crowd(
                Array(repeating: unreachable, count: 20) + Array(repeating: healthy, count: 10)
            ) {
                $0.trust.roots = .file(SecureServers.shared.file("ca.pem"))
                if site == .http2Cleartext { $0.httpVersions = .http2PriorKnowledge }
            }
            for index in 20..<30 { #expect(try await crowd.body(index).count == 1024) }
            await crowd.end()
        }

        // Over libcurl 7.88 to 8.0, `curl_multi_socket_all` lost requests here: they stood still until their connect limit.
        @Test func `Of many that wait for few connections none is lost while another connection is being made`()
            async throws
        {
            let port = try UnansweredPort()
            let unreachable = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
            let server = try await LoopbackServer.start { _ in .delayed(.milliseconds(5), then: .text("here")) }
            let urls = [unreachable] + Array(repeating: server.url, count: 3000)
            let crowd = try Crowd(urls) { $0.maximumConnectionsPerHost = 16 }
            for index in urls.indices.dropFirst() { #expect(try await crowd.body(index) == Data("here".utf8)) }
            await crowd.end()
        }

        @Test(.enabled(if: Libcurl.sharesAtOnce))
        func `Requests of HTTP/2 by prior knowledge share a connection, begun at once or one after the other`()
            async throws
        {
            let url = SecureServers.shared.url(.http2Cleartext)
            let transport = CurlTransport.with { $0.httpVersions = .http2PriorKnowledge }
            for _ in 1...3 {
                let reused = try await withThrowingTaskGroup { group in
                    for _ in 0..<30 { group.addTask { try await transport.get(url).timings?.connectionWasReused } }
                    return try await group.reduce(into: [Bool?]()) { $0.append($1) }
                }
                #expect(reused.filter { $0 == false }.count <= 1)
            }
            #expect(try await transport.get(url).timings?.connectionWasReused == true)
        }

        @Test(arguments: [PythonPeer.Kind.deferringHTTP2, .secureDeferringHTTP2])
        func `Requests do not wait for the answer to one with which they could share a connection`(
            kind: PythonPeer.Kind
        ) async throws {
            let (peer, transport, url) = try await PythonPeer.http2(kind)
            let unanswered = Task { try await transport.get(url) }
            #expect(await peer.line() == "stream 1 of connection 1")
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 { group.addTask { try await transport.get(url).body } }
                for try await body in group { #expect(body == Data("12345".utf8)) }
            }
            var connections: Set<Substring?> = []
            for _ in 0..<20 { connections.insert(await peer.line().split(separator: " ").last) }
            #expect(connections.count <= (Libcurl.sharesAtOnce ? 1 : 21))
            unanswered.cancel()
            await #expect(throws: CancellationError.self) { try await unanswered.value }
        }

        @Test(arguments: [PythonPeer.Kind.deferringHTTP2, .secureDeferringHTTP2])
        func `A request that is cancelled before its answer leaves nothing for which others wait`(
            kind: PythonPeer.Kind
        ) async throws {
            let (peer, transport, url) = try await PythonPeer.http2(kind)
            let cancelled = Task { try await transport.get(url) }
            #expect(await peer.line() == "stream 1 of connection 1")
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            #expect(try await transport.get(url).body == Data("12345".utf8))
        }

        // A connection takes 128 at a time, and 100 before the server has said so.
        @Test(arguments: [(SecureServers.Site.http2Cleartext, 300), (.http2, 300)])
        func `A crowd of HTTP/2 makes one connection and uses it`(site: SecureServers.Site, count: Int) async throws {
            let url = SecureServers.shared.url(site, host: "127.0.0.1")
            let crowd = try Crowd(Array(repeating: url, count: count)) {
                if site == .http2Cleartext { $0.httpVersions = .http2PriorKnowledge }
                $0.trust.roots = .file(SecureServers.shared.file("ca.pem"))
            }
            var made = 0
            for index in 0..<count {
                let response = try await crowd.response(index)
                #expect(response.body.count == 1024 && response.head.version == .http2)
                if response.timings?.connectionWasReused == false { made += 1 }
            }
            #expect((1...(Libcurl.sharesAtOnce ? 3 : 64)).contains(made))
            await crowd.end()
        }

        @Test(arguments: [1, 2, 3]) func `As many connections of HTTP/2 as may be are enough for a crowd`(bound: Int)
            async throws
        {
            let port = try #require(SecureServers.shared.url(.http2Cleartext).port)
            let url = try #require(URL(string: "http://many.test:\(port)/1k"))
            let crowd = try Crowd(Array(repeating: url, count: 500)) {
                $0.httpVersions = .http2PriorKnowledge
                $0.maximumConnectionsPerHost = bound
                $0.resolve = ["many.test:\(port):127.0.0.1,127.0.0.2"]
            }
            for index in 0..<500 { #expect(try await crowd.response(index).head.version == .http2) }
            await crowd.end()
        }

        @Test func `Where no connection of HTTP/2 comes about, all that wait for it fail`() async throws {
            let port = try RefusingPort()
            let crowd = try Crowd(Array(repeating: port.url, count: 500)) { $0.httpVersions = .http2PriorKnowledge }
            for index in 0..<500 {
                let failure = await #expect(throws: TransferFailure.self) { try await crowd.response(index) }
                #expect((failure?.error as? RequestError)?.code == .cannotConnect)
                #expect(failure?.requestMayHaveBeenProcessed == false)
            }
            await crowd.end()
        }

        @Test func `A connection of HTTP/2 by prior knowledge is made to a host of many addresses`() async throws {
            let port = try #require(SecureServers.shared.url(.http2Cleartext).port)
            let transport = CurlTransport.with {
                $0.httpVersions = .http2PriorKnowledge
                $0.resolve = ["many.test:\(port):127.0.0.1,127.0.0.2,127.0.0.3,127.0.0.4"]
            }
            let url = try #require(URL(string: "http://many.test:\(port)/1k"))
            let responses = [try await transport.get(url), try await transport.get(url)]
            #expect(responses.map(\.timings?.connectionWasReused) == [false, true])
            #expect(responses.allSatisfy { $0.body.count == 1024 })
        }

        @Test func `Who waits for a connection of HTTP/2 to be made is cancelled without it, as is who makes it`()
            async throws
        {
            let port = try UnansweredPort()
            let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
            let crowd = try Crowd(Array(repeating: url, count: 10)) { $0.httpVersions = .http2PriorKnowledge }
            for index in [5, 0, 9, 1] {
                crowd.cancel(index)
                await #expect(throws: CancellationError.self) { try await crowd.response(index) }
            }
            await crowd.end()
            for index in [2, 8] { await #expect(throws: TransferFailure.self) { try await crowd.response(index) } }
        }

        @Test func `Behind a proxy without a tunnel, HTTP/2 by prior knowledge is HTTP/1_1`() async throws {
            let peer = try await PythonPeer(.httpProxy)
            let proxy = try #require(URL(string: "http://127.0.0.1:\(peer.port)"))
            let origin = try #require(URL(string: "http://a.example/"))
            let crowd = try Crowd(Array(repeating: origin, count: 40)) {
                $0.httpVersions = .http2PriorKnowledge
                $0.proxy = .url(proxy)
            }
            for index in 0..<40 {
                let response = try await crowd.response(index)
                #expect(response.body == Data("proxied".utf8) && response.head.version == .http1_1)
            }
            await crowd.end()
        }

        @Test func `No more connections are made in all than allowed, and every request is answered`() async throws {
            let first = try await LoopbackServer.start { _ in .text("here") }
            let second = try await LoopbackServer.start { _ in .text("here") }
            let urls = (0..<40).map { $0.isMultiple(of: 2) ? first.url : second.url }
            let crowd = try Crowd(urls) { $0.maximumConnections = 1 }
            for index in urls.indices { #expect(try await crowd.body(index) == Data("here".utf8)) }
            await crowd.end()
        }
    }
#endif
