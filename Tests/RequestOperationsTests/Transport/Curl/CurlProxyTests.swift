#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Requests through proxies, on real connections.
    @Suite(.timeLimit(.minutes(15)))
    struct CurlProxyTests {
        private let secure = SecureServers.shared

        @Test func `An HTTP proxy gets requests for http, and tunnels those for https`() async throws {
            let peer = try await PythonPeer(.httpProxy)
            let proxy = try #require(URL(string: "http://127.0.0.1:\(peer.port)"))
            let transport = CurlTransport.trusting { $0.proxy = .url(proxy) }
            let plain = try #require(URL(string: "http://name.invalid/path"))
            #expect(try await transport.text(plain) == "proxied")
            #expect(await peer.line() == "GET http://name.invalid/path")
            #expect(try await transport.get(secure.url(.http2)).body.count == 1024)
            #expect(await peer.line().hasPrefix("CONNECT localhost:"))
        }

        @Test func `Requests through a tunnel wait until the connection of another stands`() async throws {
            let peer = try await PythonPeer(.httpProxy)
            let proxy = try #require(URL(string: "http://127.0.0.1:\(peer.port)"))
            let transport = CurlTransport.trusting { $0.proxy = .url(proxy) }
            // Its connections end again and again, so that many are made while others wait.
            let url = secure.url(.shortLived)
            try await withThrowingTaskGroup { group in
                for _ in 1...6 {
                    group.addTask {
                        for _ in 1...20 {
                            // The retry policy repeats what a connection takes with it.
                            let operation = URLRequestOperation(url, configuration: .over(transport))
                            let body = try await run(operation)
                            #expect(body.count == 1024)
                        }
                    }
                }
                try await group.waitForAll()
            }
            withExtendedLifetime(peer) {}
        }

        @Test func `A proxy over TLS is trusted by the same roots as the servers`() async throws {
            let peer = try await PythonPeer(.secureProxy)
            let proxy = try #require(URL(string: "https://localhost:\(peer.port)"))
            for roots in [TrustPolicy.Roots.file(secure.file("ca.pem")), .pem(secure.data("ca.pem"))] {
                let transport = CurlTransport.with {
                    $0.trust.roots = roots
                    $0.proxy = .url(proxy)
                }
                #expect(try await transport.text(try #require(URL(string: "http://name.invalid/"))) == "proxied")
                #expect(try await transport.get(secure.url(.http1)).body.count == 1024)
            }
        }

        @Test func `The pinned keys are those of the servers, not of a proxy`() async throws {
            let peer = try await PythonPeer(.secureProxy)
            let proxy = try #require(URL(string: "https://localhost:\(peer.port)"))
            let transport = CurlTransport.trusting {
                $0.trust.pinnedKeys = ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
                $0.proxy = .url(proxy)
            }
            #expect(try await transport.text(try #require(URL(string: "http://name.invalid/"))) == "proxied")
            #expect(await transport.row(secure.url(.http1)) == .unsent(.pinningFailed, 90))
        }

        @Test func `The environment names the proxy, and the hosts that need none`() async throws {
            let server = try await LoopbackServer.start { _ in .text("direct") }
            let peer = try await PythonPeer(.httpProxy)
            await #expect(processExitsWith: .success) { [port = server.port as Int, proxy = peer.port as Int] in
                setenv("http_proxy", "http://127.0.0.1:\(proxy)", 1)
                setenv("no_proxy", "other.example,localhost", 1)
                let transport = CurlTransport()
                let proxied = try await transport.text(try #require(URL(string: "http://name.invalid/")))
                let direct = try await transport.text(try #require(URL(string: "http://localhost:\(port)/")))
                guard proxied == "proxied", direct == "direct" else { exit(EXIT_FAILURE) }
            }
        }

        @Test func `Credentials for a proxy stand in its URL`() async throws {
            let peer = try await PythonPeer(.authenticatingProxy)
            let good = try #require(URL(string: "http://user:pass@127.0.0.1:\(peer.port)"))
            let bad = try #require(URL(string: "http://user:wrong@127.0.0.1:\(peer.port)"))
            let url = try #require(URL(string: "http://name.invalid/"))
            #expect(try await CurlTransport.with { $0.proxy = .url(good) }.text(url) == "proxied")
            #expect(try await CurlTransport.with { $0.proxy = .url(bad) }.get(url).head.status == 407)
        }

        /// The versions of libcurl from 8.2 to 8.4 give a SOCKS proxy the first address of any family.
        static let mixesFamiliesForSOCKS =
            Libcurl.isVersion(from: (8, 2), before: (8, 5))

        @Test(.enabled(if: !mixesFamiliesForSOCKS))
        func `A SOCKS proxy gets an address of the family with socks5`() async throws {
            let peer = try await PythonPeer(.socks5)
            let local = try #require(URL(string: "socks5://127.0.0.1:\(peer.port)"))
            let lookingUp = CurlTransport.with {
                $0.proxy = .url(local)
                $0.addressFamily = .ipv4
            }
            #expect(try await lookingUp.get(secure.url(.cleartext)).head.status == 200)
            #expect(await peer.line() == "address 127.0.0.1")
        }

        @Test func `A SOCKS proxy gets a name with socks5h`() async throws {
            let peer = try await PythonPeer(.socks5)
            let remote = try #require(URL(string: "socks5h://127.0.0.1:\(peer.port)"))
            let transport = CurlTransport.with { $0.proxy = .url(remote) }
            #expect(try await transport.get(secure.url(.cleartext)).head.status == 200)
            #expect(await peer.line() == "name localhost")
        }

        @Test func `Excepted hosts are connected to without the proxy`() async throws {
            let proxy = try #require(URL(string: "http://127.0.0.1:9"))
            let transport = CurlTransport.with { $0.proxy = .url(proxy, except: ["localhost"]) }
            #expect(try await transport.get(secure.url(.cleartext)).head.status == 200)
        }
    }
#endif
