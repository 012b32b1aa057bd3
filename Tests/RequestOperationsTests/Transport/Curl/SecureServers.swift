#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import RequestOperationsTesting

    /// nginx and OpenSSL's own server with certificates made for the occasion: TLS, HTTP/2, client certificates.
    ///
    /// One for all tests of the process; it is stopped when the process ends.
    final class SecureServers: Sendable {
        /// What a port of nginx is for.
        enum Site: Int, CaseIterable {
            /// TLS with HTTP/2 offered, a good certificate.
            case http2
            /// TLS without HTTP/2.
            case http1
            /// A certificate for another name.
            case wrongHost
            /// A certificate that ended in 2020.
            case expired
            /// TLS 1.2 at most.
            case oldTLS
            /// Asks for a client certificate; answers `SUCCESS` or `NONE`.
            case clientCertificate
            /// HTTP/2 without TLS.
            case http2Cleartext
            /// HTTP/1.1 without TLS.
            case cleartext
            /// HTTP/2 over TLS, ended after eight requests with GOAWAY.
            case shortLived
            /// A certificate of an intermediate authority, which is sent along.
            case chained
            /// The good certificate. The intermediate certificate is sent along, but is no part of its chain.
            case padded
            /// A certificate that signs itself.
            case selfSigned
            /// TLS 1.1 at most.
            case tls11
            /// A certificate for all names in a domain.
            case wildcard
        }

        let folder: URL
        private let ports: [Int]
        private let servers: [ChildProcess]
        /// The port of a server that ends the handshake with an alert if the client shows no certificate.
        let demandingPort: Int
        /// As ``demandingPort``, with TLS 1.2, where the alert comes before the client may send.
        let oldDemandingPort: Int

        /// The servers, started at the first use.
        static let shared: SecureServers = {
            do {
                return try SecureServers()
            } catch {
                // Without its servers no test of TLS means anything.
                preconditionFailure("The servers for TLS cannot be started: \(error)")
            }
        }()

        func url(_ site: Site, _ path: String = "/1k", host: String = "localhost") -> URL {
            let scheme = site == .http2Cleartext || site == .cleartext ? "http" : "https"
            // The parts are those of a URL.
            return URL(string: "\(scheme)://\(host):\(ports[site.rawValue])\(path)")!
        }

        func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

        func data(_ name: String) -> Data {
            // The scripts below have made the file.
            try! Data(contentsOf: file(name))
        }

        /// The pin of the good certificate's key.
        var pin: String { String(decoding: data("pin"), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) }

        private init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("secure-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let free = try Self.run(
                "/usr/bin/python3", [PythonScript.freePorts.path, "\(Site.allCases.count + 2)"], in: folder)
            let all = free.split(separator: "\n").compactMap { Int($0) }
            ports = Array(all.dropLast(2))
            demandingPort = all[all.count - 2]
            oldDemandingPort = all[all.count - 1]
            try Data(repeating: UInt8(ascii: "x"), count: 1024).write(to: folder.appendingPathComponent("1k"))
            try Data(count: 5 << 20).write(to: folder.appendingPathComponent("5m"))
            try Self.numbers.write(to: folder.appendingPathComponent("numbers"))
            try Self.certificates.write(
                to: folder.appendingPathComponent("certificates.sh"), atomically: true, encoding: .utf8)
            _ = try Self.run("/bin/sh", ["-e", "certificates.sh"], in: folder)
            try Self.configuration(ports, folder.path)
                .write(to: folder.appendingPathComponent("nginx.conf"), atomically: true, encoding: .utf8)
            let nginx = try Self.start(
                "/usr/sbin/nginx", ["-p", folder.path, "-c", "nginx.conf"], in: folder, until: "start worker process")
            let demanding = try [(demandingPort, "-tls1_3"), (oldDemandingPort, "-tls1_2")].map {
                [folder] port, version in
                try Self.start(
                    "/usr/bin/openssl",
                    [
                        "s_server", "-accept", String(port), version, "-cert", "good.pem", "-key", "good.key",
                        "-CAfile", "ca.pem", "-Verify", "1", "-verify_return_error", "-www",
                    ], in: folder, until: "ACCEPT")
            }
            servers = [nginx] + demanding
            let running = (servers, folder)
            runningServers.withLock { $0 = running }
            atexit {
                guard let (servers, folder) = runningServers.withLock({ $0 }) else { return }
                for server in servers { server.send(SIGTERM) }
                // A server that does not end must not keep this process.
                for server in servers where !server.ends(within: 5) { server.send(SIGKILL) }
                // Nobody can be told of a folder that stays behind, and it harms nobody.
                try? FileManager.default.removeItem(at: folder)
            }
        }

        /// The file `numbers`, 4 MiB, in which no part is like another.
        static let numbers = (0..<1 << 20).map { UInt32($0) }.withUnsafeBytes { Data($0) }

        /// Starts a server and returns when it has printed a word that says that it listens.
        private static func start(
            _ program: String, _ arguments: [String], in folder: URL, until word: String
        ) throws -> ChildProcess {
            let output = Pipe()
            let process = try ChildProcess(
                program, arguments, in: folder, output: output.fileHandleForWriting,
                errors: output.fileHandleForWriting)
            try output.fileHandleForWriting.close()
            var text = ""
            while !text.contains(word) {
                let data = output.fileHandleForReading.availableData
                guard !data.isEmpty else { throw Failed(text: "\(program): \(text)") }
                text += String(decoding: data, as: UTF8.self)
            }
            // What it prints later must not fill the pipe.
            output.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
            return process
        }

        private struct Failed: Error {
            let text: String
        }

        private static func run(_ program: String, _ arguments: [String], in folder: URL) throws -> String {
            let output = folder.appendingPathComponent("output")
            _ = FileManager.default.createFile(atPath: output.path, contents: nil)
            let handle = try FileHandle(forWritingTo: output)
            let status = try ChildProcess(program, arguments, in: folder, output: handle, errors: handle)
                .waitUntilExit()
            let text = try String(contentsOf: output, encoding: .utf8)
            guard status == 0 else { throw Failed(text: "\(program): \(text)") }
            return text
        }

        private static let certificates = """
            openssl ecparam -genkey -name prime256v1 -noout -out ca.key
            openssl req -x509 -new -key ca.key -subj "/CN=Test roots" -days 30 -out ca.pem
            sign() { # name, subject, alternative names
                openssl ecparam -genkey -name prime256v1 -noout -out $1.key
                openssl req -new -key $1.key -subj "/CN=$2" -out $1.csr
                printf "subjectAltName=$3\\n" > $1.ext
                openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile $1.ext -out $1.pem
            }
            sign good localhost "DNS:localhost,IP:127.0.0.1"
            sign other other.example "DNS:other.example"
            sign wild wild.example "DNS:*.wild.example"
            sign client somebody "DNS:client.example"
            openssl ecparam -genkey -name prime256v1 -noout -out middle.key
            openssl req -new -key middle.key -subj "/CN=Intermediate" -out middle.csr
            printf "basicConstraints=critical,CA:TRUE\\n" > middle.ext
            openssl x509 -req -in middle.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile middle.ext -out middle.pem
            openssl ecparam -genkey -name prime256v1 -noout -out chained.key
            openssl req -new -key chained.key -subj "/CN=localhost" -out chained.csr
            openssl x509 -req -in chained.csr -CA middle.pem -CAkey middle.key -CAcreateserial -days 30 -extfile good.ext \
                -out leaf.pem
            cat leaf.pem middle.pem > chained.pem
            cat good.pem middle.pem > padded.pem
            openssl pkey -in client.key -aes256 -passout pass:secret -out encrypted.key
            openssl ec -in client.key -aes256 -passout pass:secret -out encrypted-older.key
            openssl pkcs12 -export -inkey client.key -in client.pem -passout pass:secret -out client.p12
            openssl pkcs12 -export -inkey client.key -in client.pem -passout pass: -out client-open.p12
            openssl x509 -in ca.pem -outform der -out ca.der
            openssl ecparam -genkey -name prime256v1 -noout -out stranger.key
            openssl req -x509 -new -key stranger.key -subj "/CN=Stranger" -days 30 -out stranger.pem
            openssl ecparam -genkey -name prime256v1 -noout -out self.key
            openssl req -x509 -new -key self.key -subj "/CN=localhost" -addext "subjectAltName=DNS:localhost" -days 30 \\
                -out self.pem
            openssl pkey -in good.key -pubout -outform der | openssl dgst -sha256 -binary | openssl base64 -A \\
                | sed 's|^|sha256//|' > pin
            touch index.txt; echo 01 > serial
            printf "[ca]\\ndefault_ca=d\\n[d]\\ndatabase=index.txt\\nserial=serial\\nnew_certs_dir=.\\ndefault_md=sha256\\n" > ca.cnf
            printf "policy=p\\n[p]\\ncommonName=supplied\\n" >> ca.cnf
            openssl ca -batch -config ca.cnf -cert ca.pem -keyfile ca.key -in good.csr -extfile good.ext -notext \\
                -startdate 20190101000000Z -enddate 20200101000000Z -out expired.pem
            """

        private static func configuration(_ ports: [Int], _ folder: String) -> String {
            func site(_ site: Site, _ listen: String, _ certificate: String?, _ rest: String = "") -> String {
                let key = ["expired", "padded"].contains(certificate) ? "good" : certificate
                let tls = certificate.map {
                    "ssl_certificate \(folder)/\($0).pem; ssl_certificate_key \(folder)/\(key ?? "").key;"
                }
                return """
                    server { listen 127.0.0.1:\(ports[site.rawValue]) \(listen); \(tls ?? "") root \(folder); \(rest)
                      location = /client { return 200 $ssl_client_verify; }
                      location = /connection { return 200 "$connection $server_protocol"; }
                      location = /cookie { add_header Set-Cookie "taste=sweet"; return 200 "$http_cookie"; }
                      location = /fields { return 200 "$http_user_agent|$http_accept|$http_accept_encoding|$http_expect|$content_type"; }
                      location = /upload { client_body_buffer_size 16k; client_max_body_size 0; proxy_pass http://127.0.0.1:\(ports[Site.cleartext.rawValue])/sink; }
                      location = /small { client_max_body_size 1k; proxy_pass http://127.0.0.1:\(ports[Site.cleartext.rawValue])/sink; }
                      location = /drop { return 444; }
                      location = /sink { return 200 "$content_length"; }
                    }

                    """
            }
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map { "\($0)_temp_path \(folder)/\($0);" }.joined(separator: " ")
            return """
                worker_processes 1; pid \(folder)/pid; daemon off; error_log stderr notice;
                events { worker_connections 1024; }
                http { access_log off; \(temporary) default_type text/plain; keepalive_requests 100000;
                \(site(.http2, "ssl http2", "good"))
                \(site(.http1, "ssl", "good"))
                \(site(.wrongHost, "ssl", "other"))
                \(site(.expired, "ssl", "expired"))
                \(site(.oldTLS, "ssl", "good", "ssl_protocols TLSv1.2;"))
                \(site(.clientCertificate, "ssl", "good", "ssl_client_certificate \(folder)/ca.pem; ssl_verify_client optional;"))
                \(site(.http2Cleartext, "http2", nil, "listen unix:\(folder)/http2.socket http2;"))
                \(site(.cleartext, "", nil))
                \(site(.shortLived, "ssl http2", "good", "keepalive_requests 8;"))
                \(site(.chained, "ssl", "chained"))
                \(site(.padded, "ssl", "padded"))
                \(site(.selfSigned, "ssl", "self"))
                \(site(.tls11, "ssl", "good", "ssl_protocols TLSv1.1; ssl_ciphers DEFAULT@SECLEVEL=0;"))
                \(site(.wildcard, "ssl", "wild"))
                }
                """
        }
    }

    private let runningServers = Locked<([ChildProcess], folder: URL)?>(nil)
#endif
