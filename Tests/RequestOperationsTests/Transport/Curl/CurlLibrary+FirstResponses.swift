#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    @testable import RequestOperations

    // libcurl 8.13 to 8.15 (curl issue 18177). Debian 13 has such a version.
    //
    // A connection of HTTP/2 takes no other request before its first response has come. The others make connections of their
    // own. Nothing can be done from outside, so the tests expect more connections then.

    extension CurlLibrary {
        /// Whether a connection of HTTP/2 takes no other request before its first response has come.
        static let waitsForFirstResponse = version >= Version(8, 13) && version < Version(8, 16)

        /// Whether a connection of HTTP/2 takes other requests from its first request on.
        static let sharesAtOnce = sharesConnections && !waitsForFirstResponse
    }
#endif
