#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Bodies framed in ways that are wrong or rare, over real sockets.
    @Suite(.timeLimit(.minutes(5)))
    struct CurlFramingTests {
        private let transport = CurlTransport.with { _ in }

        /// A server whose path `/odd` answers with these bytes and leaves the connection open.
        private func server(_ response: String) async throws -> LoopbackServer {
            try await LoopbackServer.start { $0.target == "/odd" ? .raw(Data(response.utf8)) : .text("usual") }
        }

        private func task(_ server: LoopbackServer, _ method: String = "GET") -> TransportTask {
            var request = server.request("/odd")
            request.httpMethod = method
            var task = TransportTask.data(request)
            task.limits.idle = .seconds(10)
            return task
        }

        /// From 8.18 on libcurl joins the lines of a field before it reads the field.
        private static let joinsLines = Libcurl.isVersion(from: (8, 18))
        private static let lengthOnSecondLine = "Content-Length:\r\n 2"

        private static let unknowableEnds = [
            "Content-Length: 42,30", "Content-Length: 2\r\nContent-Length: 5", "Content-Length: 5\r\nContent-Length: 2",
            "Content-Length: 2s", "Content-Length: 0x2", "Content-Length: +2", "Content-Length: -2", "Content-Length: ",
            "Content-Length: 2 2", "Content-Length: 2\r\n 2", "Content-Length : 2",
            "Content-Length: 99999999999999999999", "Transfer-Encoding: chunked;a=b\r\nContent-Length: 2",
            "Transfer-Encoding: chunked, gzip\r\nContent-Length: 2",
        ]

        @Test(arguments: joinsLines ? unknowableEnds : unknowableEnds + [lengthOnSecondLine])
        func `A body whose end nobody can tell is malformedResponse, and its connection is not used again`(
            fields: String
        ) async throws {
            let server = try await server("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nok")
            for count in 1...2 {
                let row = await transport.row(task(server))
                #expect(row.code == .malformedResponse && row.phase == .head && !row.hasHead)
                #expect(server.connections.count == count)
            }
            #expect(try await transport.text(server.url) == "usual")
            #expect(server.connections.count == 3)
        }

        private static let lengths = [
            "Content-Length: 2", "Content-Length: 2, 2", "Content-Length: 2\r\nContent-Length: 2", "Content-Length: 02",
            "Content-Length:\t2 ", "content-length: 2\r\n \r\nA: b",
        ]

        @Test(arguments: joinsLines ? lengths + [lengthOnSecondLine] : lengths)
        func `A length that is said once or several times is one, and the connection is used again`(
            fields: String
        ) async throws {
            let server = try await server("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nok")
            for _ in 1...3 {
                #expect(try await transport.perform(task(server)) { _ in }.body == Data("ok".utf8))
            }
            #expect(server.connections.count == 1)
        }

        @Test(arguments: ["identity", ""], ["ok", "okay and what follows"])
        func
            `A transfer coding that changes nothing beside a length is read by the length, over a connection of its own`(
                coding: String, body: String
            ) async throws
        {
            let server = try await server(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\nContent-Length: 2\r\n\r\n\(body)")
            for count in 1...2 {
                #expect(try await transport.perform(task(server)) { _ in }.body == Data("ok".utf8))
                #expect(server.connections.count == count)
            }
        }

        @Test(arguments: ["gzip", "foo", "chunkedx"])
        func `A transfer coding that cannot be decoded is undecodableContent, whatever the length says`(
            coding: String
        ) async throws {
            let server = try await server(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\nContent-Length: 5\r\n\r\nhello")
            #expect(await transport.row(task(server)).code == .undecodableContent)
        }

        /// From 8.14 on libcurl refuses a coding that it was not to ask for.
        private static let refusesCodings = Libcurl.isVersion(from: (8, 14))

        @Test(arguments: ["", "Content-Length: 3", "Content-Length: 1000", "Content-Length: @"], [false, true])
        func `A transfer coding beside a length is decoded, and the length does not count`(
            length: String, isFirst: Bool
        ) async throws {
            let body = Gzip.member(Data("hello world".utf8))
            let length = length.replacingOccurrences(of: "@", with: "\(body.count)")
            let fields = isFirst ? [length, "Transfer-Encoding: gzip"] : ["Transfer-Encoding: gzip", length]
            let lines = ["HTTP/1.1 200 OK"] + fields.filter { !$0.isEmpty } + ["", ""]
            let head = Data(lines.joined(separator: "\r\n").utf8)
            let server = try await LoopbackServer.start { _ in .closing(.raw(head + body)) }
            let row = await transport.row(task(server))
            guard !Self.refusesCodings else { return #expect(row.code == .undecodableContent) }
            #expect(try await transport.perform(task(server)) { _ in }.body == Data("hello world".utf8))
        }

        @Test func `A transfer coding that breaks off is no success`() async throws {
            let body = Gzip.member(Data("hello world".utf8)).dropLast(9)
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n"
            let server = try await LoopbackServer.start { _ in .closing(.raw(Data(head.utf8) + body)) }
            let row = await transport.row(task(server))
            #expect(row.code == (Self.refusesCodings ? .undecodableContent : .truncatedBody))
        }

        @Test(arguments: [
            "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: Chunked",
        ])
        func `Chunked that is said twice counts once, over a connection of its own`(fields: String) async throws {
            let server = try await server("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n2\r\nok\r\n0\r\n\r\n")
            for count in 1...2 {
                #expect(try await transport.perform(task(server)) { _ in }.body == Data("ok".utf8))
                #expect(server.connections.count == count)
            }
        }

        @Test func `A body of no bytes beside a transfer coding is one`() async throws {
            let server = try await server(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n")
            #expect(try await transport.perform(task(server)) { _ in }.body.isEmpty)
        }

        @Test func `A body beside a transfer coding that ends before its length is truncatedBody`() async throws {
            let response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nok"
            let server = try await LoopbackServer.start { _ in .closing(.raw(Data(response.utf8))) }
            #expect(await transport.row(task(server)) == .sent(.truncatedBody, .body, 18, bytes: 2))
        }

        @Test func `A large body beside a transfer coding comes whole for a slow consumer`() async throws {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 1000000\r\n\r\n"
            let server = try await LoopbackServer.start { _ in .raw(Data(head.utf8) + Data(count: 1_000_100)) }
            let count = Locked(0)
            var task = TransportTask.stream(server.request()) { piece in
                await Task.yield()
                count.withLock { $0 += piece.count }
            }
            task.limits.idle = .seconds(10)
            #expect(try await transport.perform(task) { _ in }.bodySize == 1_000_000)
            #expect(count.withLock { $0 } == 1_000_000)
        }

        @Test func `Chunks count where there is a length too, and the connection is not used again`() async throws {
            let server = try await server(
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")
            for count in 1...2 {
                #expect(try await transport.perform(task(server)) { _ in }.body == Data("ok".utf8))
                #expect(server.connections.count == count)
            }
        }

        /// From 8.17 on libcurl refuses lengths that contradict one another, also where no body follows.
        private static let judgesAnswersToHEAD = Libcurl.isVersion(from: (8, 17))

        @Test(arguments: [
            ("HEAD", "200 OK", "Content-Length: 42,30"), ("GET", "204 No Content", "Content-Length: 0x20"),
            ("GET", "304 Not Modified", "Content-Length: 42, 30"),
            ("HEAD", "200 OK", "Transfer-Encoding: gzip\r\nContent-Length: 30"),
        ])
        func `A response without a body is not judged by its length`(
            method: String, status: String, fields: String
        ) async throws {
            let server = try await server("HTTP/1.1 \(status)\r\n\(fields)\r\n\r\n")
            for _ in 1...2 {
                do {
                    #expect(try await transport.perform(task(server, method)) { _ in }.body.isEmpty)
                } catch let failure as TransferFailure where method == "HEAD" && Self.judgesAnswersToHEAD {
                    let isCoded = fields.hasPrefix("Transfer-Encoding")
                    #expect((isCoded ? RequestError.Code.undecodableContent : .malformedResponse) ~= failure.error)
                }
            }
        }

        @Test func `The length of an informational head does not count`() async throws {
            let server = try await server(
                "HTTP/1.1 103 Early\r\nContent-Length: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            #expect(try await transport.perform(task(server)) { _ in }.body == Data("ok".utf8))
        }
    }
#endif
