#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// What a configuration changes, on real connections.
    @Suite(.timeLimit(.minutes(15)))
    struct CurlConfigurationTests {
        @Test func `When one address of a host refuses, the next one is tried at once`() async throws {
            let port = try #require(SecureServers.shared.url(.cleartext).port)
            let url = try #require(URL(string: "http://two.test:\(port)/1k"))
            for _ in 1...20 {
                let transport = CurlTransport.with { $0.resolve = ["two.test:\(port):127.0.0.2,127.0.0.1"] }
                let response = try await transport.get(url)
                #expect(response.timings?.remoteAddress == "127.0.0.1")
                // libcurl would wait for its timer, or for something else to happen.
                #expect(try #require(response.timings?.total) < .seconds(5))
            }
        }

        @Test func `A connection is used for no request after its lifetime`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            let transport = CurlTransport.with { $0.maximumConnectionLifetime = .seconds(1) }
            let began = ContinuousClock.now
            _ = try await transport.get(server.url)
            while try await transport.get(server.url).timings?.connectionWasReused == true {}
            #expect(ContinuousClock.now - began >= .seconds(1))
        }

        private let secure = SecureServers.shared

        // MARK: Routes

        @Test(.enabled(if: Libcurl.sharesConnections))
        func `Requests over HTTP/2 share a connection to a Unix socket`() async throws {
            let path = SecureServers.shared.file("http2.socket").path
            let transport = CurlTransport.with {
                $0.unixSocketPath = path
                $0.httpVersions = .http2PriorKnowledge
            }
            let url = try #require(URL(string: "http://localhost/"))
            let texts = Collector<String>()
            let body = URLRequest(url: url.appendingPathComponent("5m"))
            _ = try await transport.perform(
                .stream(body) { _ in
                    // The body has not ended while its consumer has its first piece.
                    if texts.elements.isEmpty {
                        texts.append(try await transport.text(url.appendingPathComponent("connection")))
                    }
                }
            ) { _ in }
            let connection = try #require(texts.elements.first)
            #expect(connection.hasSuffix(" HTTP/2.0"))
            #expect(try await transport.text(url.appendingPathComponent("connection")) == connection)
        }

        @Test func `Requests go through a Unix-domain socket`() async throws {
            let peer = try await PythonPeer(.unixSocket)
            let transport = CurlTransport.with { $0.unixSocketPath = peer.address }
            #expect(try await transport.text(try #require(URL(string: "http://name.invalid/"))) == "unix")
        }

        @Test func `A given address takes the place of a look-up`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .text("here"))
            let transport = CurlTransport.with { $0.resolve = ["name.invalid:\(server.port):127.0.0.1"] }
            let url = try #require(URL(string: "http://name.invalid:\(server.port)/"))
            #expect(try await transport.text(url) == "here")
        }

        @Test func `Addresses that refuse are passed over at once`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .text("here"))
            let transport = CurlTransport.with {
                $0.resolve = ["name.invalid:\(server.port):127.0.0.2,127.0.0.3,127.0.0.4,127.0.0.1"]
            }
            var task = TransportTask(URLRequest(url: try #require(URL(string: "http://name.invalid:\(server.port)/"))))
            // Of which libcurl gives each address its part.
            task.limits.connect = .seconds(100)
            let response = try await transport.perform(task) { _ in }
            #expect(response.head.status == 200)
            // Not how long the Task waited for a thread besides.
            #expect(try #require(response.timings?.connect) < .seconds(20))
        }

        @Test func `Only addresses of the chosen family are connected to`() async throws {
            let server = try await LoopbackServer.start(includingIPv6: true)
            server.respond { _ in .text("here") }
            let url = try #require(URL(string: "http://localhost:\(server.port)/"))
            let ipv4 = try await CurlTransport.with { $0.addressFamily = .ipv4 }.get(url)
            #expect(ipv4.timings?.remoteAddress == "127.0.0.1")
            let ipv6 = try await CurlTransport.with { $0.addressFamily = .ipv6 }.get(url)
            #expect(ipv6.timings?.remoteAddress == "::1")
        }

        @Test func `No more connections to a host are made than allowed, and waiting for one is no time-out`()
            async throws
        {
            let server = try await LoopbackServer.start { _ in .delayed(.milliseconds(300), then: .text("here")) }
            let transport = CurlTransport.with { $0.maximumConnectionsPerHost = 2 }
            var task = TransportTask(URLRequest(url: server.url))
            // The last of them waits for nine others.
            task.limits.connect = .seconds(2)
            let limited = task
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 { group.addTask { try await transport.perform(limited) { _ in }.head.status } }
                for try await status in group { #expect(status == 200) }
            }
            #expect(server.connections.count == 2)
        }

        @Test func `A request that waits for a connection is cancelled without one`() async throws {
            let server = try await LoopbackServer.start()
            let gate = LoopbackServer.Gate()
            server.route("/", .held(by: gate, then: .text("here")))
            let driver = OwnDriver(CurlTransport.with { $0.maximumConnectionsPerHost = 1 }.configuration)
            let transfers = try (0..<2).map { _ in try driver.transfer(.data(server.request())) }
            async let first = transfers[0].run()
            try await server.requests(atLeast: 1)
            let second = Task { try await transfers[1].run() }
            // It is in libcurl's hands then.
            await eventually { transfers[1].awaitsHead }
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            gate.open()
            #expect(try await first.body == Data("here".utf8))
            #expect(server.requests.count == 1 && server.connections.count == 1)
            await driver.drain()
        }

        // MARK: Cookies

        @Test func `Cookies are neither kept nor sent by default`() async throws {
            let transport = CurlTransport.with { _ in }
            _ = try await transport.get(secure.url(.cleartext, "/cookie"))
            #expect(try await transport.text(secure.url(.cleartext, "/cookie")) == "")
        }

        @Test func `A jar keeps cookies for all requests of its transport`() async throws {
            let transport = CurlTransport.with { $0.cookies = .inMemory }
            _ = try await transport.get(secure.url(.cleartext, "/cookie"))
            #expect(try await transport.text(secure.url(.cleartext, "/cookie")) == "taste=sweet")
        }

        @Test func `A file keeps cookies from one transport to the next`() async throws {
            let file = secure.file("cookies-\(UUID().uuidString)")
            let server = try await LoopbackServer.start()
            server.route("/set", .status(200, fields: ["Set-Cookie": "taste=sour; Max-Age=1000"]))
            server.route("/", .text("here"))
            let first = CurlTransport.with { $0.cookies = .file(file) }
            _ = try await first.get(server.url("/set"))
            await first.shutdown()
            let second = CurlTransport.with { $0.cookies = .file(file) }
            _ = try await second.get(server.url)
            #expect(server.requests.last?.field("Cookie") == "taste=sour")
        }

        @Test func `A transport that was shut down writes no cookies when it is freed`() async throws {
            let file = secure.file("cookies-\(UUID().uuidString)")
            let later = Data("# what another transport has written since".utf8)
            let server = try await LoopbackServer.start()
            server.route("/", .status(200, fields: ["Set-Cookie": "taste=sour; Max-Age=1000"]))
            do {
                let transport = CurlTransport.with { $0.cookies = .file(file) }
                _ = try await transport.get(server.url)
                await transport.shutdown()
                try later.write(to: file)
            }
            #expect(try Data(contentsOf: file) == later)
        }

        @Test func `Cookies of a request and those of the jar are one field`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .status(200, fields: ["Set-Cookie": "a=1"]), .text("here"))
            let transport = CurlTransport.with { $0.cookies = .inMemory }
            _ = try await transport.get(server.url)
            _ = try await transport.get(server.url, fields: ["cookie": "b=2"])
            #expect(
                server.requests.last?.fields.filter { $0.name.lowercased() == "cookie" }.map(\.value) == ["a=1; b=2"])
        }

        @Test func `No connection is kept where none is to be`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            let transport = CurlTransport.with { $0.keptConnections = 0 }
            for _ in 0..<3 { _ = try await transport.get(server.url) }
            #expect(server.connections.count == 3)
        }

        @Test func `An entry of addresses that is none is unsupported`() async throws {
            let transport = CurlTransport.with { $0.resolve = ["name.invalid:80:nowhere"] }
            #expect(await transport.row(try #require(URL(string: "http://name.invalid/"))) == .unsent(.unsupported, 49))
        }

        // MARK: Fields

        @Test func `Requests name the package, accept everything, and ask for the codings that are decoded`()
            async throws
        {
            let fields = try await CurlTransport.with { _ in }.text(secure.url(.cleartext, "/fields"))
            let parts = fields.split(separator: "|", omittingEmptySubsequences: false)
            #expect(parts[0] == "RequestOperations/1")
            #expect(parts[1] == "*/*")
            #expect(parts[2].contains("gzip"))
        }

        @Test func `No content type and no expectation are invented for a small body`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            var request = URLRequest(url: server.url)
            request.httpMethod = "POST"
            let transport = CurlTransport.with { _ in }
            for body in [RequestBody.data(Data("a=b".utf8)), .data(Data(count: 100_000)), .none] {
                _ = try await transport.perform(.upload(request, from: body)) { _ in }
            }
            #expect(server.requests.allSatisfy { $0.field("Content-Type") == nil && $0.field("Expect") == nil })
            #expect(server.requests.map { $0.field("Content-Length") } == ["3", "100000", "0"])
        }

        @Test func `A body of more than 1 MiB is announced, and sent when the server says so`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            var request = URLRequest(url: server.url)
            request.httpMethod = "POST"
            let body = Data(count: 2 << 20)
            _ = try await CurlTransport.with { _ in }.perform(.upload(request, from: .data(body))) { _ in }
            #expect(server.requests.last?.field("Expect") == "100-continue")
            #expect(server.requests.last?.bodyByteCount == 2 << 20)
        }

        @Test func `A refused expectation is answered without the body`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .rejectingExpectation())
            var request = URLRequest(url: server.url)
            request.httpMethod = "POST"
            let heads = Collector<Int>()
            let task = TransportTask.upload(request, from: .data(Data(count: 2 << 20)))
            let response = try await CurlTransport.with { _ in }.perform(task) { heads.append($0.status) }
            #expect(response.head.status == 417)
            #expect(heads.elements == [417])
            #expect(server.connections.count == 1)
        }

        @Test func `After a refused expectation the request is sent once more, with its body at once`() async throws {
            let peer = try await PythonPeer(.withoutExpectations)
            var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(peer.port)/")))
            request.httpMethod = "POST"
            let heads = Collector<Int>()
            let task = TransportTask.upload(request, from: .data(Data(count: 2 << 20)))
            let response = try await CurlTransport.with { _ in }.perform(task) { heads.append($0.status) }
            #expect(heads.elements == [200])
            #expect(response.body == Data("\(2 << 20)".utf8))
            let timings = try #require(response.timings)
            let (sent, firstByte) = (try #require(timings.requestSent), try #require(timings.firstByte))
            let total = try #require(timings.total)
            #expect(sent <= firstByte && firstByte <= total)
        }

        @Test(arguments: [2 << 20, 10], [false, true])
        func `An operation sends a request once more without Expect, no matter who added it and what the server read`(
            size: Int, readsBody: Bool
        ) async throws {
            let server = try await LoopbackServer.start { request in
                if request.field("Expect") == nil { return .text("\(request.bodyByteCount)") }
                return readsBody ? .status(417) : .rejectingExpectation()
            }
            var request = URLRequest(url: server.url)
            request.httpMethod = "POST"
            request.httpBody = Data(count: size)
            if size == 10 { request.setValue("100-continue", forHTTPHeaderField: "Expect") }
            var configuration = RequestConfiguration.default
            configuration.transport = CurlTransport.with { _ in }
            configuration.retryPolicy = .none
            let operation = URLRequestOperation(request, configuration: configuration)
            OperationQueue().addOperation(operation)
            #expect(try await operation.value == Data("\(size)".utf8))
            #expect(server.requests.map { $0.field("Expect") } == ["100-continue", nil])
        }

        @Test func `A refused expectation of the caller's is an answer that stands, and is sent once`() async throws {
            let peer = try await PythonPeer(.withoutExpectations)
            var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(peer.port)/")))
            request.httpMethod = "POST"
            request.setValue("100-continue", forHTTPHeaderField: "Expect")
            let task = TransportTask.upload(request, from: .data(Data(count: 100_000)))
            let response = try await CurlTransport.with { _ in }.perform(task) { _ in }
            #expect(response.head.status == 417)
        }

        @Test func `A refused expectation keeps none from being announced to other servers`() async throws {
            let peer = try await PythonPeer(.withoutExpectations)
            let server = try await LoopbackServer.start { _ in .text("here") }
            let transport = CurlTransport.with { _ in }
            for url in [try #require(URL(string: "http://127.0.0.1:\(peer.port)/")), server.url] {
                var request = URLRequest(url: url)
                request.httpMethod = "POST"
                let task = TransportTask.upload(request, from: .data(Data(count: 2 << 20)))
                #expect(try await transport.perform(task) { _ in }.head.status == 200)
            }
            #expect(server.requests.last?.field("Expect") == "100-continue")
        }

        @Test func `A request that says what coding it accepts gets the body as it came, and its coding in the head`()
            async throws
        {
            let server = try await LoopbackServer.start()
            // If it were decoded, that would fail.
            let body = Data(repeating: 0x2A, count: 500)
            server.route("/", .status(200, fields: ["Content-Encoding": "gzip"], body: body))
            let response = try await CurlTransport.with { _ in }.get(server.url, fields: ["Accept-Encoding": "gzip"])
            #expect(response.body == body)
            #expect(response.head.field("Content-Encoding") == "gzip")
            #expect(server.requests.last?.field("Accept-Encoding") == "gzip")
        }

        @Test func `A request for a range asks for no coding`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            _ = try await CurlTransport.with { _ in }.get(server.url, fields: ["Range": "bytes=0-1"])
            #expect(server.requests.last?.field("Accept-Encoding") == "identity")
        }

        // MARK: Fields of the transport

        /// The fields of one name as the server received them, for a request with and without fields of its own.
        private func received(
            _ name: String, _ change: (inout CurlTransport.Configuration) -> Void = { _ in }
        ) async throws -> (plain: [String], own: [String], again: [String]) {
            let server = try await LoopbackServer.start { _ in .text("here") }
            let transport = CurlTransport.with(change)
            for fields in [[:], ["X-Own": "1"], [:]] { _ = try await transport.get(server.url, fields: fields) }
            let fields = server.requests.map { $0.fields.filter { $0.name == name }.map(\.value) }
            return (fields[0], fields[1], fields[2])
        }

        @Test func `Every request names the transport, once`() async throws {
            let (plain, own, again) = try await received("User-Agent") { $0.userAgent = "mine/1" }
            #expect([plain, own, again] == [["mine/1"], ["mine/1"], ["mine/1"]])
        }

        @Test func `Without a User-Agent none is sent`() async throws {
            let (plain, own, again) = try await received("User-Agent") { $0.userAgent = "" }
            #expect([plain, own, again] == [[], [], []])
        }

        @Test func `Every request says what is decoded, once, and gzip is among it`() async throws {
            let (plain, own, again) = try await received("Accept-Encoding")
            #expect(plain.count == 1 && plain[0].hasPrefix("gzip,deflate"))
            #expect(own == plain && again == plain)
        }

        @Test func `A request's own User-Agent takes the place of the transport's, for that request`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            let transport = CurlTransport.with { $0.userAgent = "mine/1" }
            _ = try await transport.get(server.url, fields: ["user-agent": "other/2"])
            _ = try await transport.get(server.url)
            let names = server.requests.map { $0.fields.filter { $0.name.lowercased() == "user-agent" }.map(\.value) }
            #expect(names == [["other/2"], ["mine/1"]])
        }

        // MARK: Shutting down

        @Test func `A transport that drains ends what it has begun and takes nothing more`() async throws {
            let server = try await LoopbackServer.start()
            let gate = LoopbackServer.Gate()
            server.route("/", .held(by: gate, then: .text("here")))
            let transport = CurlTransport.with { _ in }
            async let running = transport.text(server.url)
            try await server.requests(atLeast: 1)
            async let end: Void = transport.shutdown(draining: true)
            gate.open()
            #expect(try await running == "here")
            await end
            #expect(await transport.row(server.url) == .unsent(.unsupported))
            try await server.connectionsClosed(atLeast: 1)
        }

        @Test func `A transport that fails ends what it has begun`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .stall)
            let transport = CurlTransport.with { _ in }
            async let row = transport.row(server.url)
            try await server.requests(atLeast: 1)
            await transport.shutdown(draining: false)
            #expect(await row == .sent(.connectionLost, .head))
            try await server.connectionsClosed(atLeast: 1)
        }

        @Test func `A transport that nobody used can be shut down, and twice`() async {
            let transport = CurlTransport.with { _ in }
            await transport.shutdown()
            await transport.shutdown(draining: false)
        }

        @Test func `A transport that is freed closes its connections`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            do {
                let transport = CurlTransport.with { _ in }
                _ = try await transport.get(server.url)
            }
            try await server.connectionsClosed(atLeast: 1)
        }
    }
#endif
