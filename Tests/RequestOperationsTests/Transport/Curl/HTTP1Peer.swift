#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import Testing

    /// A server of HTTP/1.1 whose first answers wait for one another: it has none until so many requests are there. Prints the
    /// path of each request. It answers requests that are sent to it as a proxy as well.
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
        ///   - gated: The number of the connection of which it prints `begun` when its first bytes are there, and reads them
        ///     when it is told; then `shaken`.
        init(meeting count: Int, gated: Int = 0, _ options: Option...) async throws {
            peer = try await PythonPeer(
                running: .http1,
                [
                    SecureServers.shared.folder.path, String(count), String(gated),
                    options.map(\.rawValue).joined(separator: " "),
                ])
            isSecure = options.contains(.secure)
        }

        func url(_ path: String = "/") throws -> URL {
            try #require(URL(string: "\(isSecure ? "https" : "http")://localhost:\(peer.port)\(path)"))
        }
    }
#endif
