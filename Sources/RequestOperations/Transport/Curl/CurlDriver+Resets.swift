#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// How servers learn that HTTP/2 streams were broken off, where ``CurlLibrary/holdsBackResets``.
    extension CurlDriver {
        /// Makes one transfer of each such connection write what libcurl holds back. If all transfers wait for their
        /// consumers, libcurl writes it when one goes on. A connection that nobody used any more has ended.
        func sendResets() {
            for transfer in active where transfer.pauseMask & CURLPAUSE_RECV == 0 {
                guard let easy = transfer.easy, let socket = transfer.socket, unsentResets.contains(socket) else {
                    continue
                }
                if easy.run(paused: transfer.pauseMask) == CURLE_OK { unsentResets.remove(socket) }
                if unsentResets.isEmpty { return }
            }
            unsentResets.removeAll(keepingCapacity: true)
        }
    }
#endif
