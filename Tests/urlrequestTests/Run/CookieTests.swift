#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @testable import urlrequest

    @Suite(.timeLimit(.minutes(15))) struct CookieTests {
        private func server() async throws -> LoopbackServer {
            let server = try await LoopbackServer.start { _ in .text("ok") }
            server.route("/set", .status(200, fields: ["Set-Cookie": "a=1; Path=/"]))
            server.route("/login", .status(302, fields: ["Set-Cookie": "b=2; Path=/", "Location": "/home"]))
            return server
        }

        /// The cookies that a run with these paths, one after the other, sends with each request.
        private func cookies(_ paths: [String], _ options: [String]) async throws -> [String?] {
            let server = try await server()
            let urls = paths.map { server.url($0).absoluteString }
            let ended = try await RunningTool.run(["run", "--concurrency", "1"] + options + urls)
            #expect(ended.status == 0)
            return server.requests.map { $0.field("Cookie") }
        }

        @Test(arguments: TransportChoice.allCases)
        func `Without the option no cookie is kept`(_ transport: TransportChoice) async throws {
            let sent = try await cookies(["/set", "/a", "/login"], ["--transport", transport.rawValue])
            #expect(sent == [nil, nil, nil, nil])
        }

        @Test(arguments: TransportChoice.allCases)
        func `With it, later requests of the run send what a response has set`(_ transport: TransportChoice)
            async throws
        {
            let sent = try await cookies(["/set", "/a"], ["--cookies", "--transport", transport.rawValue])
            #expect(sent == [nil, "a=1"])
        }

        @Test(arguments: TransportChoice.allCases)
        func `So does a redirect`(_ transport: TransportChoice) async throws {
            let sent = try await cookies(["/login"], ["--cookies", "--transport", transport.rawValue])
            #expect(sent == [nil, "b=2"])
        }

        @Test func `Another run begins without cookies`() async throws {
            let server = try await server()
            for _ in 1...2 {
                _ = try await RunningTool.run("run", "--cookies", server.url("/set").absoluteString)
            }
            #expect(server.requests.map { $0.field("Cookie") } == [nil, nil])
        }

        @Test func `A cookie goes to no other host`() async throws {
            let server = try await server()
            let other = "http://localhost:\(server.port)/a"
            _ = try await RunningTool.run(
                "run", "--cookies", "--concurrency", "1", server.url("/set").absoluteString, other)
            #expect(server.requests.map { $0.field("Cookie") } == [nil, nil])
        }
    }
#endif
