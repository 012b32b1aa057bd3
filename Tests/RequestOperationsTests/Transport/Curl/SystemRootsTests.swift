#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    @Suite(.timeLimit(.minutes(15)))
    struct SystemRootsTests {
        @Test func `The folder is left out if it has no more than a file that is kept once it is read`() {
            for count in [0, 1, 139] {
                #expect(roots(inFile: 139, inFolder: count, keepsFile: true, findsByName: true) == .fileAlone)
                #expect(roots(inFile: 139, inFolder: count, keepsFile: true, findsByName: false) == .fileAlone)
            }
        }

        @Test func `The file is left out if it is read for each connection and the folder has as much`() {
            #expect(roots(inFile: 139, inFolder: 139, keepsFile: false, findsByName: true) == .folderAlone)
            #expect(roots(inFile: 139, inFolder: 139, keepsFile: false, findsByName: false) == .asBuilt)
        }

        @Test(arguments: [false, true]) func `Nothing is left out that may have what the other lacks`(keepsFile: Bool) {
            #expect(roots(inFile: 139, inFolder: 140, keepsFile: keepsFile, findsByName: true) == .asBuilt)
            #expect(roots(inFile: 0, inFolder: 139, keepsFile: keepsFile, findsByName: true) == .asBuilt)
            #expect(roots(inFile: 0, inFolder: 0, keepsFile: keepsFile, findsByName: true) == .asBuilt)
            #expect(roots(inFile: 139, inFolder: 138, keepsFile: false, findsByName: true) == .asBuilt)
        }

        @Test func `Certificates are counted in files that have several, and in folders by their names`() throws {
            let folder = TemporaryPath()
            try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
            let certificate = "a comment\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
            let file = folder.url.appendingPathComponent("all.pem")
            try Data((certificate + certificate).utf8).write(to: file)
            for name in ["4042bcee.0", "4042bcee.1", "One.pem", "12345678", "1234567g.0", "4042bcee.r0", ".0"] {
                try Data(certificate.utf8).write(to: folder.url.appendingPathComponent(name))
            }
            #expect(SystemRoots.count(inFile: file.path) == 2)
            #expect(SystemRoots.count(inFolder: folder.url.path) == 2)
            #expect(SystemRoots.firstCertificate(inFile: file.path) == Data(certificate.dropFirst(10).utf8))
            #expect(SystemRoots.firstCertificate(inFile: folder.url.path) == nil)
            #expect(SystemRoots.count(inFile: folder.url.appendingPathComponent("none").path) == 0)
            #expect(SystemRoots.count(inFolder: folder.url.appendingPathComponent("none").path) == 0)
        }

        @Test(.enabled(if: SystemRoots.present != .asBuilt))
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
            #expect(SystemRoots(in: ["SSL_CERT_FILE": "/f"]) == .named(file: "/f", folder: nil))
            #expect(SystemRoots(in: ["SSL_CERT_DIR": "/d"]) == .named(file: nil, folder: "/d"))
            #expect(SystemRoots(in: ["SSL_CERT_FILE": "/f", "SSL_CERT_DIR": "/d"]) == .named(file: "/f", folder: "/d"))
            let all = ["CURL_CA_BUNDLE": "/b", "SSL_CERT_FILE": "/f", "SSL_CERT_DIR": "/d"]
            #expect(SystemRoots(in: all) == .named(file: "/b", folder: nil))
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

        private func roots(inFile: Int, inFolder: Int, keepsFile: Bool, findsByName: Bool) -> SystemRoots {
            SystemRoots(countInFile: inFile, countInFolder: inFolder, keepsFile: keepsFile, findsByName: findsByName)
        }
    }

    /// By `read` and its like, from files, sockets and pipes.
    private func bytesReadByProcess() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("rchar: ") })
        return try #require(Int(line.dropFirst("rchar: ".count)))
    }
#endif
