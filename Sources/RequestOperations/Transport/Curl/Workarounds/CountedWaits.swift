#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    // libcurl 8.0 and later.
    //
    // It counts the wait for one of a limited number of connections as time for connecting. So only the driver enforces the
    // limit then; see ``EasyHandle/liftConnectLimit()``.

    extension CurlLibrary {
        /// Whether the library counts the wait for one of a limited number of connections as time for connecting.
        static let countsWaitsAsConnecting = version >= Version(8, 0)
    }
#endif
