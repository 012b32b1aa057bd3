#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// The two ends of a request's connection, as libcurl reports them. A Unix socket has no ports, so its connection
    /// cannot be told from others. A good one may be given up for one that has ended.
    struct ConnectionEnds {
        let localPort: Int32
        /// A text that libcurl owns.
        let remoteAddress: UnsafePointer<CChar>?
        let remotePort: Int32

        func mayHave(_ ends: rocurl_ends) -> Bool {
            withUnsafePointer(to: ends) { rocurl_may_have_ends($0, localPort, remoteAddress, remotePort) }
        }
    }
#endif
