#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Foundation
    import Glibc
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// What the record of an attempt tells about its transfer.
    @Suite(.timeLimit(.minutes(15)))
    struct CurlTimingsTests {
        private let transport = CurlTransport.with { _ in }

        @Test func `The record of an attempt tells the version of HTTP, and that the request was sent once more`()
            async throws
        {
            let server = try await LoopbackServer.start()
            server.route("/", .text("first"), .closeWithoutAnswer, .text("third"))
            var configuration = RequestConfiguration()
            configuration.transport = transport
            var attempts: [Attempt] = []
            for _ in 1...2 {
                let operation = URLRequestOperation(server.url, configuration: configuration)
                OperationQueue().addOperation(operation)
                _ = try await operation.value
                attempts += operation.attempts
            }
            #expect(attempts.map { $0.timings?.wasReplayed } == [false, true])
            #expect(attempts.map { $0.timings?.httpVersion?.description } == ["HTTP/1.1", "HTTP/1.1"])
        }

        @Test func `What is sent is counted right after a head that could not be sent as a whole`() async throws {
            // The kernel accepts a connection for it, of which nothing is read.
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            try #require(listen(listener, 1) == 0)
            var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(rocurl_local_port(listener))/")))
            request.setValue(String(repeating: "a", count: 800_000), forHTTPHeaderField: "X-Large")
            var task = TransportTask.data(request)
            task.limits.idle = .milliseconds(200)
            #expect(await transport.row(task).code == .timedOut)
            let server = try await LoopbackServer.start { _ in .text("here") }
            let response = try await transport.upload(128 << 10, to: server.url, length: 128 << 10)
            #expect(response.timings?.bytesSent == 128 << 10)
        }

        @Test func `The times of a request that was sent once more are those of the second time`() async throws {
            let server = try await LoopbackServer.start()
            let patience = Duration.milliseconds(300)
            server.route("/", .text("first"), .delayed(patience, then: .closeWithoutAnswer), .text("third"))
            _ = try await transport.get(server.url)
            let timings = try #require(try await transport.get(server.url).timings)
            let sent = try #require(timings.requestSent)
            let firstByte = try #require(timings.firstByte)
            let total = try #require(timings.total)
            #expect(timings.wasReplayed)
            #expect(patience <= sent && sent <= firstByte && firstByte <= total)
        }

        @Test func `The first byte is none of an informational response`() async throws {
            let server = try await LoopbackServer.start()
            let delay = Duration.milliseconds(300)
            server.route("/", .informational(103, then: .delayed(delay, then: .text("hello"))))
            let timings = try #require(try await transport.get(server.url).timings)
            // The server begins to wait after the transfer has begun.
            #expect(try #require(timings.firstByte) >= delay)
        }

        @Test func `An informational response alone has no first byte`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .informational(103, then: .closeWithoutAnswer))
            let failure = await transport.failure(of: .data(URLRequest(url: server.url))) { _ in }
            let timings = try #require(failure?.timings)
            #expect(timings.requestSent != nil && timings.firstByte == nil)
        }

        @Test func `A connection that is refused tells when the name of its host was known`() async throws {
            let port = try RefusingPort()
            let url = try #require(URL(string: "http://localhost:\(port.number)/"))
            let failure = await transport.failure(of: .data(URLRequest(url: url))) { _ in }
            let timings = try #require(failure?.timings)
            let (nameLookup, total) = (try #require(timings.nameLookup), try #require(timings.total))
            #expect(nameLookup <= total)
            #expect(timings.connect == nil && timings.requestSent == nil && timings.connectionWasReused == nil)
        }

        @Test func `A transfer that shared the failure of a look-up has nothing of an earlier one`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            let unknown = try #require(URL(string: "http://name.invalid/"))
            // With the handles of the first all the others are made.
            for url in [server.url, unknown] {
                let addresses = await withTaskGroup(of: String?.self) { group in
                    for _ in 0..<20 {
                        group.addTask {
                            let failure = await transport.failure(of: .data(URLRequest(url: url))) { _ in }
                            return failure?.timings?.remoteAddress
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(addresses.allSatisfy { $0 == nil })
            }
        }
    }
#endif
