#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Glibc
    import RequestOperations

    @testable import RequestOperationsTesting

    /// A server or proxy that is not ours while it runs, the server of ours behind it, and a transport to send requests with.
    final class RunningServer: Sendable {
        /// The bodies below `/files/`, by name.
        static let files = ["1k": 1 << 10, "1m": 1 << 20, "8m": 8 << 20]
        /// The bytes of a body of that length.
        static func body(_ length: Int) -> Data { Content.pattern(length) }

        /// The body of `/pieces`, which has no length.
        static let pieces = Array(repeating: Content.pattern(10_000), count: 20)

        let transport: CurlTransport
        /// What it forwards to.
        let origin: LoopbackServer
        private let site: ServerSite
        private let ground: ServerProgram.Ground
        private let processes = Locked<[ChildProcess]>([])

        /// Runs a function while a server runs.
        static func with(_ site: ServerSite, _ body: (RunningServer) async throws -> Void) async throws {
            let server = try await RunningServer(site)
            do {
                try await server.start()
                try await body(server)
            } catch {
                await server.stop()
                throw error
            }
            await server.stop()
        }

        func url(_ path: String) -> URL {
            // The parts are those of a URL.
            URL(string: "\(site.way.isSecure ? "https" : "http")://localhost:\(ground.port(serving: site.way))\(path)")!
        }

        /// Whether the server ends every connection to it, as it does when they have been idle for some seconds.
        func endsConnections() async throws -> Bool {
            let port = ground.port(reaching: site.way)
            return try await SocketTable.becomes(within: .seconds(20)) { entries in
                !entries.contains { $0.remotePort == port && $0.state == .established }
            }
        }

        private init(_ site: ServerSite) async throws {
            self.site = site
            origin = try await LoopbackServer.start(logLimit: 100, handler: Self.answer)
            origin.route("/refused", .withoutReadingBody(.status(413, body: Data("enough".utf8))))
            let ports = Self.freePorts(4)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("server-\(UUID().uuidString)")
            ground = ServerProgram.Ground(
                folder: folder, plain: ports[0], secure: ports[1], http2: ports[2], proxy: ports[3],
                origin: origin.port)
            transport = CurlTransport(configuration: ground.configuration(of: site.way))
        }

        private func start() async throws {
            try await fill()
            // A proxy needs a server that it is a proxy for.
            let programs = site.way.isProxied ? [.nginx, site.program] : [site.program]
            for program in programs { try launch(program.launch(ground)) }
            let awaited = Set(programs.flatMap(\.ways).map(ground.port(reaching:)))
            var isListening = false
            _ = try await SocketTable.becomes(within: .seconds(20)) { entries in
                isListening = awaited.isSubset(of: entries.filter { $0.state == .listening }.map(\.localPort))
                return isListening || processes.withLock { $0.contains(where: \.hasEnded) }
            }
            guard !isListening else { return }
            let output = try String(contentsOf: file("output"), encoding: .utf8)
            throw NotStarted(description: "\(site.testDescription) does not listen: \(output)")
        }

        struct NotStarted: Error, CustomStringConvertible {
            let description: String
        }

        private func stop() async {
            await transport.shutdown()
            let processes = processes.withLock { $0 }
            for process in processes { process.send(SIGTERM) }
            for process in processes {
                let hasEnded = Door()
                Task {
                    _ = await process.status
                    hasEnded.open()
                }
                // Some wait for their clients as long as those like.
                if await !hasEnded.isOpen(within: .seconds(10)) { process.send(SIGKILL) }
                await hasEnded.pass()
            }
            origin.stop()
            // Nobody can be told of a folder that stays behind, and it harms nobody.
            try? FileManager.default.removeItem(at: ground.folder)
        }

        private func launch(_ launch: ServerProgram.Launch) throws {
            for (name, text) in launch.files { try Data(text.utf8).write(to: file(name)) }
            let output = try FileHandle(forWritingTo: file("output"))
            try output.seekToEnd()
            for command in launch.commands {
                let process = try ChildProcess(
                    command[0], Array(command.dropFirst()), environment: ["HOME": ground.path], in: ground.folder,
                    output: output, errors: output)
                processes.withLock { $0.append(process) }
            }
        }

        /// A file, of its own or of those that the servers serve.
        func file(_ name: String) -> URL {
            ground.folder.appendingPathComponent(Self.files[name] == nil ? name : "www/files/\(name)")
        }

        /// Makes the certificate, and the files that the servers serve.
        private func fill() async throws {
            try FileManager.default.createDirectory(at: file("www/files"), withIntermediateDirectories: true)
            for (name, length) in Self.files { try Content.pattern(length).write(to: file(name)) }
            try Data().write(to: file("output"))
            let certificate = try ChildProcess("/bin/sh", ["-ec", Self.certificate], in: ground.folder)
            guard await certificate.status == 0 else { throw NotStarted(description: "OpenSSL made no certificate") }
        }

        private static let certificate = """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=localhost \
                -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem
            cat cert.pem key.pem > both.pem
            """

        /// What the server of ours answers where it is asked.
        private static func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
            switch request.path.split(separator: "/").map(String.init) {
            case ["sum"]: .text("\(request.bodyByteCount) \(request.bodyChecksum)")
            case ["pieces"]: .chunked(pieces)
            case let path where path.count == 2 && path[0] == "files" && files[path[1]] != nil:
                .file(Content.pattern(files[path[1]] ?? 0))
            default: .status(404)
            }
        }

        /// Ports where nobody listens, and that the kernel gives to nobody who asks for any (from 32768 on, by default).
        private static func freePorts(_ count: Int) -> [Int] {
            (10_000..<32_000).shuffled().lazy.filter { (try? Socket.bound(to: .ipv4, port: $0)) != nil }.prefix(count)
                .map { $0 }
        }
    }
#endif
