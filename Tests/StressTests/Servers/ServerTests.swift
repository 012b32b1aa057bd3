#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import Testing

    @testable import RequestOperationsTesting

    /// Requests to servers and through proxies that are not ours, each with its own opinion of the protocols.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct ServerTests {
        @Test(arguments: ServerSite.all)
        func `Bodies arrive whole, many at a time, in memory and in files`(_ site: ServerSite) async throws {
            try await RunningServer.with(site) { server in
                for _ in 0..<Stress.rounds(10, shortened: 1) {
                    _ = try await concurrently(0..<Stress.rounds(40, shortened: 8)) { number in
                        number % 4 == 0 ? try await server.download("8m") : try await server.get("1m")
                    }
                }
            }
        }

        @Test(arguments: ServerSite.all)
        func `A crowd of requests is answered, though each connection serves a thousand only`(
            _ site: ServerSite
        ) async throws {
            try await RunningServer.with(site) { server in
                _ = try await concurrently(0..<64) { _ in
                    for _ in 0..<Stress.rounds(50, shortened: 5) { try await server.get("1k") }
                }
            }
        }

        @Test(arguments: ServerSite.all.filter(\.program.servesRanges))
        func `What comes in two ranges is whole`(_ site: ServerSite) async throws {
            try await RunningServer.with(site) { server in
                let parts = try await concurrently([0..<700_000, 700_000..<1 << 20]) { range in
                    (range.lowerBound, try await server.part("1m", range))
                }
                let body = parts.sorted { $0.0 < $1.0 }.map(\.1).reduce(Data(), +)
                #expect(LoopbackServer.Checksum(body) == RunningServer.checksums["1m"])
            }
        }

        @Test(arguments: ServerSite.all.filter { !$0.program.uploads.isEmpty })
        func `Uploads of every kind arrive whole, beside responses in pieces`(_ site: ServerSite) async throws {
            try await RunningServer.with(site) { server in
                for _ in 0..<Stress.rounds(10, shortened: 1) {
                    _ = try await concurrently(0..<Stress.rounds(20, shortened: 10)) { number in
                        let uploads = ServerProgram.Upload.allCases.filter(site.program.uploads.contains)
                        guard number % 5 < uploads.count else { return try await server.getPieces() }
                        switch uploads[number % 5] {
                        case .small: try await server.post(.data(Content.pattern(1 << 10)), isSumOf: "1k")
                        case .medium: try await server.post(.data(Content.pattern(1 << 20)), isSumOf: "1m")
                        case .file: try await server.post(.file(server.file("8m")), isSumOf: "8m")
                        case .stream: try await server.post(.stream(Self.stream), isSumOf: "1m")
                        }
                    }
                }
            }
        }

        @Test(arguments: ServerSite.all)
        func `Requests that are cancelled leave the others whole`(_ site: ServerSite) async throws {
            try await RunningServer.with(site) { server in
                for _ in 0..<Stress.rounds(10, shortened: 1) {
                    _ = try await concurrently(0..<Stress.rounds(48, shortened: 12)) { number in
                        number % 3 == 0
                            ? try await server.operate("1m") : await server.cancel("1m", after: number * 20_000)
                    }
                }
                try await server.get("1m")
            }
        }

        @Test(arguments: ServerSite.all.filter { !$0.program.uploads.isEmpty })
        func `Uploads that are refused at their heads all end, and the transport goes on`(_ site: ServerSite)
            async throws
        {
            try await RunningServer.with(site) { server in
                let outcomes = try await concurrently(0..<Stress.rounds(40, shortened: 8)) { _ in
                    try await server.uploadRefused()
                }
                // Some servers end the connection before the client can read why.
                print("\(site.testDescription): \(outcomes.count { $0 }) of \(outcomes.count) refusals were read")
                try await server.get("1k")
                try await server.post(.data(Content.pattern(1 << 10)), isSumOf: "1k")
            }
        }

        @Test(arguments: ServerSite.all.filter(\.program.endsIdleConnections))
        func `Requests are answered after the server has ended idle connections`(_ site: ServerSite) async throws {
            try await RunningServer.with(site) { server in
                for _ in 0..<Stress.rounds(2, shortened: 1) {
                    _ = try await concurrently(0..<8) { _ in try await server.get("1k") }
                    try #require(try await server.endsConnections())
                    _ = try await concurrently(0..<8) { number in
                        number % 2 == 0 && !site.program.uploads.isEmpty
                            ? try await server.post(.data(Content.pattern(1 << 10)), isSumOf: "1k")
                            : try await server.get("1k")
                    }
                }
            }
        }

        /// One MiB without a length, in pieces.
        private static let stream = BodyStream {
            let rest = Locked(Content.pattern(1 << 20))
            return BodyStream.Reader {
                await Task.yield()
                return rest.withLock { rest in
                    guard !rest.isEmpty else { return nil }
                    let piece = rest.prefix(50_000)
                    rest = rest.dropFirst(piece.count)
                    return piece
                }
            }
        }
    }

    extension RunningServer {
        /// A body that is not the one that was sent, or a status that nobody asked for.
        private struct Mismatch: Error {
            let status: Int
            let byteCount: Int
            let start: String

            init(_ response: TransportResponse) {
                status = response.head.status
                byteCount = response.body.count
                start = String(decoding: response.body.prefix(50), as: UTF8.self)
            }
        }

        fileprivate static let checksums = files.mapValues { LoopbackServer.Checksum(Content.pattern($0)) }

        fileprivate func get(_ name: String) async throws {
            try await expect(name, transport.perform(.data(URLRequest(url: url("/files/\(name)")))) { _ in })
        }

        fileprivate func download(_ name: String) async throws {
            let path = file("download-\(UUID().uuidString)")
            let response = try await transport.perform(
                .download(URLRequest(url: url("/files/\(name)")), to: path)
            ) { _ in }
            try await expect(name, response, body: Data(contentsOf: path))
            try FileManager.default.removeItem(at: path)
        }

        fileprivate func part(_ name: String, _ range: Range<Int>) async throws -> Data {
            var request = URLRequest(url: url("/files/\(name)"))
            request.setValue("bytes=\(range.lowerBound)-\(range.upperBound - 1)", forHTTPHeaderField: "Range")
            let response = try await transport.perform(.data(request)) { _ in }
            guard response.head.status == 206 else { throw Mismatch(response) }
            return response.body
        }

        /// By way of an operation, which tries again where the connection was lost.
        private func body(of path: String) async throws -> Data {
            var configuration = RequestConfiguration.over(transport)
            configuration.retryPolicy.backoff = .constant(.milliseconds(10))
            configuration.idleTimeLimit = .seconds(5)
            return try await run(
                URLRequestOperation(URLRequest(url: url(path)), decoder: .data, configuration: configuration))
        }

        fileprivate func operate(_ name: String) async throws {
            #expect(LoopbackServer.Checksum(try await body(of: "/files/\(name)")) == Self.checksums[name])
        }

        /// libcurl before 8.1 may not know the end of such a body until more input comes.
        fileprivate func getPieces() async throws {
            #expect(try await body(of: "/pieces") == Self.pieces.reduce(Data(), +))
        }

        /// Cancels a request when so many bytes have come.
        fileprivate func cancel(_ name: String, after count: Int) async {
            var task = TransportTask.data(URLRequest(url: url("/files/\(name)")))
            let isTime = Door()
            task.onProgress = { if $0.bytesReceived >= count { isTime.open() } }
            let transfer = Task { [task] in
                defer { isTime.open() }
                return try await transport.perform(task) { _ in }
            }
            await isTime.pass()
            transfer.cancel()
            // It may have ended in any way before.
            _ = await transfer.result
        }

        fileprivate func post(_ body: RequestBody, isSumOf name: String) async throws {
            let response = try await transport.perform(upload(body, to: "/sum")) { _ in }
            let sum = Self.checksums[name].map { "\($0.byteCount) \($0.value)" }
            guard String(decoding: response.body, as: UTF8.self) == sum else { throw Mismatch(response) }
        }

        /// Whether the client could read that the server refused an upload.
        fileprivate func uploadRefused() async throws -> Bool {
            var task = upload(.file(file("8m")), to: "/refused")
            // libcurl may see neither the end nor the answer of a server that takes no more of an upload over HTTP/2.
            task.limits.idle = .seconds(2)
            do {
                let response = try await transport.perform(task) { _ in }
                #expect(400..<600 ~= response.head.status)
                return response.head.status == 413
            } catch is TransferFailure {
                return false
            }
        }

        private func upload(_ body: RequestBody, to path: String) -> TransportTask {
            var request = URLRequest(url: url(path))
            request.httpMethod = "POST"
            return .upload(request, from: body)
        }

        private func expect(_ name: String, _ response: TransportResponse, body: Data? = nil) async throws {
            guard response.head.status == 200,
                LoopbackServer.Checksum(body ?? response.body) == Self.checksums[name]
            else { throw Mismatch(response) }
        }
    }
#endif
