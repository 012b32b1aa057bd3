#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Where requests go whose handles were used for others.
    @Suite(.timeLimit(.minutes(15)))
    struct CurlOriginTests {
        private let transport = CurlTransport.with { _ in }

        @Test func `A handle goes where each request says, whatever it was used for before`() async throws {
            let servers = [try await LoopbackServer.start(), try await LoopbackServer.start()]
            for (index, server) in servers.enumerated() {
                server.respond { request in .text("\(index) \(request.target)") }
            }
            let targets = ["/a?b=%2f%2F", "/a", "", "?query", "/#fragment", "/a/../b", "//double"]
            for target in targets + targets.reversed() {
                for (index, server) in servers.enumerated() {
                    let origin = "http://127.0.0.1:\(server.port)"
                    for text in [origin + target, origin.replacing("//", with: "//user:pass@") + target] {
                        let sent = target.prefix { $0 != "#" }
                        #expect(
                            try await transport.text(try #require(URL(string: text)))
                                == "\(index) \(sent.hasPrefix("/") ? "" : "/")\(sent)", "of \(text)")
                    }
                }
            }
        }

        @Test func `An empty query is sent`() async throws {
            let server = try await LoopbackServer.start { request in .text(request.target) }
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/?"))
            #expect(try await transport.text(url) == "/?")
        }

        @Test func `One handle serves a server without TLS, one with it, and one with HTTP 2, in turn`() async throws {
            let secure = SecureServers.shared
            let transport = CurlTransport.trusting()
            for server in [SecureServers.Site.cleartext, .http1, .http2, .cleartext, .http2, .http1] {
                let response = try await transport.get(secure.url(server))
                #expect(response.head.status == 200 && response.body.count == 1024, "of \(server)")
                #expect(response.head.version?.major == (server == .http2 ? 2 : 1), "of \(server)")
                let missing = try await transport.get(secure.url(server, "/missing"))
                #expect(missing.head.status == 404, "of \(server)")
            }
        }

        @Test func `A request that is sent once more goes to its own origin with its own target`() async throws {
            let other = try await LoopbackServer.start { _ in .text("other") }
            let server = try await LoopbackServer.start()
            server.route("/first", .text("first"))
            server.route("/second", .closeWithoutAnswer, .text("second"))
            func url(_ path: String) throws -> URL { try #require(URL(string: path, relativeTo: server.url)) }
            #expect(try await transport.text(try url("/first")) == "first")
            // The handle has been used for another origin when its connection to this one is found dead.
            #expect(try await transport.text(other.url) == "other")
            let second = try await transport.get(try url("/second"))
            #expect(String(decoding: second.body, as: UTF8.self) == "second")
            #expect(second.timings?.wasReplayed == true)
            #expect(server.requests.map(\.target) == ["/first", "/second", "/second"])
        }

        @Test func `Cookies of a path are sent to that path`() async throws {
            let server = try await LoopbackServer.start { request in
                request.target == "/set"
                    ? .status(200, fields: ["Set-Cookie": "name=value; Path=/inner"])
                    : .text(request.field("Cookie") ?? "none")
            }
            let transport = CurlTransport.with { $0.cookies = .inMemory }
            func text(_ path: String) async throws -> String {
                try await transport.text(try #require(URL(string: path, relativeTo: server.url)))
            }
            _ = try await text("/set")
            #expect(try await text("/inner/a") == "name=value")
            #expect(try await text("/outer/a") == "none")
        }

        @Test func `Cookies of a host that a request names by its field are not sent with later requests to others`()
            async throws
        {
            let server = try await LoopbackServer.start { request in
                let cookie = request.field("Cookie") ?? "none"
                return request.field("Host") == "named.example"
                    ? .status(200, fields: ["Set-Cookie": "secret=value"]) : .text(cookie)
            }
            let transport = CurlTransport.with { $0.cookies = .inMemory }
            _ = try await transport.get(server.url, fields: ["host": "named.example"])
            // Were its handle used again, as it is and after a reset.
            #expect(try await transport.text(server.url) == "none")
            #expect(try await transport.text(server.url, fields: ["Accept-Encoding": "gzip"]) == "none")
            #expect(try await transport.text(server.url) == "none")
        }
    }
#endif
