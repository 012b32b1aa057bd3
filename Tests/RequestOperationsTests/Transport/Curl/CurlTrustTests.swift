#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Policies of tasks and configurations, over one transport.
    @Suite(.timeLimit(.minutes(15)))
    struct CurlTrustTests {
        private let secure = SecureServers.shared
        private let transport = CurlTransport.with { _ in }
        private let trusting = TrustPolicy(roots: .file(SecureServers.shared.file("ca.pem")))
        private let other = TrustPolicy(roots: .insecureTrustingEveryServer)

        private func task(_ trust: TrustPolicy?, _ url: URL) -> TransportTask {
            var task = TransportTask(URLRequest(url: url))
            task.trust = trust
            return task
        }

        private func text(_ trust: TrustPolicy?, _ url: URL) async throws -> String {
            String(decoding: try await transport.perform(task(trust, url)) { _ in }.body, as: UTF8.self)
        }

        @Test func `The policy of a task takes the place of the transport's`() async throws {
            let url = secure.url(.http1)
            #expect(await transport.row(task(nil, url)) == .unsent(.untrustedCertificate, 60))
            #expect(try await transport.perform(task(trusting, url)) { _ in }.head.status == 200)
            #expect(await transport.row(task(nil, url)) == .unsent(.untrustedCertificate, 60))
        }

        @Test func `A connection of one policy serves no other, and is used again by its own`() async throws {
            let url = secure.url(.http1, "/connection")
            let first = try await text(trusting, url)
            #expect(try await text(other, url) != first)
            #expect(try await text(trusting, url) == first)
        }

        @Test func `A pinned key is checked although another policy has a connection to the server`() async throws {
            let url = secure.url(.http1)
            _ = try await text(other, url)
            var pinned = other
            pinned.pinnedKeys = ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
            #expect(await transport.row(task(pinned, url)) == .unsent(.pinningFailed, 90))
        }

        @Test func `A client certificate is shown for the tasks whose policy has it`() async throws {
            let url = secure.url(.clientCertificate, "/client")
            var identified = trusting
            identified.clientCertificate = .init(
                certificate: secure.data("client.pem"), key: secure.data("client.key"))
            #expect(try await text(identified, url) == "SUCCESS")
            #expect(try await text(trusting, url) == "NONE")
        }

        @Test func `Each policy has a jar of cookies of its own`() async throws {
            let transport = CurlTransport.with { $0.cookies = .inMemory }
            let url = secure.url(.cleartext, "/cookie")
            func text(_ trust: TrustPolicy?) async throws -> String {
                String(decoding: try await transport.perform(task(trust, url)) { _ in }.body, as: UTF8.self)
            }
            _ = try await text(trusting)
            #expect(try await text(trusting) == "taste=sweet")
            #expect(try await text(nil) == "")
        }

        @Test func `A shutdown ends the transfers of every policy`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .stall)
            async let first = transport.row(task(nil, server.url))
            async let second = transport.row(task(trusting, server.url))
            try await server.requests(atLeast: 2)
            await transport.shutdown(draining: false)
            let rows = await [first, second]
            #expect(rows == [.sent(.connectionLost, .head), .sent(.connectionLost, .head)])
            #expect(await transport.row(task(other, server.url)) == .unsent(.unsupported))
        }

        @Test func `The policy of a configuration counts for its operations`() async throws {
            var configuration = RequestConfiguration()
            configuration.transport = transport
            configuration.trust = trusting
            let operation = URLRequestOperation(secure.url(.http1), configuration: configuration)
            OperationQueue().addOperation(operation)
            #expect(try await operation.value.count == 1024)
        }
    }
#endif
