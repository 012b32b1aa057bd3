#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    @Suite(.timeLimit(.minutes(15)))
    struct SystemRootsTests {
        @Test func `The folder is left out where there is a file that is kept once it is read`() {
            let file = SecureServers.shared.file("ca.pem").path
            let built = SystemRoots(file: file, folder: "/d")
            #expect(built.fileAlone(isKept: true) == SystemRoots(file: file))
            #expect(built.fileAlone(isKept: false) == nil)
            #expect(SystemRoots(file: file + ".none", folder: "/d").fileAlone(isKept: true) == nil)
            #expect(SystemRoots(folder: "/d").fileAlone(isKept: true) == nil)
        }

        @Test(.enabled(if: CurlLibrary.keepsRoots && SystemRoots.given != nil))
        func `The roots of the system are not read anew for each connection`() async throws {
            let port = try #require(SecureServers.shared.url(.http2).port)
            await #expect(processExitsWith: .success) { [port = port as Int] in
                let url = try #require(URL(string: "https://localhost:\(port)/1k"))
                let transport = CurlTransport.with { _ in }
                func connect(_ count: Int) async {
                    for _ in 0..<count {
                        let row = await transport.row(url)
                        precondition(row.code == .untrustedCertificate, "\(row)")
                    }
                }
                await connect(1)
                let before = try bytesReadByProcess()
                await connect(20)
                // The roots are 200 KB or more, and a handshake is 2.
                let read = try bytesReadByProcess() - before
                precondition(read < 400_000, "\(read) bytes")
            }
        }

        @Test func `The environment names the roots, and the bundle of curl comes first`() {
            #expect(SystemRoots(in: [:]) == nil)
            #expect(SystemRoots(in: ["SSL_CERT_FILE": "", "SSL_CERT_DIR": "", "CURL_CA_BUNDLE": ""]) == nil)
            #expect(SystemRoots(in: ["SSL_CERT_FILE": "/f"]) == SystemRoots(file: "/f"))
            #expect(SystemRoots(in: ["SSL_CERT_DIR": "/d"]) == SystemRoots(folder: "/d"))
            let both = SystemRoots(file: "/f", folder: "/d")
            #expect(SystemRoots(in: ["SSL_CERT_FILE": "/f", "SSL_CERT_DIR": "/d"]) == both)
            let all = ["CURL_CA_BUNDLE": "/b", "SSL_CERT_FILE": "/f", "SSL_CERT_DIR": "/d"]
            #expect(SystemRoots(in: all) == SystemRoots(file: "/b"))
        }

        private static let built = SystemRoots(file: "/f", folder: "/d")

        @Test(
            arguments: [
                (built, ["/f", "/d"], false, built), (built, ["/f", "/d"], true, SystemRoots(folder: "/d")),
                (built, ["/f"], true, SystemRoots(file: "/f")), (built, ["/d"], true, SystemRoots(folder: "/d")),
                (built, [], true, SystemRoots()), (SystemRoots(), [], true, SystemRoots()),
                (SystemRoots(file: "/f"), ["/f"], true, SystemRoots(file: "/f")),
            ] as [(SystemRoots, Set<String>, Bool, SystemRoots)])
        func `Roots beside others are where they can be read`(
            built: SystemRoots, readable: Set<String>, isWhole: Bool, expected: SystemRoots
        ) {
            #expect(built.besideOthers(canRead: readable.contains) { _, _ in isWhole } == expected)
        }

        @Test func `The roots of the system are those that the environment names`() async throws {
            let port = try #require(SecureServers.shared.url(.http1).port)
            let file = SecureServers.shared.file("ca.pem").path
            await #expect(processExitsWith: .success) { [port = port as Int, file = file as String] in
                setenv("CURL_CA_BUNDLE", file, 1)
                let url = try #require(URL(string: "https://localhost:\(port)/1k"))
                let response = try await CurlTransport.with { _ in }.perform(TransportTask(URLRequest(url: url))) { _ in
                }
                precondition(response.head.status == 200)
            }
        }
    }

    /// By `read` and its like, from files, sockets and pipes.
    private func bytesReadByProcess() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("rchar: ") })
        return try #require(Int(line.dropFirst("rchar: ".count)))
    }

    /// Roots in PEM and DER, in the place of the system's or beside them.
    @Suite(.timeLimit(.minutes(15))) struct CurlRootsTests {
        private let secure = SecureServers.shared

        private func row(_ site: SecureServers.Site, _ trust: TrustPolicy) async -> Row {
            await CurlTransport.with { $0.trust = trust }.row(secure.url(site))
        }

        @Test func `A root in DER is trusted, as a file and in memory`() async {
            #expect(await row(.http1, TrustPolicy(roots: .file(secure.file("ca.der")))) == Row())
            #expect(await row(.http1, TrustPolicy(roots: .pem(secure.data("ca.der")))) == Row())
            #expect(
                await row(.selfSigned, TrustPolicy(roots: .file(secure.file("ca.der"))))
                    == .unsent(.untrustedCertificate, 60))
        }

        @Test(arguments: ["ca.pem", "ca.der"]) func `A root is added to those of a file or in memory`(_ name: String)
            async
        {
            for roots in [TrustPolicy.Roots.file(secure.file("self.pem")), .pem(secure.data("self.pem"))] {
                let trust = TrustPolicy(roots: roots, additionalRoots: [secure.data(name)])
                #expect(await row(.http1, trust) == Row())
                #expect(await row(.selfSigned, trust) == Row())
            }
        }

        @Test func `An unknown issuer names the property for further roots`() async {
            for (site, isNamed) in [(SecureServers.Site.http1, true), (.selfSigned, true), (.wrongHost, false)] {
                let trust = TrustPolicy(additionalRoots: isNamed ? [] : [secure.data("ca.pem")])
                let transport = CurlTransport.with { $0.trust = trust }
                let error = await transport.failure(of: .data(URLRequest(url: secure.url(site))))?.error
                let reason = (error as? RequestError)?.reason ?? ""
                #expect(reason.hasSuffix("TrustPolicy.additionalRoots") == isNamed, "\(reason)")
            }
        }

        @Test func `A root is added to those of the system`() async throws {
            let (good, other) = (secure.url(.http1), secure.url(.selfSigned))
            let (bundle, added) = (secure.file("ca.pem").path, secure.data("self.pem"))
            // The environment says what the roots of the system are. A transport reads it once.
            await #expect(processExitsWith: .success) {
                [good = good as URL, other = other as URL, bundle = bundle as String, added = added as Data] in
                setenv("CURL_CA_BUNDLE", bundle, 1)
                let transport = CurlTransport.with { $0.trust = TrustPolicy(additionalRoots: [added]) }
                guard await transport.row(good) == Row(), await transport.row(other) == Row() else { exit(2) }
                let system = CurlTransport.with { _ in }
                guard await system.row(other) == .unsent(.untrustedCertificate, 60) else { exit(3) }
            }
            // With those of this machine, only what was added is trusted.
            let trust = TrustPolicy(additionalRoots: [added])
            #expect(await row(.selfSigned, trust) == Row())
            #expect(await row(.http1, trust) == .unsent(.untrustedCertificate, 60))
        }

        @Test func `Without roots of the system, those that are added count alone`() throws {
            let added = secure.data("self.pem")
            let trust = TrustPolicy(additionalRoots: [added])
            for folder in [nil, "/d"] {
                guard case .memory(let pem, folder) = TrustedRoots(trust, system: SystemRoots(folder: folder)) else {
                    Issue.record("The roots are not in memory, or with another folder.")
                    continue
                }
                #expect(Data(pem.bytes) == added)
            }
        }

        @Test func `A file of roots that the environment names and that is not there fails each request`() async {
            let (other, added) = (secure.url(.selfSigned), secure.data("self.pem"))
            await #expect(processExitsWith: .success) { [other = other as URL, added = added as Data] in
                setenv("CURL_CA_BUNDLE", "/nonexistent/roots.pem", 1)
                let transport = CurlTransport.with { $0.trust = TrustPolicy(additionalRoots: [added]) }
                guard await transport.row(other).code == .untrustedCertificate else { exit(2) }
            }
        }

        @Test(arguments: [
            Data(), Data("no root".utf8), Data("-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----".utf8),
        ])
        func `An additional root that is no certificate fails each request`(_ data: Data) async {
            #expect(await row(.cleartext, TrustPolicy(additionalRoots: [data])) == .unsent(.untrustedCertificate))
        }
    }
#endif
