#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Trust, client certificates and HTTP/2, against nginx.
    @Suite(.timeLimit(.minutes(15)))
    struct CurlSecurityTests {
        private let secure = SecureServers.shared

        @Test func `Roots in a file are trusted`() async throws {
            #expect(try await CurlTransport.trusting().get(secure.url(.http1)).body.count == 1024)
        }

        @Test func `Roots in memory are trusted`() async throws {
            let transport = CurlTransport.with { $0.trust.roots = .pem(secure.data("ca.pem")) }
            #expect(try await transport.get(secure.url(.http1)).body.count == 1024)
        }

        @Test func `Roots that libcurl does not take are unsupported, not those of the system`() async {
            var roots = secure.data("ca.pem")
            roots.append(Data(repeating: UInt8(ascii: "\n"), count: 8_000_000))
            let transport = CurlTransport.with { [roots] in $0.trust.roots = .pem(roots) }
            #expect(await transport.row(secure.url(.http1)) == .unsent(.unsupported, 43))
        }

        @Test func `Pins that libcurl does not take are unsupported, not forgotten`() async {
            let transport = CurlTransport.trusting {
                $0.trust.pinnedKeys = [String](repeating: secure.pin, count: 8_000_000 / secure.pin.count)
            }
            #expect(await transport.row(secure.url(.http1)) == .unsent(.unsupported, 43))
        }

        @Test func `A User-Agent with a line break is sent by no request`() async {
            let transport = CurlTransport.with { $0.userAgent = "a\r\nX-Injected: b" }
            #expect(await transport.row(secure.url(.cleartext)) == .unsent(.invalidField))
        }

        @Test func `Only the case that says insecure accepts every certificate`() async throws {
            let transport = CurlTransport.with { $0.trust.roots = .insecureTrustingEveryServer }
            for site in [SecureServers.Site.http1, .wrongHost, .expired] {
                #expect(try await transport.get(secure.url(site)).head.status == 200)
            }
        }

        @Test func `The pinned key is accepted, also as one of several`() async throws {
            let transport = CurlTransport.trusting {
                $0.trust.pinnedKeys = ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", secure.pin]
            }
            #expect(try await transport.get(secure.url(.http1)).head.status == 200)
        }

        @Test func `Pinned keys are checked even where certificates are not`() async throws {
            let transport = CurlTransport.with {
                $0.trust.roots = .insecureTrustingEveryServer
                $0.trust.pinnedKeys = ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
            }
            #expect(await transport.row(secure.url(.http1)) == .unsent(.pinningFailed, 90))
        }

        @Test func `A client certificate is shown to a server that asks for it`() async throws {
            let transport = CurlTransport.trusting {
                $0.trust.clientCertificate = .init(
                    certificate: secure.data("client.pem"), key: secure.data("client.key"))
            }
            #expect(try await transport.text(secure.url(.clientCertificate, "/client")) == "SUCCESS")
            #expect(try await CurlTransport.trusting().text(secure.url(.clientCertificate, "/client")) == "NONE")
        }

        @Test func `Connections that break during uploads over TLS kill nothing`() async throws {
            // Older versions of libcurl write to a broken TLS connection without keeping SIGPIPE away.
            let transport = CurlTransport.trusting()
            var request = URLRequest(url: secure.url(.http1, "/drop"))
            request.httpMethod = "PUT"
            let task = TransportTask.upload(request, from: .data(Data(count: 500_000)))
            for _ in 0..<200 {
                let failure = await transport.failure(of: task)
                #expect((failure?.error as? RequestError)?.code == .connectionLost)
            }
        }

        @Test func `A cancel in the handshake of TLS closes the connection`() async throws {
            let peer = try await PythonPeer(.silent)
            let url = try #require(URL(string: "https://127.0.0.1:\(peer.port)/"))
            // It would close its connections were it freed.
            let transport = CurlTransport.trusting()
            let transfer = Task { try await transport.get(url) }
            #expect(await peer.line() == "begin")
            transfer.cancel()
            await #expect(throws: CancellationError.self) { try await transfer.value }
            #expect(await peer.line() == "end")
            await transport.shutdown()
        }

        // MARK: Timings

        @Test func `The timings tell of every part of a transfer in its order, and of none that was not needed`()
            async throws
        {
            let transport = CurlTransport.trusting()
            var request = URLRequest(url: secure.url(.http1, "/upload"))
            request.httpMethod = "POST"
            let task = TransportTask.upload(request, from: .data(Data(count: 1000)))
            let first = try #require(try await transport.perform(task) { _ in }.timings)
            let parts = [
                first.queue, first.nameLookup, first.connect, first.secureConnect, first.requestSent, first.firstByte,
                first.total,
            ].compactMap { $0 }
            #expect(parts.count == 7 && parts == parts.sorted())
            #expect(first.connectionWasReused == false && !first.wasReplayed)
            #expect(first.remoteAddress == "127.0.0.1" || first.remoteAddress == "::1")
            #expect(first.bytesSent == 1000 && first.bytesReceived == 4)
            let second = try #require(try await transport.perform(task) { _ in }.timings)
            #expect(second.connectionWasReused == true)
            #expect(second.nameLookup == nil && second.connect == nil && second.secureConnect == nil)
            #expect(second.requestSent != nil && second.firstByte != nil && second.bytesReceived == 4)
        }

        // MARK: Versions

        @Test func `HTTP2 is spoken where the server offers it`() async throws {
            let transport = CurlTransport.trusting()
            #expect(try await transport.get(secure.url(.http2)).head.version == .http2)
            #expect(try await transport.get(secure.url(.http1)).head.version == .http1_1)
            #expect(try await transport.get(secure.url(.cleartext)).head.version == .http1_1)
        }

        @Test func `HTTP2 is spoken by default from libcurl 8_1 on`() async throws {
            var configuration = CurlTransport.Configuration()
            configuration.trustTestServers()
            configuration.proxy = .none
            let response = try await CurlTransport(configuration: configuration).get(secure.url(.http2))
            #expect(response.head.version == (Libcurl.sharesConnections ? .http2 : .http1_1))
        }

        @Test func `The error names the setting where a server speaks only HTTP2 without TLS`() async throws {
            let transport = CurlTransport.with { $0.httpVersions = .automatic }
            let task = TransportTask.data(URLRequest(url: secure.url(.http2Cleartext)))
            let error = try #require(await transport.failure(of: task)?.error as? RequestError)
            #expect(error.code == .malformedResponse)
            #expect(error.reason?.contains("httpVersions to .http2PriorKnowledge") == true)
        }

        @Test func `Of POSTs over HTTP2 that are answered before their body is read none is lost`() async throws {
            let transport = CurlTransport.trusting()
            var request = URLRequest(url: secure.url(.http2, "/sink"))
            request.httpMethod = "POST"
            let task = TransportTask.upload(request, from: .data(Data("ab".utf8)))
            try await withThrowingTaskGroup { group in
                for _ in 1...8 {
                    group.addTask { [task] in
                        for _ in 1...(isFullRun ? 2500 : 50) {
                            let response = try await transport.perform(task) { _ in }
                            #expect(response.body == Data("2".utf8) && response.head.version == .http2)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test func `HTTP2 is not spoken where it is not wanted`() async throws {
            let transport = CurlTransport.trusting { $0.httpVersions = .http11 }
            #expect(try await transport.get(secure.url(.http2)).head.version == .http1_1)
        }

        @Test func `HTTP2 is spoken without TLS by prior knowledge`() async throws {
            let transport = CurlTransport.with { $0.httpVersions = .http2PriorKnowledge }
            #expect(try await transport.get(secure.url(.http2Cleartext)).head.version == .http2)
        }

        @Test(.enabled(if: Libcurl.sharesConnections))
        func `Requests at the same time share one HTTP2 connection`() async throws {
            let transport = CurlTransport.trusting()
            let url = secure.url(.http2, "/connection")
            let connections = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<50 { group.addTask { try await transport.text(url) } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(connections.count == 1)
            #expect(connections.first?.hasSuffix("HTTP/2.0") == true)
        }

        @Test(arguments: [SecureServers.Site.http1, .http2])
        func `A connection over TLS is used again after answers with and without a body`(
            site: SecureServers.Site
        ) async throws {
            let transport = CurlTransport.trusting()
            let first = try await transport.text(secure.url(site, "/connection"))
            for method in ["HEAD", "GET", "OPTIONS"] {
                var request = URLRequest(url: secure.url(site, "/1k"))
                request.httpMethod = method
                _ = try await transport.perform(.data(request)) { _ in }
            }
            #expect(try await transport.text(secure.url(site, "/connection")) == first)
        }

        @Test func `A connection that its server ends with GOAWAY harms no request`() async throws {
            let transport = CurlTransport.trusting()
            let url = secure.url(.shortLived)
            for _ in 0..<10 { #expect(try await transport.get(url).body.count == 1024) }
        }

        // The server ends each connection after eight requests.
        @Test func `Requests that outnumber what a connection takes are all answered`() async throws {
            let transport = CurlTransport.trusting()
            let url = secure.url(.shortLived, "/connection")
            _ = try await transport.text(url)
            try await withThrowingTaskGroup { group in
                for _ in 0..<30 { group.addTask { try await transport.text(url) } }
                try await group.waitForAll()
            }
        }

        @Test func `A body goes up over HTTP2, of a known and of an unknown length`() async throws {
            let transport = CurlTransport.trusting()
            for length in [Int64(1 << 20), nil] {
                let response = try await transport.upload(1 << 20, to: secure.url(.http2, "/upload"), length: length)
                #expect(String(decoding: response.body, as: UTF8.self) == "1048576")
            }
        }

        /// The versions of libcurl from 7.87 to 8.3 may drop an answer that comes together with the end of its stream.
        static let dropsEarlyAnswers =
            Libcurl.isVersion(from: (7, 87), before: (8, 4))
        static let earlyAnswering: [SecureServers.Site] =
            [.http1, .cleartext] + (dropsEarlyAnswers ? [] : [.http2, .http2Cleartext])

        @Test(arguments: earlyAnswering)
        func `An upload that a server finds too large has its answer`(site: SecureServers.Site) async throws {
            let transport = CurlTransport.trusting {
                if site == .http2Cleartext { $0.httpVersions = .http2PriorKnowledge }
            }
            for length in [Int64(64 << 20), nil] {
                let response = try await transport.upload(64 << 20, to: secure.url(site, "/small"), length: length)
                #expect(response.head.status == 413)
            }
        }

        @Test func `An answer over HTTP2 before the end of an upload is a response, with a length or without`()
            async throws
        {
            let peer = try await PythonPeer(.earlyHTTP2)
            let transport = CurlTransport.with { $0.httpVersions = .http2PriorKnowledge }
            let url = try #require(URL(string: "http://127.0.0.1:\(peer.port)/"))
            for _ in 1...3 {
                do {
                    let response = try await transport.upload(64 << 20, to: url, length: 64 << 20)
                    #expect(response.head.status == 413 && response.body == Data("large".utf8))
                } catch let failure as TransferFailure where Self.dropsEarlyAnswers {
                    #expect(failure.requestMayHaveBeenProcessed)
                }
            }
        }

        /// The versions of libcurl before 8.6 take the end of such a stream for a failure, or do not read it, but for 7.88.
        static let missesEarlyEnds =
            Libcurl.isVersion(before: (7, 88))
            || Libcurl.isVersion(from: (8, 0), before: (8, 6))

        @Test func `A whole answer is the response of an upload of which the server then wants no more`() async throws {
            let (peer, transport, url) = try await PythonPeer.http2(.contentHTTP2)
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            var task = TransportTask.upload(request, from: .data(Data(count: 10 << 10)))
            task.limits.idle = .seconds(30)
            let upload = Task { [task] in try await transport.perform(task) { _ in } }
            #expect(await peer.line() == "stream 1")
            #expect(try await transport.text(url) == "12345")
            do {
                #expect(try await upload.value.body == Data("12345".utf8))
            } catch let failure as TransferFailure where Self.missesEarlyEnds {
                #expect(failure.requestMayHaveBeenProcessed)
            }
            withExtendedLifetime(peer) {}
        }

        @Test func `An upload over HTTP2 of which the server takes no more costs no processor time`() async throws {
            let peer = try await PythonPeer(.deferringHTTP2)
            await #expect(processExitsWith: .success) { [port = peer.port as Int] in
                let transport = CurlTransport.with { $0.httpVersions = .http2PriorKnowledge }
                var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)/")))
                request.httpMethod = "POST"
                var task = TransportTask.upload(request, from: .data(Data(count: 8 << 20)))
                task.limits.idle = .seconds(2)
                let before = clock()
                let row = await transport.row(task)
                let seconds = Double(clock() - before) / Double(CLOCKS_PER_SEC)
                guard row == .sent(.timedOut, .request), seconds < 1 else { exit(EXIT_FAILURE) }
            }
        }

        @Test(arguments: [SecureServers.Site.http1, .http2])
        func `A large body over TLS is held back for a slow consumer, and comes whole`(
            site: SecureServers.Site
        ) async throws {
            let driver = OwnDriver(CurlTransport.trusting().configuration)
            let (count, mayGoOn) = (Locked(0), Door())
            let task = TransportTask.stream(URLRequest(url: secure.url(site, "/5m"))) { piece in
                await mayGoOn.pass()
                count.withLock { $0 += piece.count }
            }
            let transfer = try driver.transfer(task)
            async let response = transfer.run()
            await eventually { transfer.isHeldBack }
            mayGoOn.open()
            let whole = try await response
            #expect(whole.head.version == (site == .http2 ? .http2 : .http1_1))
            #expect(count.withLock { $0 } == 5 << 20)
            #expect(whole.bodySize == 5 << 20)
            await driver.drain()
        }

        @Test(.enabled(if: Libcurl.sharesConnections))
        func `A cancelled HTTP2 stream leaves its connection to the others`() async throws {
            let transport = CurlTransport.trusting()
            let before = try await transport.text(secure.url(.http2, "/connection"))
            let url = secure.url(.http2, "/5m")
            let consumed = Collector<Int>()
            let transfers = (1...2).map { _ in
                Task {
                    try await transport.perform(
                        .stream(URLRequest(url: url)) { piece in
                            consumed.append(piece.count)
                            try await ManualClock().sleep(for: .seconds(1))
                        }
                    ) { _ in }
                }
            }
            await consumed.count(2)
            transfers[0].cancel()
            await #expect(throws: CancellationError.self) { try await transfers[0].value }
            #expect(try await transport.text(secure.url(.http2, "/connection")) == before)
            transfers[1].cancel()
            await #expect(throws: CancellationError.self) { try await transfers[1].value }
        }
    }
#endif
