#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    /// What of an upload counts as idle.
    @Suite(.timeLimit(.minutes(5)))
    struct CurlIdleUploadTests {
        /// Takes 5,000 bytes of a body of a length every tenth of a second, up to a number, then either answers or is silent.
        private static let script = """
            import socket, time

            length, most = int(sys.argv[1]), int(sys.argv[2])
            server = socket.socket()
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
            server.bind(("127.0.0.1", 0))
            server.listen()
            print(server.getsockname()[1])
            c, _ = server.accept()
            head = b""
            while b"\\r\\n\\r\\n" not in head: head += c.recv(1024)
            taken = len(head) - head.index(b"\\r\\n\\r\\n") - 4
            while taken < min(length, most):
                time.sleep(0.1)
                piece = c.recv(5000)
                if not piece: break
                taken += len(piece)
            if taken == length: c.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
            told.wait()
            """

        private static let length = 250_000

        private func task(_ peer: PythonPeer) throws -> TransportTask {
            var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(peer.port)/")))
            request.httpMethod = "PUT"
            var task = TransportTask.upload(request, from: .data(Data(count: Self.length)))
            task.limits.idle = .seconds(2)
            return task
        }

        @Test func `An upload that the server receives slowly is not idle`() async throws {
            let peer = try await PythonPeer(running: Self.script, ["\(Self.length)", "\(Self.length)"])
            let response = try await CurlTransport.with { _ in }.perform(task(peer)) { _ in }
            #expect(response.head.status == 200)
        }

        @Test func `An upload of which the server receives no more is idle`() async throws {
            let peer = try await PythonPeer(running: Self.script, ["\(Self.length)", "50000"])
            let row = await CurlTransport.with { _ in }.row(try task(peer))
            #expect(row.code == .timedOut)
        }
    }
#endif
