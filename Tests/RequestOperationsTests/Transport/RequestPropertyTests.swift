#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// What the transports of Linux make of the properties of a `URLRequest` beside its URL, method, fields and body.
    @Suite(.timeLimit(.minutes(5)))
    struct RequestPropertyTests {
        enum Kind: CaseIterable {
            case curl, urlSession

            var transport: any Transport {
                switch self {
                case .curl: CurlTransport.with { _ in }
                case .urlSession: URLSessionTransport()
                }
            }
        }

        private func server() async throws -> LoopbackServer {
            try await LoopbackServer.start { _ in .text("ok") }
        }

        private func request(_ url: URL, _ change: (inout URLRequest) -> Void) -> URLRequest {
            var request = URLRequest(url: url)
            change(&request)
            return request
        }

        private func expectRefusal(by transport: any Transport, _ change: (inout URLRequest) -> Void) async throws {
            let server = try await server()
            let failure = try #require(await transport.failure(of: .data(request(server.url, change))))
            let error = try #require(failure.error as? RequestError)
            #expect(error.code == .unsupported && error.reason?.isEmpty == false)
            #expect(failure.phase == .connect && !failure.requestMayHaveBeenProcessed)
            #expect(server.requests.isEmpty)
        }

        // MARK: cachePolicy

        @Test(arguments: Kind.allCases)
        func `A request that may be answered from a cache alone is refused`(kind: Kind) async throws {
            try await expectRefusal(by: kind.transport) { $0.cachePolicy = .returnCacheDataDontLoad }
        }

        private static let loading: [URLRequest.CachePolicy] = [
            .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .returnCacheDataElseLoad,
            .reloadRevalidatingCacheData, .reloadIgnoringLocalAndRemoteCacheData,
        ]

        @Test(arguments: Kind.allCases, loading)
        func `Each other policy loads, since there is no cache`(kind: Kind, policy: URLRequest.CachePolicy) async throws
        {
            let server = try await server()
            let transport = kind.transport
            for _ in 1...2 {
                let task = TransportTask.data(request(server.url) { $0.cachePolicy = policy })
                #expect(try await transport.perform(task) { _ in }.body == Data("ok".utf8))
            }
            let value = policy == .reloadIgnoringLocalAndRemoteCacheData ? "no-cache" : nil
            #expect(server.requests.map { $0.field("Cache-Control") } == [value, value])
        }

        @Test(arguments: Kind.allCases)
        func `A Cache-Control field of the request stays`(kind: Kind) async throws {
            let server = try await server()
            let task = TransportTask.data(
                request(server.url) {
                    $0.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
                    $0.setValue("no-store", forHTTPHeaderField: "cache-control")
                })
            _ = try await kind.transport.perform(task) { _ in }
            #expect(server.requests.first?.fields.values(of: "Cache-Control") == ["no-store"])
        }

        // MARK: timeoutInterval

        @Test(arguments: Kind.allCases)
        func `A timeoutInterval ends a transfer of which no byte moves`(kind: Kind) async throws {
            let server = try await LoopbackServer.start { _ in .stall }
            let task = TransportTask.data(request(server.url) { $0.timeoutInterval = 0.5 })
            let start = ContinuousClock.now
            let failure = try #require(await kind.transport.failure(of: task))
            #expect((failure.error as? RequestError)?.code == .timedOut)
            #expect(.now - start < .seconds(50))
        }

        @Test(arguments: Kind.allCases)
        func `A timeoutInterval does not end a transfer whose bytes move`(kind: Kind) async throws {
            let server = try await LoopbackServer.start { _ in
                .drip(Data("0123456789".utf8), chunk: 1, every: .milliseconds(300))
            }
            let task = TransportTask.data(request(server.url) { $0.timeoutInterval = 2 })
            try await oneOfFiveTries {
                let response = try await kind.transport.perform(task) { _ in }
                #expect(response.body.count == 10)
            }
        }

        // MARK: allowsCellularAccess

        @Test(arguments: Kind.allCases)
        func `A request that must not use a cellular network is refused`(kind: Kind) async throws {
            try await expectRefusal(by: kind.transport) { $0.allowsCellularAccess = false }
        }

        // MARK: httpShouldHandleCookies

        private func cookieServer() async throws -> LoopbackServer {
            let server = try await LoopbackServer.start { _ in .text("ok") }
            for name in ["a", "b"] {
                server.route("/set/\(name)", .status(200, fields: ["Set-Cookie": "\(name)=1; Path=/"]))
            }
            return server
        }

        @Test func `A request without cookies sends none of the jar and stores none`() async throws {
            let server = try await cookieServer()
            let transport = CurlTransport.with { $0.cookies = .inMemory }
            _ = try await transport.get(server.url("/set/a"))
            // The handle of each is that of the one before.
            let shy = request(server.url("/set/b")) { $0.httpShouldHandleCookies = false }
            for _ in 1...2 { _ = try await transport.perform(.data(shy)) { _ in } }
            for _ in 1...2 { _ = try await transport.get(server.url) }
            #expect(server.requests.map { $0.field("Cookie") } == [nil, nil, nil, "a=1", "a=1"])
        }

        @Test func `A request without cookies sends those of its own field`() async throws {
            let server = try await cookieServer()
            let transport = CurlTransport.with { $0.cookies = .inMemory }
            _ = try await transport.get(server.url("/set/a"))
            let shy = request(server.url) {
                $0.httpShouldHandleCookies = false
                $0.setValue("own=1", forHTTPHeaderField: "Cookie")
            }
            _ = try await transport.perform(.data(shy)) { _ in }
            #expect(server.requests.last?.fields.values(of: "Cookie") == ["own=1"])
        }

        @Test func `The sample of an adapter that keeps requests away from cookies works`() async throws {
            let server = try await cookieServer()
            var configuration = RequestConfiguration.over(CurlTransport.with { $0.cookies = .inMemory })
            _ = try await run(URLRequestOperation(server.url("/set/a"), configuration: configuration))
            configuration.adapters = [.edit { request in request.httpShouldHandleCookies = false }]
            _ = try await run(URLRequestOperation(server.url("/set/b"), configuration: configuration))
            configuration.adapters = []
            _ = try await run(URLRequestOperation(server.url, configuration: configuration))
            #expect(server.requests.map { $0.field("Cookie") } == [nil, nil, "a=1"])
        }

        @Test func `A file of cookies gets none of a request without cookies`() async throws {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("cookies-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            let server = try await LoopbackServer.start()
            for name in ["a", "b"] {
                server.route(
                    "/set/\(name)", .status(200, fields: ["Set-Cookie": "\(name)=1; Path=/; Max-Age=1000"]))
            }
            let transport = CurlTransport.with { $0.cookies = .file(file) }
            _ = try await transport.get(server.url("/set/a"))
            let shy = request(server.url("/set/b")) { $0.httpShouldHandleCookies = false }
            _ = try await transport.perform(.data(shy)) { _ in }
            await transport.shutdown()
            let kept = try String(contentsOf: file, encoding: .utf8)
            #expect(kept.contains("\ta\t1") && !kept.contains("\tb\t1"))
        }

        @Test func `A session without a cookie storage handles no cookies`() async throws {
            let server = try await cookieServer()
            let transport = URLSessionTransport()
            let shy = request(server.url("/set/a")) { $0.httpShouldHandleCookies = false }
            for _ in 1...2 { _ = try await transport.perform(.data(shy)) { _ in } }
            #expect(server.requests.map { $0.field("Cookie") } == [nil, nil])
        }

        @Test func `A session with a cookie storage refuses a request without cookies`() async throws {
            let transport = URLSessionTransport(configuration: .ephemeral)
            try await expectRefusal(by: transport) { $0.httpShouldHandleCookies = false }
        }

        // MARK: Hints

        @Test(arguments: Kind.allCases)
        func `A hint changes nothing`(kind: Kind) async throws {
            let server = try await server()
            let hints: [(inout URLRequest) -> Void] = [
                { _ in }, { $0.networkServiceType = .background }, { $0.networkServiceType = .video },
                { $0.mainDocumentURL = URL(string: "http://other.invalid/") },
            ]
            let transport = kind.transport
            for hint in hints {
                let task = TransportTask.data(request(server.url, hint))
                #expect(try await transport.perform(task) { _ in }.body == Data("ok".utf8))
            }
            let fields = server.requests.map { $0.fields.map { "\($0.name): \($0.value)" } }
            #expect(fields.count == hints.count && Set(fields).count == 1)
        }
    }
#endif
