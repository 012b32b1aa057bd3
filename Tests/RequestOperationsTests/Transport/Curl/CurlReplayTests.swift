#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import Testing

    /// Requests whose reused connection of HTTP/2 is lost, or one of HTTP/1.1 that might have been of HTTP/2; of others over
    /// HTTP/1.1 the conformance suite knows.
    @Suite(.timeLimit(.minutes(15)))
    struct CurlReplayTests {
        /// Servers that lose the first connection when it has its second and third stream.
        static let losses: [PythonPeer.Kind] = [.endingHTTP2, .resettingHTTP2, .leavingHTTP2, .secureEndingHTTP2]

        private func start(_ kind: PythonPeer.Kind) async throws -> (PythonPeer, CurlTransport, URL) {
            let (peer, transport, url) = try await PythonPeer.http2(kind)
            let first = try await transport.get(url)
            #expect(first.timings?.connectionWasReused == false && first.timings?.wasReplayed == false)
            #expect(await peer.line() == "stream 1 of connection 1")
            return (peer, transport, url)
        }

        @Test(.enabled(if: Libcurl.sharesConnections), arguments: losses)
        func `A request that is not safe is not sent again, and may have been processed`(
            kind: PythonPeer.Kind
        ) async throws {
            let (peer, transport, url) = try await start(kind)
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            let task = TransportTask.data(request)
            async let first = transport.row(task)
            async let second = transport.row(task)
            for row in [await first, await second] {
                #expect(row.code == .connectionLost && row.phase == .head && !row.isSurelyNotSent)
            }
            _ = try await transport.get(url)
            let streams = [await peer.line(), await peer.line(), await peer.line()]
            #expect(streams == ["stream 3 of connection 1", "stream 5 of connection 1", "stream 1 of connection 2"])
        }

        @Test func `Over HTTP/1.1 with TLS a safe request is sent once more, over a new connection`() async throws {
            let peer = try await PythonPeer(.secureLosingConnections)
            let transport = CurlTransport.trusting()
            let url = try #require(URL(string: "https://localhost:\(peer.port)/"))
            // Each has a connection of its own, and waits for no response of another: there is none before all are there.
            try await withThrowingTaskGroup { group in
                for _ in 1...3 { group.addTask { try await transport.get(url) } }
                try await group.waitForAll()
            }
            let response = try await transport.get(url)
            #expect(response.timings?.wasReplayed == true && response.timings?.connectionWasReused == false)
            #expect([await peer.line(), await peer.line()] == ["lost", "answered"])
        }

        @Test(.enabled(if: Libcurl.sharesConnections))
        func `Safe requests that the server refuses to process are sent again`() async throws {
            let (peer, transport, url) = try await start(.refusingHTTP2)
            async let first = transport.get(url)
            async let second = transport.get(url)
            for response in [try await first, try await second] {
                #expect(response.body == Data("12345".utf8) && response.timings?.wasReplayed == true)
            }
            let streams = [await peer.line(), await peer.line(), await peer.line(), await peer.line()]
            #expect(streams.map { $0.hasSuffix(" of connection 1") } == [true, true, false, false])
        }

        @Test(.enabled(if: Libcurl.repeatsRefusedRequests))
        func `A safe request that the server refuses each time is sent five times`() async throws {
            let peer = try await PythonPeer(.streamRefused)
            let transport = CurlTransport.with { $0.httpVersions = .http2PriorKnowledge }
            let row = await transport.row(try #require(URL(string: "http://localhost:\(peer.port)/")))
            #expect(row.unnumbered == .sent(.connectionLost, .head))
            for _ in 1...5 { #expect(await peer.line() == "stream 1") }
        }

        @Test func `A request that is reset by itself, on a connection that stands, is not sent again`() async throws {
            let peer = try await PythonPeer(.streamResetBeforeHead)
            let transport = CurlTransport.with { $0.httpVersions = .http2PriorKnowledge }
            let url = try #require(URL(string: "http://localhost:\(peer.port)/"))
            let rows = [await transport.row(url), await transport.row(url)]
            #expect(rows.allSatisfy { $0.code == .connectionLost && $0.phase == .head })
            // Where a connection waits for its first response, the second request makes its own.
            let second = Libcurl.waitsForFirstResponse ? "stream 1" : "stream 3"
            #expect([await peer.line(), await peer.line()] == ["stream 1", second])
        }

        @Test func `A whole answer is the response though its connection is reset at once`() async throws {
            let (peer, transport, url) = try await PythonPeer.http2(.answeringHTTP2)
            for _ in 1...20 {
                // Some versions do not read an answer before such an end. The retry policy repeats the request then.
                let operation = URLRequestOperation(url, configuration: .over(transport))
                #expect(try await run(operation) == Data("12345".utf8))
            }
            withExtendedLifetime(peer) {}
        }
    }
#endif
