#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// What comes of each kind of server under each kind of policy. The table of the article *Security* is made here.
    @Suite(.timeLimit(.minutes(15))) struct TrustMatrixTests {
        private let secure = SecureServers.shared

        private struct Situation {
            let title: String
            var url: URL
            var trust: TrustPolicy
        }

        private func situation(
            _ title: String, _ site: SecureServers.Site, host: String = "localhost",
            _ change: (inout TrustPolicy) -> Void = { _ in }
        ) -> Situation {
            var trust = TrustPolicy(roots: .file(secure.file("ca.pem")))
            change(&trust)
            return Situation(title: title, url: secure.url(site, host: host), trust: trust)
        }

        private func pins(
            _ names: [String], host: String = "localhost", expires: Date? = nil, _ mode: HostPins.Mode = .enforce
        ) throws -> [HostPins] {
            let keys = try names.map { try #require(ServerPin.key(of: secure.data("\($0).pem"))) }
            return [.host(host, keys: keys, expires: expires, mode)]
        }

        private func pinned() throws -> [Situation] {
            let (right, middle) = (try pins(["leaf", "stranger"]), try pins(["middle", "stranger"]))
            let (backup, wrong) = (try pins(["stranger", "leaf"]), try pins(["stranger", "other"]))
            let over = try pins(["stranger", "other"], expires: .distantPast)
            let report = try pins(["stranger", "other"], .reportOnly { _ in })
            let address = try pins(["good", "stranger"], host: "127.0.0.1")
            let wrongAddress = try pins(["other", "stranger"], host: "127.0.0.1")
            return [
                situation("the key of the server is pinned", .chained) { $0.pins = right },
                situation("the key of an intermediate authority is pinned", .chained) { $0.pins = middle },
                situation("the same, and the server only sends that certificate along", .padded) { $0.pins = middle },
                situation("only the backup pin matches", .chained) { $0.pins = backup },
                situation("no pin matches", .chained) { $0.pins = wrong },
                situation("no pin matches, and the pins have expired", .chained) { $0.pins = over },
                situation("no pin matches, and the mode is `.reportOnly`", .chained) { $0.pins = report },
                situation("the pin of an address matches", .http1, host: "127.0.0.1") { $0.pins = address },
                situation("the pin of an address does not match", .http1, host: "127.0.0.1") { $0.pins = wrongAddress },
                situation("pins, and `TrustPolicy.Roots.insecureTrustingEveryServer`", .chained) {
                    $0.roots = .insecureTrustingEveryServer
                    $0.pins = right
                },
            ]
        }

        private func trusted() -> [Situation] {
            [
                situation("an unknown root", .selfSigned),
                situation("the same root, added", .selfSigned) { $0.additionalRoots = [secure.data("self.pem")] },
                situation("the certificate of another host", .wrongHost),
                situation("an expired certificate", .expired),
                situation("TLS 1.1 at most", .tls11),
                situation("TLS 1.2 at most, and the policy demands 1.3", .oldTLS) { $0.minimumTLSVersion = .tls13 },
            ]
        }

        private func identified() throws -> [Situation] {
            let demanding = try #require(URL(string: "https://localhost:\(secure.demandingPort)/"))
            func situation(_ title: String, _ identity: TrustPolicy.ClientCertificate?) -> Situation {
                let trust = TrustPolicy(roots: .file(secure.file("ca.pem")), clientCertificate: identity)
                return Situation(title: title, url: demanding, trust: trust)
            }
            let pem = TrustPolicy.ClientCertificate(
                certificate: secure.data("client.pem"), key: secure.data("client.key"))
            let pkcs12 = TrustPolicy.ClientCertificate(pkcs12: secure.data("client.p12"), passphrase: "secret")
            let wrong = TrustPolicy.ClientCertificate(pkcs12: secure.data("client.p12"), passphrase: "wrong")
            return [
                situation("a client certificate is required, and there is none", nil),
                situation("a client certificate in PEM", pem),
                situation("a client certificate in PKCS#12", pkcs12),
                situation("the same with a wrong passphrase", wrong),
            ]
        }

        @Test(
            .enabled(if: Libcurl.reportsChains, "libcurl runs over another TLS library than this package does."))
        func `Each situation has the outcome that the article says`() async throws {
            var lines = ["| Situation | Outcome |", "|---|---|"]
            for situation in try pinned() + trusted() + identified() {
                let failure = await CurlTransport.with { $0.trust = situation.trust }.failure(
                    of: .data(URLRequest(url: situation.url)))
                let code = failure.map { ($0.error as? RequestError)?.code.description ?? "\($0.error)" }
                lines.append(
                    "| \(situation.title) | \(code.map { "`\($0)`" } ?? "the request is sent") |")
            }
            let table = lines.joined(separator: "\n")
            let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../../../Sources/RequestOperations/RequestOperations.docc/Security.md")
            #expect(try String(contentsOf: article, encoding: .utf8).contains(table), "The table is:\n\(table)")
        }
    }
#endif
