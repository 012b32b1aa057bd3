#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    // libcurl 8.7 to 8.12.
    //
    // It remembers how much of a head was unsent when a request ended, and counts that many bytes of the handle's next body
    // as a head. So such a handle serves no other transfer.

    extension CurlTransfer {
        /// Whether its request may have ended before all of its head was sent. A server may answer with an error before
        /// that.
        var mayHaveUnsentHead: Bool {
            CurlLibrary.version >= CurlLibrary.Version(8, 7) && CurlLibrary.version < CurlLibrary.Version(8, 13)
                && (!head.isComplete || head.status >= 400)
        }
    }
#endif
