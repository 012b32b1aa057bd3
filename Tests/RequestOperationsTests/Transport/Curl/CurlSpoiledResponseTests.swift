#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Responses over HTTP/2 that some versions of libcurl spoil when an upload on the same connection ends.
    @Suite(.timeLimit(.minutes(5)))
    struct CurlSpoiledResponseTests {
        @Test func `A response that waits for its consumer is whole when uploads of unknown length end beside it`()
            async throws
        {
            let transport = CurlTransport.trusting()
            _ = try await transport.get(SecureServers.shared.url(.http2))
            let hasBegun = Door()
            let mayGoOn = Door()
            let body = Locked(Data())
            var task = TransportTask.data(URLRequest(url: SecureServers.shared.url(.http2, "/numbers")))
            task.destination = .stream { piece in
                hasBegun.open()
                await mayGoOn.pass()
                body.withLock { $0.append(piece) }
            }
            let response = Task { [task] in
                defer { hasBegun.open() }
                return try await transport.perform(task) { _ in }
            }
            defer { mayGoOn.open() }
            await hasBegun.pass()
            let uploads = Task {
                try await withThrowingTaskGroup { group in
                    for _ in 1...8 { group.addTask { try await Self.upload(over: transport) } }
                    try await group.waitForAll()
                }
            }
            // Their answers may have to wait for that response; these cannot.
            for _ in 1...50 { _ = try await transport.get(SecureServers.shared.url(.cleartext)) }
            mayGoOn.open()
            #expect(try await response.value.head.status == 200)
            try await uploads.value
            #expect(body.withLock { $0 } == SecureServers.numbers)
        }

        private static func upload(over transport: CurlTransport) async throws {
            let response = try await transport.upload(
                64 << 10, to: SecureServers.shared.url(.http2, "/upload"), length: nil)
            #expect(response.head.status == 200)
        }

        @Test(
            arguments: [PythonPeer.Kind.secureRefusingUpload, .refusingUploadHTTP2],
            [10 << 10, 16 << 10, 64 << 10, 1 << 20])
        func `A response is whole when an upload is refused beside it`(
            kind: PythonPeer.Kind, uploadSize: Int
        ) async throws {
            let (peer, transport, url) = try await PythonPeer.http2(kind)
            _ = try await transport.get(url)
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            let task = TransportTask.upload(request, from: .data(Data(count: uploadSize)))
            let numbers = (0..<7000).map { UInt32($0).bigEndian }.withUnsafeBytes { Data($0) }
            for _ in 1...5 {
                let upload = Task { try await transport.perform(task) { _ in } }
                #expect(await peer.line() == "upload")
                #expect(try await transport.get(url).body == numbers)
                upload.cancel()
                // It depends on how much of it was sent whether the refusal can be read.
                _ = await upload.result
            }
        }
    }
#endif
