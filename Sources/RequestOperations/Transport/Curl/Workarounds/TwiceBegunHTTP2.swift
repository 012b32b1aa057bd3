#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    // libcurl 7.88 (curl issue 10634).
    //
    // When told to use HTTP/2 by prior knowledge, it starts HTTP/2 on every connection, also on one that already speaks it,
    // which breaks that. (With TLS, it does so only where ALPN settled nothing.) So handles are set up in one way to make
    // such a connection, and in the usual way to use one. A transfer that finds none must not make one of HTTP/1.1: it is
    // turned back, and makes one or waits for another transfer's.

    extension HandleSettings {
        /// Whether handles must be set up differently to make connections of HTTP/2 without TLS than to use them.
        func makesConnectionsApart(isSecure: Bool) -> Bool {
            CurlLibrary.version >= CurlLibrary.Version(7, 88) && CurlLibrary.version < CurlLibrary.Version(8, 0)
                && !isSecure && configuration.httpVersions == .http2PriorKnowledge && mayUseHTTP2(isSecure: false)
        }
    }
#endif
