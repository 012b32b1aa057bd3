#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    // libcurl 7.88 to 8.3.
    //
    // After one address of a host refuses, libcurl tries the next one only when it happens to run again. So the driver runs it
    // twice.

    extension CurlDriver {
        /// Whether libcurl may have to run twice to try the next address of a host.
        var forgetsAddresses: Bool {
            CurlLibrary.version >= CurlLibrary.Version(7, 88) && CurlLibrary.version < CurlLibrary.Version(8, 4)
                && active.contains { $0.isConnecting }
        }
    }
#endif
