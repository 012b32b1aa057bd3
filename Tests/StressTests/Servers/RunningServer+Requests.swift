#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

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

        static let checksums = files.mapValues { LoopbackServer.Checksum(RunningServer.body($0)) }

        func get(_ name: String) async throws {
            try await expect(name, transport.perform(.data(URLRequest(url: url("/files/\(name)")))) { _ in })
        }

        func download(_ name: String) async throws {
            let path = file("download-\(UUID().uuidString)")
            let response = try await transport.perform(
                .download(URLRequest(url: url("/files/\(name)")), to: path)
            ) { _ in }
            try await expect(name, response, body: Data(contentsOf: path))
            try FileManager.default.removeItem(at: path)
        }

        /// Downloads by way of an operation whose transfers break after some bytes. Returns how many were not sent again.
        func download(_ name: String, breakingAfter breaks: [Int]) async throws -> Int64 {
            let path = file("download-\(UUID().uuidString)")
            var configuration = RequestConfiguration.over(BreakingTransport(transport, breaksAfter: breaks))
            configuration.retryPolicy = RetryPolicy(maximumRetries: 9, backoff: .constant(.zero))
            let value = try await run(
                DownloadOperation(url("/files/\(name)"), to: .file(path), configuration: configuration))
            #expect(LoopbackServer.Checksum(try Data(contentsOf: path)) == Self.checksums[name])
            try FileManager.default.removeItem(at: path)
            return value.resumedBytes
        }

        func part(_ name: String, _ range: Range<Int>) async throws -> Data {
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

        func operate(_ name: String) async throws {
            #expect(LoopbackServer.Checksum(try await body(of: "/files/\(name)")) == Self.checksums[name])
        }

        /// libcurl before 8.1 may not know the end of such a body until more input comes.
        func getPieces() async throws {
            #expect(try await body(of: "/pieces") == Self.pieces.reduce(Data(), +))
        }

        /// Cancels a request when so many bytes have come.
        func cancel(_ name: String, after count: Int) async {
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

        func post(_ body: RequestBody, isSumOf name: String) async throws {
            let response = try await transport.perform(upload(body, to: "/sum")) { _ in }
            let sum = Self.checksums[name].map { "\($0.byteCount) \($0.value)" }
            guard String(decoding: response.body, as: UTF8.self) == sum else { throw Mismatch(response) }
        }

        /// Whether the client could read that the server refused an upload.
        func uploadRefused() async throws -> Bool {
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
