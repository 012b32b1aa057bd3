#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    // libcurl before 8.20.
    //
    // A handle that sent a request's own `Host` field serves no other transfer, if the transport keeps cookies.

    extension CurlLibrary {
        /// Whether the library, after it sent a request's own `Host` field, keeps using that host for the cookies of
        /// all later requests of the handle. It does so even after a reset.
        static let keepsCookieHosts = version < Version(8, 20)
    }
#endif
