#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// The connection that a request was sent over, as far as it is known. Unix sockets have no ports.
    struct UsedConnection: Hashable {
        let origin: Origin
        let localPort: Int32
    }
#endif
