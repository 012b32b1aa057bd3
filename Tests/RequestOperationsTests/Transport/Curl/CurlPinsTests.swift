#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Pins for hosts over real TLS. The chain of the site `chained` is `leaf`, `middle`, `ca`.
    @Suite(
        .timeLimit(.minutes(15)),
        .enabled(if: Libcurl.reportsChains, "libcurl runs over another TLS library than this package does."))
    struct CurlPinsTests {
        private let secure = SecureServers.shared

        private func pin(_ name: String) throws -> ServerPin {
            try #require(ServerPin.key(of: secure.data("\(name).pem")))
        }

        private func transport(_ pins: HostPins...) -> CurlTransport {
            .trusting {
                $0.trust.pins = pins
                // Each request has a handshake of its own.
                $0.keptConnections = 0
            }
        }

        /// A transport that reaches servers through a proxy over TLS with a certificate of its own, if there is one.
        private func transport(
            _ pins: [HostPins], through proxy: PythonPeer?, resolving names: [String] = []
        ) -> CurlTransport {
            .trusting {
                $0.trust.pins = pins
                $0.resolve = names
                guard let proxy else { return }
                $0.resolve.append("other.example:\(proxy.port):127.0.0.1")
                // The parts are those of a URL.
                $0.proxy = .url(URL(string: "https://other.example:\(proxy.port)")!)
            }
        }

        private func row(_ site: SecureServers.Site, _ pins: HostPins..., host: String = "localhost") async -> Row {
            let transport = CurlTransport.trusting { $0.trust.pins = pins }
            return await transport.row(secure.url(site, host: host))
        }

        @Test(arguments: ["leaf", "middle", "ca"]) func `Any certificate of the verified chain may match`(
            _ name: String
        ) async throws {
            let pins = HostPins.host("localhost", keys: [try pin("stranger"), try pin(name)])
            let transport = transport(pins)
            // The second handshake resumes the session of the first.
            for _ in 0..<3 { #expect(try await transport.get(secure.url(.chained)).head.status == 200) }
            let whole = try #require(ServerPin.certificate(secure.data("\(name).pem")))
            let backup = try pin("stranger")
            #expect(await row(.chained, .host("localhost", keys: [whole, backup])) == Row())
        }

        @Test func `Behind a proxy over TLS the chain of the server counts, and not that of the proxy`() async throws {
            let peer = try await PythonPeer(.otherSecureProxy)
            func row(_ names: String...) async throws -> Row {
                let pins = HostPins.host("**", keys: try names.map(pin))
                return await transport([pins], through: peer).row(secure.url(.chained))
            }
            #expect(try await row("leaf", "stranger") == Row())
            let refused = try await row("other", "stranger")
            #expect(refused.code == .pinningFailed && refused.isSurelyNotSent)
        }

        /// libcurl lets a wildcard stand for a name with an underscore, and OpenSSL does not.
        @Test(arguments: [false, true]) func `Pins are for hosts with an underscore, too`(
            _ hasProxy: Bool
        ) async throws {
            let url = secure.url(.wildcard, host: "my_host.wild.example")
            let address = "my_host.wild.example:\(try #require(url.port)):127.0.0.1"
            let peer = try await PythonPeer(.otherSecureProxy)
            func row(_ names: String...) async throws -> Row {
                let pins = HostPins.host("**.wild.example", keys: try names.map(pin))
                return await transport([pins], through: hasProxy ? peer : nil, resolving: [address]).row(url)
            }
            #expect(try await row("wild", "stranger") == Row())
            #expect(try await row("other", "stranger").code == .pinningFailed)
        }

        @Test func `A certificate that is only sent along does not match`() async throws {
            let pins = HostPins.host("localhost", keys: [try pin("middle"), try pin("stranger")])
            #expect(await row(.padded, pins) == .unsent(.pinningFailed, 60))
            #expect(await row(.chained, pins) == Row())
        }

        @Test func `The failure names the host and the pins that the server presented`() async throws {
            let pins = HostPins.host("localhost", keys: [try pin("stranger"), try pin("other")])
            let failure = await transport(pins).failure(of: .data(URLRequest(url: secure.url(.chained))))
            let reason = try #require((failure?.error as? RequestError)?.reason)
            #expect(reason.contains("localhost presented"))
            for name in ["leaf", "middle", "ca"] { #expect(reason.contains(try pin(name).description)) }
        }

        @Test func `A failure is not retried`() async throws {
            var configuration = RequestConfiguration.over(transport(.host("localhost", keys: [try pin("stranger")])))
            configuration.hosts = HostRegistry()
            let operation = URLRequestOperation(secure.url(.http2), configuration: configuration)
            await #expect { try await run(operation) } throws: { RequestError.Code.pinningFailed ~= $0 }
            #expect(operation.attempts.count == 1)
        }

        @Test func `A backup pin is enough, and pins that have expired do not count`() async throws {
            let wrong = try pin("stranger")
            #expect(await row(.http1, .host("localhost", keys: [wrong, try pin("good")])) == Row())
            #expect(await row(.http1, .host("localhost", keys: [wrong], expires: .distantPast)) == Row())
            #expect(
                await row(.http1, .host("localhost", keys: [wrong], expires: .distantFuture))
                    == .unsent(.pinningFailed, 60))
        }

        @Test func `Reports change nothing and have the pins to set`() async throws {
            let reports = Collector<PinReport>()
            let wrong = try pin("stranger")
            let pins = HostPins.host("localhost", keys: [wrong], .reportOnly { reports.append($0) })
            #expect(await row(.chained, pins) == Row())
            await reports.count(1)
            let report = try #require(reports.elements.first)
            let presented = try ["leaf", "middle", "ca"].map { try pin($0) }
            #expect(report.host == "localhost" && report.presented == presented && report.expected == [wrong])
        }

        @Test func `Only the pins for the host count`() async throws {
            let wrong = try pin("stranger")
            #expect(
                await row(.http1, .host("example.com", keys: [wrong]), .host("*.localhost", keys: [wrong])) == Row())
            let port = try #require(secure.url(.http1).port)
            #expect(await row(.http1, .host("localhost:\(port)", keys: [wrong])) == .unsent(.pinningFailed, 60))
            #expect(await row(.http1, .host("localhost:\(port ^ 1)", keys: [wrong])) == Row())
            #expect(
                await row(.http1, .host("127.0.0.1", keys: [wrong]), host: "127.0.0.1") == .unsent(.pinningFailed, 60))
            #expect(await row(.http1, .host("127.0.0.1", keys: [try pin("good"), wrong]), host: "127.0.0.1") == Row())
        }

        @Test func `The certificate is verified as well`() async throws {
            let pins = HostPins.host("localhost", keys: [try pin("good"), try pin("other"), try pin("expired")])
            #expect(await row(.expired, pins) == .unsent(.untrustedCertificate, 60))
            #expect(await row(.wrongHost, pins) == .unsent(.untrustedCertificate, 60))
            let strict = CurlTransport.with { $0.trust.pins = [pins] }
            #expect(await strict.row(secure.url(.http1)) == .unsent(.untrustedCertificate, 60))
        }

        @Test func `Another host is not trusted, and its pins are not named`() async throws {
            let wrong = HostPins.host("localhost", keys: [try pin("stranger"), try pin("middle")])
            #expect(await row(.wrongHost, wrong) == .unsent(.untrustedCertificate, 60))
        }

        @Test func `A policy with a wrong pin fails each time`() async throws {
            let transport = transport(.host("localhost", keys: [try pin("stranger"), try pin("middle")]))
            for _ in 0..<3 { #expect(await transport.row(secure.url(.http1)) == .unsent(.pinningFailed, 60)) }
        }

        @Test func `A dot at the end of the host changes nothing`() async throws {
            let port = try #require(secure.url(.http1).port)
            let pins = HostPins.host("localhost:\(port)", keys: [try pin("stranger"), try pin("middle")])
            let transport = CurlTransport.trusting {
                $0.trust.pins = [pins]
                $0.resolve = ["localhost:\(port):127.0.0.1", "localhost.:\(port):127.0.0.1"]
            }
            let row = await transport.row(secure.url(.http1, host: "localhost."))
            #expect(row == .unsent(.pinningFailed, 60) || row == .unsent(.untrustedCertificate, 60), "\(row)")
        }

        @Test func `Pins without a verified chain are refused when they are used`() async throws {
            let pins = HostPins.host("localhost", keys: [try pin("good"), try pin("other")])
            let transport = CurlTransport.with {
                $0.trust = TrustPolicy(roots: .insecureTrustingEveryServer)
                $0.trust.pins = [pins]
            }
            let failure = await transport.failure(of: .data(URLRequest(url: secure.url(.http1))))
            #expect((failure?.error as? RequestError)?.code == .unsupported && failure?.phase == .connect)
        }

        @Test func `A redirect does not skip the check`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .redirect(to: secure.url(.http1).absoluteString, status: 302))
            var configuration = RequestConfiguration.over(transport(.host("localhost", keys: [try pin("stranger")])))
            configuration.hosts = HostRegistry()
            let operation = URLRequestOperation(server.url("/"), configuration: configuration)
            await #expect { try await run(operation) } throws: { RequestError.Code.pinningFailed ~= $0 }
        }
    }
#endif
