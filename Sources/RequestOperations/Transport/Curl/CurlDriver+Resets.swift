#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    extension CurlTransfer {
        var connection: UsedConnection { UsedConnection(origin: origin, localPort: localPort) }
    }

    /// How servers learn that HTTP/2 streams were broken off, where ``CurlLibrary/holdsBackResets``.
    extension CurlDriver {
        /// Makes one transfer of each such connection write what libcurl holds back. If all transfers wait for their
        /// consumers, libcurl writes it when one goes on. A connection that nobody used any more has ended, unless
        /// libcurl itself failed the transfer.
        func sendResets() {
            for transfer in active where transfer.pauseMask & CURLPAUSE_RECV == 0 {
                guard let easy = transfer.easy, unsentResets.contains(transfer.connection) else { continue }
                let code = easy.run(paused: transfer.pauseMask)
                // Connections without ports cannot be told apart.
                if code == CURLE_OK, transfer.localPort > 0 { unsentResets.remove(transfer.connection) }
                if unsentResets.isEmpty { return }
            }
            unsentResets.removeAll(keepingCapacity: true)
        }
    }
#endif
