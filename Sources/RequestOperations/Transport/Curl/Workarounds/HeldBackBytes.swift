#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    // libcurl before 8.1.
    //
    // It keeps the bytes that it held back for a paused transfer that ends while others use its connection, and delivers them
    // to the next paused transfer of the handle. So they are delivered before the transfer is taken away, to nobody. If
    // libcurl ends the transfer by itself, the handle serves no other. (That memory is lost: libcurl does not free it.)

    extension CurlLibrary {
        /// Whether the library keeps the bytes that it held back for a paused transfer that ends while others use its
        /// connection. It delivers them to the next paused transfer of the handle.
        static let keepsHeldBackBytes = version < Version(8, 1)
    }

    extension CurlDriver {
        /// Makes libcurl deliver what it held back, to a transfer that takes no more.
        func discardHeldBackBytes(of transfer: CurlTransfer, _ easy: EasyHandle) {
            guard CurlLibrary.keepsHeldBackBytes, transfer.paused.contains(.receiving) else { return }
            transfer.paused.remove(.receiving)
            _ = curl_easy_pause(easy.pointer, CURLPAUSE_CONT)
        }
    }
#endif
