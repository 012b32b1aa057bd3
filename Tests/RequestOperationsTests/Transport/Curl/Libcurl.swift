#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    @testable import RequestOperations

    /// What the libcurl that runs can do, for tests of the public face.
    enum Libcurl {
        /// Whether its version is at least the first and less than the second, where these are given.
        static func isVersion(from first: (UInt32, UInt32) = (0, 0), before end: (UInt32, UInt32)? = nil) -> Bool {
            CurlLibrary.version >= CurlLibrary.Version(first.0, first.1)
                && end.map { CurlLibrary.version < CurlLibrary.Version($0.0, $0.1) } ?? true
        }

        /// Whether it is that of Debian 12, 7.88.1.
        static let isOfDebian12 = CurlLibrary.version == CurlLibrary.Version(7, 88, 1)

        static let reportsChains = CurlLibrary.reportsChains
        static let asksLateWhetherToDecode = CurlLibrary.asksLateWhetherToDecode
        static let holdsBackResets = CurlLibrary.holdsBackResets
        static let sharesConnections = CurlLibrary.sharesConnections

        static func decodes(_ codings: String) -> Bool { CurlLibrary.decodes(codings) }

        // libcurl 8.13 to 8.15 (curl issue 18177). Debian 13 has such a version.
        //
        // A connection of HTTP/2 takes no other request before its first response has come. The others make connections of
        // their own. Nothing can be done from outside, so the tests expect more connections then.

        /// Whether a connection of HTTP/2 takes no other request before its first response has come.
        static let waitsForFirstResponse = isVersion(from: (8, 13), before: (8, 16))

        /// Whether a connection of HTTP/2 takes other requests from its first request on.
        static let sharesAtOnce = sharesConnections && !waitsForFirstResponse

        // libcurl 8.1 to 8.3.
        //
        // It goes on to send over a stream that the server has refused, and reports that as the failure. So it does not send
        // the request again.

        /// Whether a request that the server refuses over HTTP/2 is sent again.
        static let repeatsRefusedRequests = !isVersion(from: (8, 1), before: (8, 4))
    }
#endif
