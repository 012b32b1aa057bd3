#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    @Suite(.timeLimit(.minutes(15)))
    struct SystemRootsTests {
        @Test func `The folder is left out where there is a file that is kept once it is read`() {
            let file = SecureServers.shared.file("ca.pem").path
            #expect(SystemRoots(file: file, keepsFile: true) == .fileAlone)
            #expect(SystemRoots(file: file, keepsFile: false) == .asBuilt)
            #expect(SystemRoots(file: file + ".none", keepsFile: true) == .asBuilt)
            #expect(SystemRoots(file: nil, keepsFile: true) == .asBuilt)
        }

        @Test(.enabled(if: CurlLibrary.keepsRoots && SystemRoots.present != .asBuilt))
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

        private static let built = SystemRoots.Places(file: "/f", folder: "/d")

        @Test(
            arguments: [
                (SystemRoots.asBuilt, built, ["/f", "/d"], false, built),
                (.fileAlone, built, ["/f", "/d"], false, built),
                (.asBuilt, built, ["/f", "/d"], true, .init(file: nil, folder: "/d")),
                (.asBuilt, built, ["/f"], true, .init(file: "/f", folder: nil)),
                (.asBuilt, built, ["/d"], true, .init(file: nil, folder: "/d")),
                (.asBuilt, built, [], true, .init(file: nil, folder: nil)),
                (.asBuilt, .init(file: "/f", folder: nil), ["/f"], true, .init(file: "/f", folder: nil)),
                (.asBuilt, .init(file: nil, folder: nil), [], true, .init(file: nil, folder: nil)),
                (.named(file: "/n", folder: nil), built, ["/f", "/d"], true, .init(file: "/n", folder: nil)),
                (.named(file: nil, folder: "/n"), built, ["/f", "/d"], true, .init(file: nil, folder: "/n")),
                (.named(file: "/n", folder: "/m"), built, [], true, .init(file: "/n", folder: "/m")),
            ] as [(SystemRoots, SystemRoots.Places, Set<String>, Bool, SystemRoots.Places)])
        func `Roots beside others are where they can be read, or where the environment says`(
            present: SystemRoots, built: SystemRoots.Places, readable: Set<String>, isWhole: Bool,
            expected: SystemRoots.Places
        ) {
            let places = present.placesBesideOthers(built, canRead: readable.contains) { _, _ in isWhole }
            #expect(places == expected)
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
#endif
