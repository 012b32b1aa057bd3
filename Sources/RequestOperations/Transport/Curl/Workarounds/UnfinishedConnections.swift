#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    // libcurl 7.88.
    //
    // Once it knows that a host speaks HTTP/2, it lets requests use a connection through a proxy that another request is
    // still making, and fails them. So they are given to it again.

    extension EasyHandle {
        /// Whether libcurl chose a connection through a proxy that another transfer is still making.
        func hasUnfinishedConnection(_ code: CURLcode) -> Bool {
            CurlLibrary.version >= CurlLibrary.Version(7, 88) && CurlLibrary.version < CurlLibrary.Version(8, 0)
                && code == CURLE_FAILED_INIT && message?.hasSuffix("send: no filter connected") == true
        }
    }
#endif
