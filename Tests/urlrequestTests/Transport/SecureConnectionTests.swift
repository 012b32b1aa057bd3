#if CommandLineTool && canImport(Glibc)
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct SecureConnectionTests {
        /// How the line of one request to a server ends.
        private func ending(
            _ server: SecureServer, _ options: [String], environment: [String: String] = [:]
        ) async throws -> String {
            let noVariables = ["CURL_CA_BUNDLE": "", "SSL_CERT_FILE": "", "SSL_CERT_DIR": ""]
            let tool = try RunningTool(
                ["run", server.url, "--retries", "0"] + options, environment: noVariables.merging(environment) { $1 })
            let line = try #require(try await tool.end().lines.first)
            return line.split(separator: " ").last.map(String.init) ?? ""
        }

        @Test func `A server whose root is not known is refused`() async throws {
            #expect(try await ending(SecureServer(), []) == "failed:untrustedCertificate")
        }

        @Test(arguments: [["run", "--json"], ["download", "-o", "-"], ["pins"]])
        func `The error of a server whose root is not known names the option`(_ command: [String]) async throws {
            let server = try await SecureServer()
            let ended = try await RunningTool.run([command[0], server.url] + command.dropFirst())
            #expect((command[0] == "run" ? ended.output : ended.errors).contains("--cacert FILE"))
        }

        @Test func `It is trusted with the file of its root, and with no other`() async throws {
            let server = try await SecureServer()
            #expect(try await ending(server, ["--cacert", server.path("ca.pem")]) == "ok")
            #expect(
                try await ending(server, ["--cacert", server.path("stranger.pem")]) == "failed:untrustedCertificate")
        }

        @Test func `The root may be in DER`() async throws {
            let server = try await SecureServer()
            #expect(try await ending(server, ["--cacert", server.path("ca.der")]) == "ok")
        }

        @Test(arguments: ["CURL_CA_BUNDLE", "SSL_CERT_FILE"])
        func `The environment names the roots as for curl`(_ name: String) async throws {
            let server = try await SecureServer()
            #expect(try await ending(server, [], environment: [name: server.path("ca.pem")]) == "ok")
        }

        @Test func `The option counts in place of the environment`() async throws {
            let server = try await SecureServer()
            let environment = ["SSL_CERT_FILE": server.path("ca.pem")]
            let ending = try await ending(server, ["--cacert", server.path("stranger.pem")], environment: environment)
            #expect(ending == "failed:untrustedCertificate")
        }

        @Test func `Without checks every server is trusted`() async throws {
            #expect(try await ending(SecureServer(), ["--insecure"]) == "ok")
        }

        @Test func `The key must be one of the pinned ones, without other checks too`() async throws {
            let server = try await SecureServer()
            let other = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
            #expect(try await ending(server, ["--insecure", "--pin", other, "--pin", server.pin]) == "ok")
            #expect(try await ending(server, ["--insecure", "--pin", other]) == "failed:pinningFailed")
        }

        @Test func `A pin matches anywhere in the verified chain`() async throws {
            let server = try await SecureServer()
            let roots = ["--cacert", server.path("ca.pem")]
            let other = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
            #expect(try await ending(server, roots + ["--pin", server.pin]) == "ok")
            #expect(try await ending(server, roots + ["--pin", other]) == "failed:pinningFailed")
            let printed = try await RunningTool.run(["pins", server.url] + roots)
            #expect(printed.status == 0)
            try #require(printed.lines.count == 2)
            let pin = try server.pin.replacingOccurrences(of: "//", with: "/")
            #expect(printed.lines.first == pin)
            #expect(try await ending(server, roots + ["--pin", other, "--pin", printed.lines[1]]) == "ok")
        }

        @Test func `A wrong pin is answered with the right ones`() async throws {
            let server = try await SecureServer()
            let other = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
            let tool = try await RunningTool.run(
                ["run", server.url, "--json", "--cacert", server.path("ca.pem"), "--pin", other])
            let pin = try server.pin.replacingOccurrences(of: "//", with: "/")
            #expect(tool.output.contains(pin))
        }

        @Test(arguments: [["http://127.0.0.1:1/"], ["nothing"], ["https://127.0.0.1:1/"]])
        func `There are no pins of what is no server of TLS`(_ arguments: [String]) async throws {
            let ended = try await RunningTool.run(["pins"] + arguments)
            #expect(ended.status == (arguments[0].hasPrefix("https") ? 1 : 2) && ended.output.isEmpty)
        }

        @Test func `A certificate is shown to a server that demands one`() async throws {
            let server = try await SecureServer(demandsCertificate: true)
            let roots = ["--cacert", server.path("ca.pem")]
            let identity = ["--cert", server.path("client.pem"), "--cert-key", server.path("client.key")]
            #expect(try await ending(server, roots + identity) == "ok")
            #expect(try await ending(server, roots + ["--cert", server.path("both.pem")]) == "ok")
            #expect(try await ending(server, roots) == "failed:clientCertificateRejected")
        }

        @Test func `The certificate may be in PKCS#12, and the passphrase of its key in a file`() async throws {
            let server = try await SecureServer(demandsCertificate: true)
            let identity = ["--cacert", server.path("ca.pem"), "--cert", server.path("client.p12")]
            let opened = try await ending(server, identity + ["--passphrase-file", server.path("passphrase")])
            #expect(opened == "ok")
            #expect(try await ending(server, identity) == "failed:clientCertificateRejected")
        }

        @Test(arguments: [
            ["--cacert", "/no/such/file"], ["--cacert", "/dev/null"], ["--cacert", "/tmp"],
            ["--cert-key", "/dev/null"],
            ["--cert", "/dev/null"], ["--passphrase-file", "/dev/null"], ["--pin", "sha256//"],
            ["--pin", "YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="],
            ["--pin", "sha256//YhKJ"], ["--pin", "/etc/passwd"], ["--insecure", "--cacert", "/dev/null"],
            ["--transport", "urlsession", "--insecure"], ["--transport", "urlsession", "--http2"],
        ])
        func `What no connection can be made with ends with 2 before any request`(_ options: [String]) async throws {
            let ended = try await RunningTool.run(["run", "http://127.0.0.1:1/"] + options)
            #expect(ended.status == 2)
            #expect(ended.output == "" && !ended.errors.isEmpty)
        }

        @Test func `That nothing is checked is said`() async throws {
            let ended = try await RunningTool.run("run", "http://127.0.0.1:1/", "--insecure", "--retries", "0")
            #expect(ended.errors.hasPrefix("urlrequest: --insecure: "))
        }

        @Test func `HTTP 2 without TLS is spoken if it is wanted`() async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            let ended = try await RunningTool.run(
                "run", server.url("/x").absoluteString, "--http2", "--retries", "0", "--timeout", "5")
            // This server speaks HTTP/1.1 only, and is sent the preface of HTTP/2.
            #expect(ended.status == 1 && server.requests.filter { $0.method == "GET" }.isEmpty)
        }
    }
#endif
