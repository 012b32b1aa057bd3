#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

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
            let none = try #require(RootsInMemory(trust, system: SystemRoots.Places(file: nil, folder: nil)))
            #expect(none.pem == added && none.folder == nil)
            let folder = try #require(RootsInMemory(trust, system: SystemRoots.Places(file: nil, folder: "/d")))
            #expect(folder.pem == added && folder.folder == "/d")
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
