#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    @testable import RequestOperations

    // libcurl 8.1 to 8.3.
    //
    // It goes on to send over a stream that the server has refused, and reports that as the failure. So it does not send the
    // request again.

    extension CurlLibrary {
        /// Whether a request that the server refuses over HTTP/2 is sent again.
        static let repeatsRefusedRequests = version < Version(8, 1) || version >= Version(8, 4)
    }
#endif
