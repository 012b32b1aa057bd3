#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    // libcurl 8.13 to 8.15 (curl issue 18177). Debian 13 has such a version.
    //
    // Nothing can be done. The tests expect more connections then.

    extension CurlLibrary {
        /// Whether the library lets no other request use an HTTP/2 connection before its first response has come (curl
        /// issue 18177; Debian 13 has such a version). The others make connections of their own.
        static let waitsForFirstResponse = version >= Version(8, 13) && version < Version(8, 16)
    }
#endif
