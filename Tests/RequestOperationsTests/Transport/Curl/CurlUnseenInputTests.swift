#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import Testing

    /// Input of which some versions of libcurl do not know, or forget, that it is there.
    @Suite(.timeLimit(.minutes(5)))
    struct CurlUnseenInputTests {
        @Test func `What comes beyond a usual receive buffer is delivered when nothing more comes`() async throws {
            let (peer, transport, url) = try await PythonPeer.http2(.packingHTTP2)
            for _ in 1...10 {
                #expect(try await body(of: url, transport) == Data(count: 25_000))
            }
            withExtendedLifetime(peer) {}
        }

        @Test(.enabled(if: Libcurl.sharesConnections))
        func `It is so too after requests with fields of their own that shared the connection`() async throws {
            let (peer, transport, url) = try await PythonPeer.http2(.holdingHTTP2)
            let held = Task { try await transport.get(url) }
            defer { held.cancel() }
            #expect(await peer.line() == "held")
            var request = URLRequest(url: url)
            request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
            for _ in 1...4 {
                // The handle of each is reset, with a buffer that libcurl keeps.
                #expect(try await body(of: request, transport) == Data(count: 25_000))
                #expect(try await body(of: url, transport) == Data(count: 25_000))
            }
            withExtendedLifetime(peer) {}
        }

        @Test(.enabled(if: Libcurl.sharesConnections))
        func `What comes with the end of another response is delivered when nothing more comes`() async throws {
            let (peer, transport, url) = try await PythonPeer.http2(.pairingHTTP2)
            _ = try await transport.get(url)
            for _ in 1...10 { try await expectPair(transport, url) }
            withExtendedLifetime(peer) {}
        }

        @Test(.enabled(if: Libcurl.sharesConnections))
        func `Files are downloaded after responses that shared their connection`() async throws {
            let (peer, transport, url) = try await PythonPeer.http2(.pairingHTTP2)
            _ = try await transport.get(url)
            try await expectPair(transport, url)
            let files = [1, 2].map { FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())-\($0)") }
            defer { for file in files { try? FileManager.default.removeItem(at: file) } }
            async let first = transport.perform(.download(URLRequest(url: url), to: files[0])) { _ in }
            async let second = transport.perform(.download(URLRequest(url: url), to: files[1])) { _ in }
            #expect(Set([try await first.bodySize, try await second.bodySize]) == [70_000, 1_000])
            withExtendedLifetime(peer) {}
        }

        private func expectPair(_ transport: CurlTransport, _ url: URL) async throws {
            async let first = body(of: url, transport)
            async let second = body(of: url, transport)
            let bodies = [try await first, try await second]
            #expect(Set(bodies) == [Data(count: 70_000), Data(count: 1_000)])
        }

        /// Fails long before anything else might remind libcurl.
        private func body(of url: URL, _ transport: CurlTransport) async throws -> Data {
            try await body(of: URLRequest(url: url), transport)
        }

        private func body(of request: URLRequest, _ transport: CurlTransport) async throws -> Data {
            var task = TransportTask.data(request)
            task.limits.idle = .seconds(10)
            return try await transport.perform(task) { _ in }.body
        }

        @Test(arguments: [
            PythonPeer.Kind.losingPatience, .secureLosingPatience, .secureHangingUp, .unixLosingPatience,
        ])
        func `A request that is not safe goes over a new connection once the server has ended the idle one`(
            kind: PythonPeer.Kind
        ) async throws {
            let peer = try await PythonPeer(kind)
            let isUnix = kind == .unixLosingPatience
            let scheme = kind.rawValue.hasPrefix("secure") ? "https" : "http"
            let url = try #require(URL(string: "\(scheme)://localhost:\(isUnix ? 80 : peer.port)/"))
            let transport =
                isUnix ? CurlTransport.with { $0.unixSocketPath = peer.address } : CurlTransport.trusting()
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            request.httpBody = Data("once".utf8)
            for _ in 1...3 {
                let response = try await transport.perform(.data(request)) { _ in }
                #expect(response.head.status == 200 && response.body == Data("patient".utf8))
                #expect(response.timings?.connectionWasReused == false)
                #expect(await peer.line() == "ended")
            }
        }

        @Test func `A request that is not safe is sent once, though its connection ends and an idle one has`()
            async throws
        {
            let peer = try await PythonPeer(.losingRequests)
            let url = try #require(URL(string: "http://127.0.0.1:\(peer.port)"))
            let transport = CurlTransport.trusting()
            async let first = transport.text(url.appendingPathComponent("both"))
            async let second = transport.text(url.appendingPathComponent("both"))
            #expect(try await [first, second] == ["ok", "ok"])
            #expect(await peer.line() == "ended")
            var request = URLRequest(url: url.appendingPathComponent("once"))
            request.httpMethod = "POST"
            request.httpBody = Data("once".utf8)
            let task = TransportTask.data(request)
            await #expect(throws: TransferFailure.self) { try await transport.perform(task) { _ in } }
            #expect(await peer.line() == "/once")
            #expect(try await transport.text(url.appendingPathComponent("last")) == "ok")
            #expect(await peer.line() == "/last")
        }
    }
#endif
