#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    /// A server of HTTP/1.1 whose first answers wait for one another: it has none until so many requests are there. Prints the path
    /// of each request. It answers requests that are sent to it as a proxy as well.
    struct HTTP1Peer {
        enum Option: String {
            /// Speaks TLS, with the good certificate of ``SecureServers``.
            case secure
            /// Ends each connection after its first answer.
            case closing
            /// Has the later answers wait for one another as well, so many at a time.
            case always
        }

        let peer: PythonPeer
        private let isSecure: Bool

        /// - Parameters:
        ///   - count: How many requests there must be at the same time before the first is answered.
        ///   - gated: The number of the connection of which it prints `begun` when its first bytes are there, and reads them when it
        ///     is told; then `shaken`.
        init(meeting count: Int, gated: Int = 0, _ options: Option...) async throws {
            peer = try await PythonPeer(
                running: Self.script,
                [
                    SecureServers.shared.folder.path, String(count), String(gated),
                    options.map(\.rawValue).joined(separator: " "),
                ])
            isSecure = options.contains(.secure)
        }

        func url(_ path: String = "/") throws -> URL {
            try #require(URL(string: "\(isSecure ? "https" : "http")://localhost:\(peer.port)\(path)"))
        }

        private static let script = #"""
            import itertools, os, select, socketserver, ssl, sys, threading

            folder, count, gated, options = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split()
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(folder + "/good.pem", folder + "/good.key")
            connections, requests = itertools.count(1), itertools.count(1)
            meeting = threading.Barrier(count)

            def secure(c):
                c = context.wrap_socket(c, server_side=True, do_handshake_on_connect=False)
                if next(connections) == gated:
                    select.select([c], [], [])
                    print("begun")
                    told.wait()
                    c.setblocking(False)
                    try: c.do_handshake()
                    except ssl.SSLWantReadError: print("shaken")
                    c.setblocking(True)
                c.do_handshake()
                return c

            def read_head(c):
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    data = c.recv(1)
                    if not data: return None
                    head += data
                return head.decode("latin-1")

            class Handler(socketserver.BaseRequestHandler):
                def handle(self):
                    c = secure(self.request) if "secure" in options else self.request
                    while head := read_head(c):
                        print(head.split(" ")[1])
                        if next(requests) <= count or "always" in options: meeting.wait()
                        end = b"Connection: close\r\n" if "closing" in options else b""
                        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" + end + b"\r\nok")
                        if end: return c.close()

            class Server(socketserver.ThreadingTCPServer):
                daemon_threads = True
                request_queue_size = 128
                # Clients go away as they like.
                def handle_error(self, request, address): pass

            server = Server(("127.0.0.1", 0), Handler)
            print(server.server_address[1])
            server.serve_forever()
            """#
    }
#endif
