#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    // libcurl 7.88 to 8.14. (Debian 12 and 13 and Ubuntu 24.04 have such versions.)
    //
    // When a stream of HTTP/2 is broken off, the server learns of it only with the next data on the connection. So a
    // connection that nobody else uses ends with the stream.

    extension CurlLibrary {
        /// Whether the library delays the reset when it breaks off an HTTP/2 stream.
        static let holdsBackResets = version >= Version(7, 88) && version < Version(8, 15)
    }

    extension CurlTransfer {
        /// Ends the connection of a transfer that libcurl will not carry out to its end, if nobody else uses it then.
        func endConnectionIfAlone() {
            if CurlLibrary.holdsBackResets, mayBreakOffStream { easy?.keepConnection(false) }
        }
    }
#endif
