#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// A server in Python, for what no other server on the machine does. It ends with the last reference to this.
    final class PythonPeer: Sendable {
        enum Kind: String {
            /// Forwards and tunnels; a tunnel to port 9 is refused with 403.
            case httpProxy
            /// As `httpProxy`, for the user `user` with the password `pass` only.
            case authenticatingProxy
            /// SOCKS5; prints the kind of address and the name that it is asked for.
            case socks5
            /// As `httpProxy`, over TLS with the good certificate of ``SecureServers``.
            case secureProxy
            /// As `secureProxy`, with the certificate of `other.example`.
            case otherSecureProxy
            /// Reads something and resets the connection.
            case resetting
            /// Speaks HTTP/2 without TLS and answers every request with GOAWAY, last stream 0.
            case goAway
            /// Speaks HTTP/2 without TLS, sends a head and some bytes, then GOAWAY, and ends the connection.
            case goAwayInBody
            /// Speaks HTTP/2 without TLS and refuses each stream (REFUSED_STREAM).
            case streamRefused
            /// Speaks HTTP/2 without TLS, sends a head and some bytes, then resets the stream.
            case streamReset
            /// HTTP/1.1 over a Unix-domain socket, whose path it prints.
            case unixSocket
            /// Reads something and closes the connection.
            case closing
            /// Sends half of an answer, stops the process that the path names for seven seconds, and sends the rest soon after.
            case stopping
            /// Answers nothing; prints `begin` when something comes, and `end` when the connection has ended.
            case silent
            /// Speaks HTTP/2 without TLS and resets each stream before its head, for an error of its own (INTERNAL_ERROR).
            case streamResetBeforeHead
            /// Speaks HTTP/2 without TLS; ends its first connection when that has its second and third stream, without an
            /// answer to them. Prints each stream and its connection.
            case endingHTTP2
            /// As `endingHTTP2`, but resets that connection.
            case resettingHTTP2
            /// As `endingHTTP2`, with GOAWAY, which names both streams as perhaps processed.
            case leavingHTTP2
            /// As `endingHTTP2`, over TLS with the good certificate of ``SecureServers``.
            case secureEndingHTTP2
            /// As `endingHTTP2`, but refuses both streams (REFUSED_STREAM).
            case refusingHTTP2
            /// Speaks HTTP/2 without TLS; answers each request, with the length of the body, and resets the connection after
            /// the second.
            case answeringHTTP2
            /// Speaks HTTP/2 without TLS; never answers the first stream of its first connection, and all others at once.
            /// Prints each stream and its connection.
            case deferringHTTP2
            /// As `deferringHTTP2`, over TLS with the good certificate of ``SecureServers``.
            case secureDeferringHTTP2
            /// Speaks HTTP/2 without TLS; answers 413 to the head of a request, as a whole, and then wants no more of its body
            /// (RFC 9113, section 8.1).
            case earlyHTTP2
            /// Speaks HTTP/2 without TLS; answers each request at its head, and takes 1,000 bytes of its body. Prints each
            /// stream, and with a request without a body says that it wants no more of the one before, on whatever connection.
            case contentHTTP2
            /// Speaks HTTP/2 without TLS; sends a body of 25,000 bytes in three frames or, every other time, in two, all at
            /// once.
            case packingHTTP2
            /// The same, but prints `held` for the first request of all, and does not answer it.
            case holdingHTTP2
            /// Speaks HTTP/2 without TLS; answers the first request of a connection alone, then two at a time, all at once: the
            /// body of one has 70,000 bytes in five frames, that of the other 1,000.
            case pairingHTTP2
            /// Speaks HTTP/2 without TLS. Prints `upload` for a request with a body, and refuses it with 413 together with the
            /// answer to the next request without one, on whatever connection, of which it takes 1,000 bytes: 28,000 bytes, the
            /// numbers up to 6,999.
            case refusingUploadHTTP2
            /// The same over TLS with the good certificate of ``SecureServers``, and over HTTP/1.1 for a client that wants
            /// that.
            case secureRefusingUpload
            /// Answers a request, ends the connection a little later with 408, as if for want of another, and prints `ended`.
            case losingPatience
            /// The same on a Unix socket.
            case unixLosingPatience
            /// Answers a request over TLS with the good certificate of ``SecureServers``, ends the connection a little later,
            /// as TLS demands, and prints `ended`.
            case secureLosingPatience
            /// As `secureLosingPatience`, without the message that closes TLS.
            case secureHangingUp
            /// Answers two requests when both are there, and ends the second connection, which it prints as `ended`. Prints the
            /// path of each later request, which it answers if it has no body, and ends the connection otherwise.
            case losingRequests
            /// Over TLS with the good certificate of ``SecureServers``: answers three requests when all are there, and ends
            /// their connections at the next request of each, which it prints as `lost`. Prints others as `answered`.
            case secureLosingConnections
            /// Answers the first request of all, and ends its connection at the second; meanwhile it takes no other connection.
            case losingOnlyConnection
            /// Answers 417 to a request that expects something, and others with the length of their body.
            case withoutExpectations
        }

        private let process: ChildProcess
        /// It ends when its input does, which is with this process at the latest.
        private let input = Pipe()
        private let output: LineReader
        /// The first line that it printed: the port, or the path.
        let address: String

        var port: Int { Int(address) ?? 0 }

        convenience init(_ kind: Kind) async throws {
            try await self.init(running: .kinds, [kind.rawValue, SecureServers.shared.folder.path])
        }

        /// Runs a script that prints where it listens. It imports `peer.py`, so that it ends when this process does.
        init(running script: PythonScript, _ arguments: [String]) async throws {
            let pipe = Pipe()
            process = try ChildProcess(
                // What it imports leaves no compiled file beside the sources.
                "/usr/bin/python3", ["-u", "-B", script.path] + arguments,
                input: input.fileHandleForReading, output: pipe.fileHandleForWriting)
            try pipe.fileHandleForWriting.close()
            output = LineReader(pipe.fileHandleForReading)
            address = await output.line()
        }

        /// A server that speaks HTTP/2, a transport that does so with it, and where it is.
        static func http2(_ kind: Kind) async throws -> (PythonPeer, CurlTransport, URL) {
            let peer = try await PythonPeer(kind)
            let isSecure = kind.rawValue.hasPrefix("secure")
            let url = try #require(URL(string: "\(isSecure ? "https" : "http")://localhost:\(peer.port)/"))
            return (peer, CurlTransport.trusting { if !isSecure { $0.httpVersions = .http2PriorKnowledge } }, url)
        }

        deinit {
            process.send(SIGTERM)
        }

        /// The next line that it prints.
        func line() async -> String {
            await output.line()
        }

        /// The same, for which the thread waits.
        func blockingLine() -> String {
            output.blockingLine()
        }

        /// Writes a line to its input.
        func tell() throws {
            try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        }
    }
#endif
