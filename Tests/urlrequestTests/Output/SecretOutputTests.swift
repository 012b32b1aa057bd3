#if CommandLineTool
    import RequestOperationsTesting
    import Testing

    /// No command prints a secret of a request or of a response.
    @Suite(.timeLimit(.minutes(5))) struct SecretOutputTests {
        private static let canary = "s3cr3tCanary"

        private let folder: URL

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("secrets-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        /// A server whose every answer has secrets, of all kinds of answers that the tool tells of.
        private func server() async throws -> LoopbackServer {
            @Sendable func secrets(_ location: String = "/") -> LoopbackServer.Fields {
                [
                    "Set-Cookie": "session=\(Self.canary)", "WWW-Authenticate": "Bearer token=\(Self.canary)",
                    "X-Api-Key": Self.canary, "Location": location,
                ]
            }
            return try await LoopbackServer.start { request in
                switch request.path {
                case "/moved": .status(302, fields: secrets("/ok?X-Amz-Signature=\(Self.canary)"))
                case "/circle": .status(302, fields: secrets("http://u:\(Self.canary)@127.0.0.1:1/"))
                case "/refused": .status(401, fields: secrets(), body: Data(Self.canary.utf8))
                case "/broken": .status(503, fields: secrets(), body: Data(Self.canary.utf8))
                default: .status(200, fields: secrets(), body: Data(Self.canary.utf8))
                }
            }
        }

        private func url(_ path: String, _ server: LoopbackServer) -> String {
            server.url(path).absoluteString.replacing("http://", with: "http://user:\(Self.canary)@")
        }

        private static let fields = [
            "--header", "X-Api-Key: \(canary)", "--header", "Cookie: a=\(canary)", "--data", canary,
        ]
        private static let paths = ["/ok", "/moved", "/circle", "/refused", "/broken", "/missing"]

        private func check(_ ended: RunningTool.Ended, _ command: String) {
            #expect(!ended.output.contains(Self.canary), "\(command): \(ended.output)")
            #expect(!ended.errors.contains(Self.canary), "\(command): \(ended.errors)")
        }

        /// Requests of these methods had the secrets, and each path was asked for. Otherwise the tool could not show them.
        private func expectSecrets(of methods: String..., in server: LoopbackServer) {
            let requests = server.requests.filter {
                methods.contains($0.method) && $0.field("X-Api-Key") == Self.canary
            }
            let missing = Set(Self.paths).subtracting(requests.map(\.path))
            #expect(missing.isEmpty, "\(methods)")
        }

        @Test(arguments: [[], ["--json"], ["--cookies"]])
        func `A run and its report show no secret`(_ options: [String]) async throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = try await server()
            let reports = ["report", "a.html", "a.har", "a.trace.json"].map { folder.appendingPathComponent($0).path }
            let urls = Self.paths.map { url($0, server) } + [url("/ok", server).replacing("http://", with: "ftp://")]
            let ended = try await RunningTool.run(
                ["run"] + urls + Self.fields + ["--retries", "0"] + reports.flatMap { ["--report", $0] } + options)
            check(ended, "run")
            #expect(ended.lines.count == Self.paths.count)
            for report in reports {
                #expect(try String(contentsOfFile: report, encoding: .utf8).contains(Self.canary) == false, "\(report)")
            }
            // The requests had the secrets.
            #expect(server.requests.contains { $0.field("X-Api-Key") == Self.canary })
        }

        @Test func `Downloads and uploads show no secret`() async throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = try await server()
            let urls = Self.paths.map { url($0, server) }
            let field = ["--header", "X-Api-Key: \(Self.canary)"]
            check(
                try await RunningTool.run(
                    ["download"] + urls + ["--directory", folder.path, "--retries", "0"] + field), "download")
            expectSecrets(of: "GET", in: server)
            for path in Self.paths {
                // A file of its own: an upload by tus goes on from what is known of a file.
                let file = folder.appendingPathComponent("file-\(path.dropFirst())")
                try Data(Self.canary.utf8).write(to: file)
                for options in [[], ["--tus"]] {
                    check(
                        try await RunningTool.run(
                            ["upload", file.path, url(path, server), "--retries", "0"] + options + field), "upload")
                }
            }
            expectSecrets(of: "PUT", in: server)
            // tus asks what a server can do before it creates an upload.
            expectSecrets(of: "OPTIONS", "POST", in: server)
            #expect(server.requests.contains { $0.method == "PUT" && $0.body == Data(Self.canary.utf8) })
        }

        @Test(arguments: [[], ["--store-credentials"]])
        func `A queue shows no secret, also of those that it stores`(_ options: [String]) async throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = try await server()
            let place = ["--queue", "q", "--directory", folder.path]
            // The others are tried again and again.
            for path in Self.paths where path != "/broken" && path != "/circle" {
                let added = try await RunningTool.run(
                    ["queue", "add", url(path, server)] + Self.fields + options + place)
                check(added, "add")
                #expect(added.status == 0 && added.lines.count == 1)
            }
            let show = (1...4).map { ["show", "\($0)"] }
            // They show the records first, then their outcomes and the dead letters.
            let looks = [["list"], ["stats"], ["watch", "--until-empty"]]
            for command in [["list"]] + show + [["run", "--drain"]] + looks + show {
                let ended = try await RunningTool.run(["queue"] + command + place)
                check(ended, "\(command)")
                // There is something to show.
                if command[0] == "show" { #expect(ended.status == 0 && !ended.lines.isEmpty) }
            }
            // The body is a secret that a queue stores. It has arrived.
            #expect(server.requests.contains { $0.body == Data(Self.canary.utf8) })
            let areSent = server.requests.contains { $0.field("X-Api-Key") == Self.canary }
            #expect(areSent == !options.isEmpty)
        }
    }
#endif
