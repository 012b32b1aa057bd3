#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// What a request of a stranger must not reach.
    @Suite(.timeLimit(.minutes(15))) struct CurlAddressTests {
        /// Loopback, link-local, private and metadata addresses, in the spellings that a URL may have.
        private static let spellings = [
            "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "017700000001", "0177.0.0.1",
            "127.127.127.127", "0.0.0.0", "0", "localhost", "LOCALHOST", "[::1]", "[0:0:0:0:0:0:0:1]", "[::]",
            "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "10.0.0.1", "10.1", "192.168.1.1",
            "172.16.0.1",
            "100.64.0.1", "169.254.169.254", "0xa9fea9fe", "2852039166", "[fd00:ec2::254]", "[fe80::1]", "[fc00::1]",
        ]

        private func transport(_ policy: AddressPolicy, resolve: [String] = []) -> CurlTransport {
            .with {
                $0.addresses = policy
                $0.resolve = resolve
            }
        }

        private func refusal(_ url: String, _ transport: CurlTransport) async -> RequestError.Code? {
            var configuration = RequestConfiguration.over(transport)
            configuration.hosts = HostRegistry()
            guard let url = URL(string: url) else { return .badURL }
            let operation = URLRequestOperation(url, configuration: configuration)
            let error = await failure(of: operation) as? RequestError
            #expect(operation.attempts.count <= 1)
            return error?.code
        }

        @Test func `No spelling of an address that is not public is connected to`() async throws {
            let server = try await LoopbackServer.start()
            let port = try #require(server.url("/").port)
            let transport = transport(.publicOnly)
            for host in Self.spellings {
                let code = await refusal("http://\(host):\(port)/", transport)
                // What is no URL, or no address for the resolver, is not connected to either.
                let refusals: [RequestError.Code?] = [.addressNotAllowed, .badURL, .cannotResolveHost]
                #expect(refusals.contains(code), "\(host): \(String(describing: code))")
            }
            for host in ["127.0.0.1", "2130706433", "localhost", "[::1]", "169.254.169.254", "10.1"] {
                #expect(await refusal("http://\(host):\(port)/", transport) == .addressNotAllowed, "\(host)")
            }
            #expect(server.requests.isEmpty)
        }

        @Test func `A name that resolves to such an address is not connected to`() async throws {
            let server = try await LoopbackServer.start()
            let port = try #require(server.url("/").port)
            for address in ["127.0.0.1", "[::1]", "10.0.0.1", "169.254.169.254"] {
                let transport = transport(.publicOnly, resolve: ["evil.example:\(port):\(address)"])
                #expect(await refusal("http://evil.example:\(port)/", transport) == .addressNotAllowed)
            }
            #expect(server.requests.isEmpty)
        }

        @Test func `A redirect to such an address is not followed`() async throws {
            let (server, inner) = (try await LoopbackServer.start(), try await LoopbackServer.start())
            let port = try #require(inner.url("/").port)
            let transport = transport(
                try AddressPolicy.publicOnly.allowing("127.0.0.1"), resolve: ["evil.example:\(port):127.0.0.2"])
            for (number, host) in ["127.0.0.2", "[::1]", "0x7f000002", "evil.example", "169.254.169.254"].enumerated() {
                server.route("/\(number)", .redirect(to: "http://\(host):\(port)/", status: 302))
                let code = await refusal(server.url("/\(number)").absoluteString, transport)
                #expect(code == .addressNotAllowed, "\(host)")
            }
            #expect(server.requests.count == 5 && inner.requests.isEmpty)
        }

        @Test func `What is allowed is connected to, also beside an address that is not`() async throws {
            let server = try await LoopbackServer.start()
            let port = try #require(server.url("/").port)
            server.route("/", .text("in"))
            let policy = try AddressPolicy.publicOnly.allowing("127.0.0.0/8")
            #expect(await refusal(server.url("/").absoluteString, transport(policy)) == nil)
            let both = transport(policy, resolve: ["both.example:\(port):10.0.0.1,127.0.0.1"])
            #expect(await refusal("http://both.example:\(port)/", both) == nil)
        }

        @Test func `The error names the address`() async {
            let failure = await transport(.publicOnly).failure(
                of: .data(URLRequest(url: URL(string: "http://2130706433/")!)))
            let error = failure?.error as? RequestError
            #expect(error?.reason?.contains("127.0.0.1") == true && failure?.requestMayHaveBeenProcessed == false)
        }

        @Test func `A proxy and a policy exclude each other`() async {
            let transport = CurlTransport.with {
                $0.addresses = .publicOnly
                $0.proxy = .url(URL(string: "http://127.0.0.1:1")!)
            }
            #expect(await refusal("http://a.example/", transport) == .unsupported)
        }
    }
#endif
