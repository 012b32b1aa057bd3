#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    // libcurl from 8.16 on.
    //
    // It reports the private key of a client certificate that it cannot use as a bad argument, and no longer as a problem of
    // the certificate. A bad argument has other causes too, so the message tells.

    extension CurlLibrary {
        /// Whether a message says that a private key cannot be used.
        static func tellsUnusableKey(_ message: String) -> Bool { message.hasPrefix("unable to set private key") }
    }
#endif
