#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import Testing

    /// A server that speaks HTTP/2 without TLS, frame by frame, whose answers a test writes in Python; and a transport that
    /// speaks it with the server.
    ///
    /// What answers a request is the body of a function of its stream `s`, which runs on a thread of its own:
    ///
    /// - `s.method`, `s.path` and `s.fields`; `s.connection.number`, from 1; `s.body()`, which waits for the end.
    /// - `s.head(status, *fields)`, `s.send(data)`, `s.pattern(count)`, `s.trailers(*fields)`; each ends the stream if `ends`,
    ///   as by default those do of which nothing need follow. Bodies wait for flow control, and end the answer if the client
    ///   resets the stream.
    /// - `s.reset()` waits until the client has reset the stream; `s.sent` has the number of bytes that were sent.
    /// - `tell(words)` prints a line; `door` is a `threading.Event`.
    struct HTTP2Peer {
        let transport: CurlTransport
        let configuration: CurlTransport.Configuration
        private let peer: PythonPeer

        init(_ answer: String) async throws {
            peer = try await PythonPeer(running: .http2, [answer])
            transport = CurlTransport.with { $0.httpVersions = .http2PriorKnowledge }
            configuration = transport.configuration
        }

        /// The next line that it prints.
        func line() async -> String { await peer.line() }

        func request(_ path: String = "/", method: String = "GET", fields: [String: String] = [:]) -> URLRequest {
            // The parts are those of a URL.
            var request = URLRequest(url: URL(string: "http://127.0.0.1:\(peer.port)\(path)")!)
            request.httpMethod = method
            for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
            return request
        }

        /// A GET whose transfer fails, if it hangs, before the time of its suite is over.
        func task(_ path: String = "/") -> TransportTask { Self.limited(.data(request(path))) }

        func perform(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void = { _ in }
        ) async throws -> TransportResponse {
            try await transport.perform(Self.limited(task), onHead: onHead)
        }

        func get(_ path: String = "/") async throws -> TransportResponse {
            try await perform(task(path))
        }

        func text(_ path: String = "/") async throws -> String {
            String(decoding: try await get(path).body, as: UTF8.self)
        }

        /// The failure with which a task ends whose head is rejected.
        func rejection(
            of task: TransportTask, errorBodyTimeLimit: Duration = .seconds(30)
        ) async throws -> TransferFailure {
            var task = Self.limited(task)
            task.limits.errorBodyTimeLimit = errorBodyTimeLimit
            return try #require(await transport.failure(of: task) { _ in throw Rejected() })
        }

        struct Rejected: Error {}

        private static func limited(_ task: TransportTask) -> TransportTask {
            var task = task
            task.limits.idle = .seconds(30)
            return task
        }
    }
#endif
