#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import Testing

    /// The rows of the table of errors that are of HTTP/2.
    @Suite(.timeLimit(.minutes(5)))
    struct CurlHTTP2ErrorTests {
        /// What comes of a task to a server; of a GET if it is not said.
        private func row(
            _ peer: PythonPeer, _ task: (URLRequest) -> TransportTask = { .data($0) }
        ) async throws -> Row {
            let transport = CurlTransport.with { $0.httpVersions = .http2PriorKnowledge }
            let url = try #require(URL(string: "http://127.0.0.1:\(peer.port)/"))
            return await transport.row(task(URLRequest(url: url)))
        }

        @Test func `A stream that is reset in its body is connectionLost`() async throws {
            let peer = try await PythonPeer(.streamReset)
            #expect(try await row(peer).isRow(.sent(.connectionLost, .body, 92, bytes: 5)))
        }

        @Test func `A connection that ends with GOAWAY before the head is connectionLost`() async throws {
            let peer = try await PythonPeer(.goAway)
            let row = try await row(peer)
            // Each version has another number for it.
            #expect(row.unnumbered == .sent(.connectionLost, .head))
        }

        /// The sizes of fields. Before version 8, libcurl has a limit for all of them together.
        private static let excessiveHeads =
            Libcurl.isVersion(before: (8, 0))
            ? [[70_000], [Int](repeating: 3000, count: 50)] : [[70_000]]

        @Test(arguments: excessiveHeads)
        func `A head that libcurl does not take is malformedResponse, and names the limit`(_ sizes: [Int]) async throws
        {
            let peer = try await HTTP2Peer("s.head(200, *[('a', 'x' * size) for size in \(sizes)]); s.send(b'ok')")
            let failure = try #require(await peer.transport.failure(of: peer.task()) { _ in })
            let error = try #require(failure.error as? RequestError)
            #expect(error.code == .malformedResponse && error.reason?.contains("64 KiB") == true)
        }

        @Test func `A head with a field of 60 KB is taken`() async throws {
            let peer = try await HTTP2Peer("s.head(200, ('a', 'x' * 60000)); s.send(b'ok')")
            #expect(try await peer.get().head.field("a")?.count == 60_000)
        }

        @Test func `A stream that is reset before its head is connectionLost`() async throws {
            let peer = try await PythonPeer(.streamResetBeforeHead)
            #expect(try await row(peer).isRow(.sent(.connectionLost, .head, 92)))
        }

        @Test func `A refused stream is connectionLost, and not sent again if the method is not safe`() async throws {
            let peer = try await PythonPeer(.streamRefused)
            let row = try await row(peer) { request in
                var request = request
                request.httpMethod = "POST"
                return .upload(request, from: .data(Data("1".utf8)))
            }
            #expect(row.unnumbered == .sent(.connectionLost, .head))
        }

        @Test func `A connection that ends with GOAWAY in a body is truncatedBody`() async throws {
            let peer = try await PythonPeer(.goAwayInBody)
            let number = Libcurl.isVersion(before: (7, 88)) ? 92 : 18
            #expect(try await row(peer).isRow(.sent(.truncatedBody, .body, number, bytes: 5)))
        }
    }

    extension Row {
        /// Whether it is another. libcurl 8.1 tells by its number what it was about to do when the stream had ended.
        fileprivate func isRow(_ other: Row) -> Bool {
            let hasOtherNumbers = Libcurl.isVersion(from: (8, 1), before: (8, 2))
            return hasOtherNumbers ? unnumbered == other.unnumbered : self == other
        }
    }
#endif
