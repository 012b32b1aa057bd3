#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import Testing

    /// Client certificates and roots that cannot be used.
    @Suite(.timeLimit(.minutes(5)))
    struct CurlIdentityTests {
        private let secure = SecureServers.shared

        private func transport(_ certificate: Data, _ key: Data, _ passphrase: String?) -> CurlTransport {
            .trusting { $0.trust.clientCertificate = .init(certificate: certificate, key: key, passphrase: passphrase) }
        }

        @Test(arguments: ["encrypted.key", "encrypted-older.key"])
        func `An encrypted key without a passphrase ends no process, and the error says what is missing`(
            file: String
        ) async throws {
            let (certificate, key) = (secure.data("client.pem"), secure.data(file))
            let url = secure.url(.clientCertificate, "/client")
            let roots = secure.data("ca.pem")
            await #expect(processExitsWith: .success) {
                [certificate = certificate as Data, key = key as Data, url = url as URL, roots = roots as Data] in
                let transport = CurlTransport.with {
                    $0.trust.roots = .pem(roots)
                    $0.trust.clientCertificate = .init(certificate: certificate, key: key)
                }
                let failure = await transport.failure(of: .data(URLRequest(url: url)))
                guard let error = failure?.error as? RequestError, error.code == .clientCertificateRejected,
                    error.reason?.contains("encrypted, and there is no passphrase") == true
                else { exit(EXIT_FAILURE) }
            }
        }

        @Test(arguments: ["encrypted.key", "encrypted-older.key"])
        func `An encrypted key with its passphrase is shown`(file: String) async throws {
            let transport = transport(secure.data("client.pem"), secure.data(file), "secret")
            #expect(try await transport.text(secure.url(.clientCertificate, "/client")) == "SUCCESS")
        }

        @Test func `A passphrase for a key that needs none does no harm`() async throws {
            let transport = transport(secure.data("client.pem"), secure.data("client.key"), "secret")
            #expect(try await transport.text(secure.url(.clientCertificate, "/client")) == "SUCCESS")
        }

        @Test(arguments: [("client.p12", "secret"), ("client-open.p12", nil)])
        func `An identity in PKCS12 is shown`(file: String, passphrase: String?) async throws {
            let identity = TrustPolicy.ClientCertificate(pkcs12: secure.data(file), passphrase: passphrase)
            let transport = CurlTransport.trusting { $0.trust.clientCertificate = identity }
            #expect(try await transport.text(secure.url(.clientCertificate, "/client")) == "SUCCESS")
        }

        @Test(arguments: [
            ("client.p12", "wrong", "the passphrase does not open"),
            ("client.p12", nil, "the passphrase does not open"),
            ("client.pem", nil, "not a PKCS#12 file"),
        ])
        func `The reason says what is wrong with an identity in PKCS12`(
            file: String, passphrase: String?, text: String
        ) async throws {
            let identity = TrustPolicy.ClientCertificate(pkcs12: secure.data(file), passphrase: passphrase)
            let transport = CurlTransport.trusting { $0.trust.clientCertificate = identity }
            let failure = await transport.failure(of: .data(URLRequest(url: secure.url(.http1))))
            let error = failure?.error as? RequestError
            #expect(error?.code == .clientCertificateRejected)
            #expect(error?.reason?.contains(text) == true, "\(error?.reason ?? "") is not about: \(text)")
        }

        private static let damaged = Data("-----BEGIN PRIVATE KEY-----\nMIG*\n-----END PRIVATE KEY-----\n".utf8)

        @Test func `The reason says which part of a client certificate is wrong`() async throws {
            let (certificate, key) = (secure.data("client.pem"), secure.data("client.key"))
            let encrypted = secure.data("encrypted.key")
            let shortened = Data(String(decoding: encrypted, as: UTF8.self).replacing("MI", with: "").utf8)
            let cases: [(Data, Data, String?, String)] = [
                (certificate, encrypted, nil, "is encrypted, and there is no passphrase"),
                (certificate, encrypted, "", "is encrypted, and there is no passphrase"),
                (certificate, encrypted, "wrong", "the passphrase does not open"),
                (certificate, secure.data("encrypted-older.key"), "wrong", "the passphrase does not open"),
                (certificate, shortened, "secret", "is damaged"),
                (certificate, Self.damaged, nil, "is damaged"),
                (certificate, certificate, nil, "private key of the client certificate is not in PEM"),
                (certificate, Data(), nil, "private key of the client certificate is not in PEM"),
                (certificate, secure.data("stranger.key"), nil, "does not belong to"),
                (key, key, nil, "no certificate in PEM"),
                (Data(), key, nil, "no certificate in PEM"),
                (Data(certificate.dropLast(100)), key, nil, "client certificate cannot be read"),
            ]
            for (certificate, key, passphrase, text) in cases {
                let transport = transport(certificate, key, passphrase)
                let task = TransportTask.data(URLRequest(url: secure.url(.http1)))
                let failure = await transport.failure(of: task)
                let error = failure?.error as? RequestError
                #expect(error?.code == .clientCertificateRejected)
                #expect(error?.reason?.contains(text) == true, "\(error?.reason ?? "") is not about: \(text)")
                #expect(failure?.requestMayHaveBeenProcessed == false)
            }
        }

        @Test func `The reason says what is wrong with the roots`() async throws {
            let folder = secure.folder.path
            let cases: [(TrustPolicy.Roots, String)] = [
                (.file(URL(fileURLWithPath: "/nowhere/roots.pem")), "/nowhere/roots.pem: No such file or directory"),
                (.file(URL(fileURLWithPath: folder + "/1k")), "has no certificate that can be read: \(folder)/1k"),
                (.pem(Data("no roots".utf8)), "no certificate in PEM"),
                (.pem(Data()), "no certificate in PEM"),
            ]
            for (roots, text) in cases {
                let transport = CurlTransport.with { $0.trust.roots = roots }
                let error =
                    await transport.failure(of: .data(URLRequest(url: secure.url(.http1))))?.error as? RequestError
                #expect(error?.code == .untrustedCertificate)
                #expect(error?.reason?.contains(text) == true, "\(error?.reason ?? "") is not about: \(text)")
            }
        }
    }
#endif
